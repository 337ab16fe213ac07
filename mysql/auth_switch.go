package mysql

import "bytes"

// First bytes of the packets that only the authentication exchange has.
const (
	AuthSwitchHeader   byte = 0xfe
	AuthMoreDataHeader byte = 0x01
)

// AuthSwitchRequest asks the client to start again with another plugin. MySQL manual: "Protocol::AuthSwitchRequest".
type AuthSwitchRequest struct {
	Plugin string
	Data   []byte // the plugin's data, for most a salt of 20 bytes
}

// saltLen is the length of the salt of MySQL's plugins. On the wire a NUL follows it; data of another length, such as
// client_ed25519's 32 random bytes, stands alone and may end in any byte.
const saltLen = 20

// Decode reads a request; Data is a copy. A lone header byte asks for the pre-4.1 password, which is refused as malformed.
func (p *AuthSwitchRequest) Decode(payload []byte) error {
	c := NewCursor(payload)
	if c.Uint8() != AuthSwitchHeader {
		return ErrMalformedPacket
	}
	p.Plugin = string(c.NulBytes())
	data := c.Rest()
	if len(data) == saltLen+1 {
		data = bytes.TrimSuffix(data, []byte{0})
	}
	p.Data = clone(data)
	return c.Err()
}

// AppendTo appends the request.
func (p *AuthSwitchRequest) AppendTo(dst []byte) []byte {
	dst = AppendNulString(append(dst, AuthSwitchHeader), p.Plugin)
	if len(p.Data) == saltLen {
		return AppendNulString(dst, p.Data)
	}
	return append(dst, p.Data...)
}
