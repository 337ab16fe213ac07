package mysql

// First bytes of generic response packets.
const (
	OKHeader          byte = 0x00
	LocalInfileHeader byte = 0xfb
	EOFHeader         byte = 0xfe
	ErrHeader         byte = 0xff
)

// Types of session state changes. MySQL manual: "Session State Information".
const (
	// SessionTrackSystemVariables is a variable with its new value.
	SessionTrackSystemVariables byte = 0
	// SessionTrackSchema is a new current database.
	SessionTrackSchema byte = 1
	// SessionTrackStateChange says that something of the session's state changed, without what.
	SessionTrackStateChange byte = 2
	// SessionTrackGTIDs are the GTIDs of what was committed.
	SessionTrackGTIDs byte = 3
)

// OKPacket ends a command that returns no rows and, between sides that have both ClientDeprecateEOF, a result set.
// MySQL manual: "OK_Packet".
type OKPacket struct {
	AffectedRows uint64
	LastInsertID uint64
	Status       Status
	Warnings     uint16
	Info         []byte // human readable; aliases the decoded payload
	// StateChanges are the encoded session state changes, present with ClientSessionTrack when Status has
	// ServerSessionStateChanged; aliases the decoded payload.
	StateChanges []byte
}

// Decode reads an OK packet, or an EOF packet in the OK format (first byte 0xfe). caps are those negotiated with the sender.
func (p *OKPacket) Decode(payload []byte, caps Capability) error {
	*p = OKPacket{}
	c := NewCursor(payload)
	if h := c.Uint8(); h != OKHeader && h != EOFHeader {
		return ErrMalformedPacket
	}
	p.AffectedRows = c.Lenenc()
	p.LastInsertID = c.Lenenc()
	p.Status = Status(c.Uint16())
	p.Warnings = c.Uint16()
	if c.Err() != nil || c.Len() == 0 {
		return c.Err()
	}
	if !caps.Has(ClientSessionTrack) {
		p.Info = infoOrRest(&c)
		return nil
	}
	p.Info = c.LenencBytes()
	if p.Status.Has(ServerSessionStateChanged) && c.Len() > 0 {
		p.StateChanges = c.LenencBytes()
	}
	return c.Err()
}

// DecodeEnd reads the packet that ends a result set: an EOF packet, or one in the OK format.
func (p *OKPacket) DecodeEnd(payload []byte, caps Capability) error {
	if caps.Has(ClientDeprecateEOF) && len(payload) >= okLenMin {
		return p.Decode(payload, caps)
	}
	var eof EOFPacket
	err := eof.Decode(payload)
	*p = OKPacket{Status: eof.Status, Warnings: eof.Warnings}
	return err
}

// infoOrRest takes the info of a sender without session tracking. The manual says string<EOF>; servers put the length in
// front all the same.
func infoOrRest(c *Cursor) []byte {
	saved := *c
	if b := c.LenencBytes(); c.Err() == nil && c.Len() == 0 {
		return b
	}
	*c = saved
	return c.Rest()
}

// AppendTo appends the packet as a receiver with caps expects it; header is OKHeader or EOFHeader.
func (p *OKPacket) AppendTo(dst []byte, header byte, caps Capability) []byte {
	dst = AppendLenenc(append(dst, header), p.AffectedRows)
	dst = AppendLenenc(dst, p.LastInsertID)
	status := p.Status
	if !caps.Has(ClientSessionTrack) || len(p.StateChanges) == 0 {
		status &^= ServerSessionStateChanged
	}
	dst = AppendUint16(dst, uint16(status))
	dst = AppendUint16(dst, p.Warnings)
	if status.Has(ServerSessionStateChanged) {
		return AppendLenencString(AppendLenencString(dst, p.Info), p.StateChanges)
	}
	if len(p.Info) > 0 {
		dst = AppendLenencString(dst, p.Info)
	}
	return dst
}

// EOFPacket ends column definitions and rows between sides that lack ClientDeprecateEOF. MySQL manual: "EOF_Packet".
type EOFPacket struct {
	Warnings uint16
	Status   Status
}

// eofLenMax is the longest payload that is an EOF packet: a row may begin with the same byte, but is longer.
const eofLenMax = 8

// Decode reads an EOF packet.
func (p *EOFPacket) Decode(payload []byte) error {
	c := NewCursor(payload)
	if c.Uint8() != EOFHeader || len(payload) > eofLenMax {
		return ErrMalformedPacket
	}
	p.Warnings = c.Uint16()
	p.Status = Status(c.Uint16())
	return c.Err()
}

// AppendTo appends the packet.
func (p *EOFPacket) AppendTo(dst []byte) []byte {
	dst = AppendUint16(append(dst, EOFHeader), p.Warnings)
	return AppendUint16(dst, uint16(p.Status&^ServerSessionStateChanged))
}
