package mysql

import "fmt"

// Part is what a packet of a response is.
type Part uint8

// The parts, in the order in which they come.
const (
	PartOK             Part = iota // an OK packet in place of rows
	PartFile                       // the server asks for the file of a LOAD DATA LOCAL
	PartColumns                    // how many columns a result set has
	PartDefinition                 // the definition of a column
	PartDefinitionsEnd             // the EOF packet between definitions and rows
	PartRow
	PartEnd   // what ends a result set: an EOF packet, or an OK packet in its place
	PartError // an ERR packet, instead of any other
)

// ResponseScanner tells what the packets of the response to a COM_QUERY, a COM_STMT_EXECUTE or a simple command are: all that takes a
// response apart goes by it. It does no I/O and keeps nothing of the packets. The zero value is at the beginning of a response, and so is
// one behind PartOK, PartEnd and PartError: if that packet's status has ServerMoreResultsExists, another response follows. MySQL manual:
// "COM_QUERY Response", "Text Resultset".
type ResponseScanner struct {
	// Columns is how many columns the result set has, from PartColumns on. Metadata reports whether their definitions follow.
	Columns  int
	Metadata bool

	phase phase
	left  int // definitions that are still to come
}

// phase is where in a response a scanner is.
type phase uint8

const (
	phaseFirst phase = iota
	phaseDefinitions
	phaseMiddle
	phaseRows
)

// ToRows puts the scanner where the rows of a result set begin, or go on. COM_STMT_FETCH is answered so from the first packet on.
func (s *ResponseScanner) ToRows() { s.phase = phaseRows }

// Scan takes the next packet's payload, which may be cut off behind its first byte if it is a row of length bytes, and the
// capabilities agreed on with the sender. An error says that no server sends this here; the scanner is of no use then.
func (s *ResponseScanner) Scan(p []byte, length int, caps Capability) (Part, error) {
	if len(p) == 0 {
		return 0, fmt.Errorf("%w: empty", ErrMalformedPacket)
	}
	if p[0] == ErrHeader {
		s.phase = phaseFirst
		return PartError, nil
	}
	switch s.phase {
	case phaseFirst:
		return s.first(p, caps)
	case phaseDefinitions:
		if length >= payloadMax {
			return 0, fmt.Errorf("%w: column definition", ErrMalformedPacket)
		}
		if s.left--; s.left == 0 {
			s.defined(caps)
		}
		return PartDefinition, nil
	case phaseMiddle:
		return s.middle(p)
	}
	if p[0] == EOFHeader && endsRows(length, caps) {
		s.phase = phaseFirst
		return PartEnd, nil
	}
	return PartRow, nil
}

// first takes the packet that begins a response.
func (s *ResponseScanner) first(p []byte, caps Capability) (Part, error) {
	switch p[0] {
	case OKHeader:
		return PartOK, nil
	case LocalInfileHeader:
		return PartFile, nil
	case EOFHeader: // the answer to COM_SET_OPTION and COM_DEBUG
		return PartEnd, nil
	}
	// The flag comes behind the count, although the manual's page "Text Resultset" has the two the other way round: servers write it so,
	// and no count begins like an OK packet.
	c := NewCursor(p)
	n, metadata := c.Lenenc(), uint8(1)
	if caps.Has(ClientOptionalResultsetMetadata) {
		metadata = c.Uint8()
	}
	if c.Err() != nil || n == 0 || n > columnsMax || c.Len() > 0 || metadata > 1 {
		return 0, fmt.Errorf("%w: column count", ErrMalformedPacket)
	}
	s.Columns, s.Metadata = int(n), metadata == 1
	s.left, s.phase = s.Columns, phaseDefinitions
	if !s.Metadata {
		s.defined(caps)
	}
	return PartColumns, nil
}

// defined goes on behind the definitions.
func (s *ResponseScanner) defined(caps Capability) {
	if s.phase = phaseMiddle; caps.Has(ClientDeprecateEOF) {
		s.phase = phaseRows
	}
}

// middle takes the packet between definitions and rows. An open cursor ends the response there.
func (s *ResponseScanner) middle(p []byte) (Part, error) {
	var eof EOFPacket
	if err := eof.Decode(p); err != nil {
		return 0, err
	}
	if eof.Status.Has(ServerStatusCursorExists) {
		s.phase = phaseFirst
		return PartEnd, nil
	}
	s.phase = phaseRows
	return PartDefinitionsEnd, nil
}

// endsRows reports whether a packet of that length that begins with 0xfe ends the rows: a row may begin so, but is longer.
func endsRows(length int, caps Capability) bool {
	if caps.Has(ClientDeprecateEOF) {
		return length < payloadMax
	}
	return length <= eofLenMax
}
