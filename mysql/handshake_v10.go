package mysql

import "bytes"

// HandshakeV10 is the server's greeting. MySQL manual: "Protocol::HandshakeV10".
type HandshakeV10 struct {
	ServerVersion string
	ConnectionID  uint32
	Salt          []byte // auth-plugin-data; 20 bytes without the trailing NUL
	Capabilities  Capability
	Collation     uint8 // low byte of the default collation's id
	Status        Status
	AuthPlugin    string
	// MariaDBCapabilities are the bits above 32 that a MariaDB server offers in the filler; zero from a MySQL server.
	// MariaDB knowledge base: "Connecting", initial handshake packet.
	MariaDBCapabilities uint32
}

// Decode reads a greeting. Salt is a copy; it keeps no reference to the payload.
func (p *HandshakeV10) Decode(payload []byte) error {
	*p = HandshakeV10{}
	c := NewCursor(payload)
	if v := c.Uint8(); v != 10 {
		return ErrMalformedPacket
	}
	p.ServerVersion = string(c.NulBytes())
	p.ConnectionID = c.Uint32()
	p.Salt = append([]byte(nil), c.Bytes(8)...)
	c.Bytes(1)
	p.Capabilities = Capability(c.Uint16())
	if c.Err() != nil || c.Len() == 0 {
		return c.Err()
	}
	p.Collation = c.Uint8()
	p.Status = Status(c.Uint16())
	p.Capabilities |= Capability(c.Uint16()) << 16
	dataLen := int(c.Uint8())
	filler := c.Bytes(10)
	if c.Err() == nil && !p.Capabilities.Has(ClientLongPassword) {
		p.MariaDBCapabilities = uint32(filler[6]) | uint32(filler[7])<<8 | uint32(filler[8])<<16 | uint32(filler[9])<<24
	}
	if p.Capabilities.Has(ClientSecureConnection) || p.Capabilities.Has(ClientPluginAuth) {
		rest := c.Bytes(min(max(13, dataLen-8), c.Len()))
		p.Salt = append(p.Salt, bytes.TrimRight(rest, "\x00")...)
	}
	if p.Capabilities.Has(ClientPluginAuth) {
		// Some old servers leave the NUL out (MySQL bug 59453).
		p.AuthPlugin = string(bytes.TrimRight(c.Rest(), "\x00"))
	}
	return c.Err()
}

// AppendTo appends the greeting. Salt must have 20 bytes.
func (p *HandshakeV10) AppendTo(dst []byte) []byte {
	dst = AppendNulString(append(dst, 10), p.ServerVersion)
	dst = AppendUint32(dst, p.ConnectionID)
	dst = append(append(dst, p.Salt[:8]...), 0)
	dst = AppendUint16(dst, uint16(p.Capabilities))
	dst = append(dst, p.Collation)
	dst = AppendUint16(dst, uint16(p.Status))
	dst = AppendUint16(dst, uint16(p.Capabilities>>16))
	dst = append(dst, byte(len(p.Salt)+1))
	dst = append(dst, make([]byte, 10)...)
	dst = AppendNulString(dst, p.Salt[8:])
	return AppendNulString(dst, p.AuthPlugin)
}
