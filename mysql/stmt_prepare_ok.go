package mysql

// StmtPrepareOK is the first packet of the answer to COM_STMT_PREPARE. MySQL manual: "COM_STMT_PREPARE_OK".
type StmtPrepareOK struct {
	StatementID uint32
	Columns     uint16
	Params      uint16
	Warnings    uint16
	// MetadataFollows is what a receiver with ClientOptionalResultsetMetadata is told; true everywhere else.
	MetadataFollows bool
}

// Decode reads the packet as a sender with caps writes it.
func (p *StmtPrepareOK) Decode(payload []byte, caps Capability) error {
	*p = StmtPrepareOK{}
	c := NewCursor(payload)
	if c.Uint8() != OKHeader {
		return ErrMalformedPacket
	}
	p.StatementID = c.Uint32()
	p.Columns = c.Uint16()
	p.Params = c.Uint16()
	c.Bytes(1)
	p.MetadataFollows = true
	if c.Len() >= 2 {
		p.Warnings = c.Uint16()
	}
	if caps.Has(ClientOptionalResultsetMetadata) && c.Len() > 0 {
		p.MetadataFollows = c.Uint8() != 0
	}
	return c.Err()
}

// AppendTo appends the packet as a receiver with caps expects it.
func (p *StmtPrepareOK) AppendTo(dst []byte, caps Capability) []byte {
	dst = AppendUint32(append(dst, OKHeader), p.StatementID)
	dst = AppendUint16(dst, p.Columns)
	dst = AppendUint16(dst, p.Params)
	dst = AppendUint16(append(dst, 0), p.Warnings)
	if caps.Has(ClientOptionalResultsetMetadata) {
		if p.MetadataFollows {
			return append(dst, 1)
		}
		return append(dst, 0)
	}
	return dst
}
