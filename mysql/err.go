package mysql

// Decode reads an ERR packet; the strings are copies. A packet from before the handshake has no SQLSTATE: HY000 is put in.
func (e *SQLError) Decode(payload []byte) error {
	c := NewCursor(payload)
	if c.Uint8() != ErrHeader {
		return ErrMalformedPacket
	}
	e.Code = c.Uint16()
	rest := c.Rest()
	if c.Err() != nil {
		return c.Err()
	}
	e.State = "HY000"
	if len(rest) >= 6 && rest[0] == '#' {
		e.State = string(rest[1:6])
		rest = rest[6:]
	}
	e.Message = string(rest)
	return nil
}

// AppendEarly appends the ERR packet that takes the place of a greeting: before the client's capabilities are known it
// has no SQLSTATE.
func (e *SQLError) AppendEarly(dst []byte) []byte {
	return append(AppendUint16(append(dst, ErrHeader), e.Code), e.Message...)
}

// AppendTo appends the ERR packet. A State that has not five characters goes out as HY000.
func (e *SQLError) AppendTo(dst []byte) []byte {
	dst = AppendUint16(append(dst, ErrHeader), e.Code)
	state := e.State
	if len(state) != 5 {
		state = "HY000"
	}
	dst = append(append(dst, '#'), state...)
	return append(dst, e.Message...)
}
