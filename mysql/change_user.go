package mysql

// ChangeUser is the payload of COM_CHANGE_USER. MySQL manual: "COM_CHANGE_USER".
type ChangeUser struct {
	User         string
	AuthResponse []byte
	Database     string
	Collation    uint16 // 0 when the client says none
	AuthPlugin   string
	ConnectAttrs []byte
}

// Decode reads the payload after the command byte; strings and slices are copies.
func (p *ChangeUser) Decode(payload []byte, caps Capability) error {
	*p = ChangeUser{}
	c := NewCursor(payload)
	p.User = string(c.NulBytes())
	if caps.Has(ClientSecureConnection) {
		p.AuthResponse = clone(c.Bytes(int(c.Uint8())))
	} else {
		p.AuthResponse = clone(c.NulBytes())
	}
	p.Database = string(nulOrRest(&c))
	if c.Len() >= 2 {
		p.Collation = c.Uint16()
	}
	if caps.Has(ClientPluginAuth) && c.Len() > 0 {
		p.AuthPlugin = string(nulOrRest(&c))
	}
	if caps.Has(ClientConnectAttrs) && c.Len() > 0 {
		p.ConnectAttrs = clone(c.LenencBytes())
	}
	return c.Err()
}

// AppendTo appends the command byte and the payload as a receiver with caps expects it.
func (p *ChangeUser) AppendTo(dst []byte, caps Capability) []byte {
	dst = AppendNulString(append(dst, byte(ComChangeUser)), p.User)
	if caps.Has(ClientSecureConnection) {
		dst = append(append(dst, byte(len(p.AuthResponse))), p.AuthResponse...)
	} else {
		dst = AppendNulString(dst, p.AuthResponse)
	}
	dst = AppendNulString(dst, p.Database)
	dst = AppendUint16(dst, p.Collation)
	if caps.Has(ClientPluginAuth) {
		dst = AppendNulString(dst, p.AuthPlugin)
	}
	if caps.Has(ClientConnectAttrs) {
		dst = AppendLenencString(dst, p.ConnectAttrs)
	}
	return dst
}
