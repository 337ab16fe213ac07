package mysql

// HandshakeResponse41 is the client's answer to the greeting; cut off after Collation it is an SSLRequest.
// MySQL manual: "Protocol::HandshakeResponse41", "Protocol::SSLRequest".
type HandshakeResponse41 struct {
	Capabilities  Capability
	MaxPacketSize uint32
	Collation     uint8
	User          string
	AuthResponse  []byte
	Database      string
	AuthPlugin    string
	ConnectAttrs  []byte // the encoded key and value pairs, without their total length
	ZstdLevel     uint8
}

// sslRequestLen is the length of an SSLRequest packet.
const sslRequestLen = 32

// IsSSLRequest tells whether the payload is an SSLRequest: the client asks for TLS before it says who it is.
func IsSSLRequest(payload []byte) bool {
	if len(payload) != sslRequestLen {
		return false
	}
	c := NewCursor(payload)
	return Capability(c.Uint32()).Has(ClientSSL)
}

// Decode reads a response; strings and slices are copies. The answer of a client from before protocol 4.1 is malformed.
func (p *HandshakeResponse41) Decode(payload []byte) error {
	*p = HandshakeResponse41{}
	c := NewCursor(payload)
	p.Capabilities = Capability(c.Uint32())
	p.MaxPacketSize = c.Uint32()
	p.Collation = c.Uint8()
	c.Bytes(23)
	if c.Err() != nil || !p.Capabilities.Has(ClientProtocol41) {
		return ErrMalformedPacket
	}
	p.User = string(c.NulBytes())
	switch {
	case p.Capabilities.Has(ClientPluginAuthLenencClientData):
		p.AuthResponse = clone(c.LenencBytes())
	case p.Capabilities.Has(ClientSecureConnection):
		p.AuthResponse = clone(c.Bytes(int(c.Uint8())))
	default:
		p.AuthResponse = clone(c.NulBytes())
	}
	if p.Capabilities.Has(ClientConnectWithDB) && c.Len() > 0 {
		p.Database = string(c.NulBytes())
	}
	if p.Capabilities.Has(ClientPluginAuth) && c.Len() > 0 {
		p.AuthPlugin = string(nulOrRest(&c))
	}
	if p.Capabilities.Has(ClientConnectAttrs) && c.Len() > 0 {
		p.ConnectAttrs = clone(c.LenencBytes())
	}
	if p.Capabilities.Has(ClientZstdCompressionAlgorithm) && c.Len() > 0 {
		p.ZstdLevel = c.Uint8()
	}
	return c.Err()
}

// AppendTo appends the response in the shape that Capabilities says.
func (p *HandshakeResponse41) AppendTo(dst []byte) []byte {
	dst = p.AppendSSLRequest(dst)
	dst = AppendNulString(dst, p.User)
	switch {
	case p.Capabilities.Has(ClientPluginAuthLenencClientData):
		dst = AppendLenencString(dst, p.AuthResponse)
	case p.Capabilities.Has(ClientSecureConnection):
		dst = append(append(dst, byte(len(p.AuthResponse))), p.AuthResponse...)
	default:
		dst = AppendNulString(dst, p.AuthResponse)
	}
	if p.Capabilities.Has(ClientConnectWithDB) {
		dst = AppendNulString(dst, p.Database)
	}
	if p.Capabilities.Has(ClientPluginAuth) {
		dst = AppendNulString(dst, p.AuthPlugin)
	}
	if p.Capabilities.Has(ClientConnectAttrs) {
		dst = AppendLenencString(dst, p.ConnectAttrs)
	}
	if p.Capabilities.Has(ClientZstdCompressionAlgorithm) {
		dst = append(dst, p.ZstdLevel)
	}
	return dst
}

// AppendSSLRequest appends the first 32 bytes, which alone are the SSLRequest packet.
func (p *HandshakeResponse41) AppendSSLRequest(dst []byte) []byte {
	dst = AppendUint32(dst, uint32(p.Capabilities))
	dst = AppendUint32(dst, p.MaxPacketSize)
	dst = append(dst, p.Collation)
	return append(dst, make([]byte, 23)...)
}

// nulOrRest takes string<NUL>, or all that is left where the writer left the NUL out.
func nulOrRest(c *Cursor) []byte {
	saved := *c
	if b := c.NulBytes(); c.Err() == nil {
		return b
	}
	*c = saved
	return c.Rest()
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }
