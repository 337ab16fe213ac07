package mysql

import "encoding/binary"

// Arrival is how much of a response has arrived.
type Arrival uint8

// The arrivals.
const (
	// ArrivedPart: more is to come.
	ArrivedPart Arrival = iota
	// ArrivedPlain: all of a response without an error, warnings, further responses, a cursor or a file to be sent.
	ArrivedPlain
	// ArrivedAside: all of a response that is an error, or has warnings.
	ArrivedAside
	// ArrivedOther: it is, or may be, a response of another kind, perhaps only a part of it.
	ArrivedOther
)

// Walk is how far Arrived has walked through a response, and what it found there. Zero is the beginning. Positions are in bytes
// behind the unread ones' start.
type Walk struct {
	scanner ResponseScanner
	at      int
	seq     uint8 // of the last packet
	last    int   // where that is
	// Of a result set: where the EOF packet behind the definitions is, if there is one, where its rows begin, and how many they are.
	middle, rowsAt int
	rows           uint64
}

// Arrived looks at the unread bytes of a connection on which caps are agreed, which begin with the response to a COM_QUERY or
// COM_STMT_EXECUTE, and tells how much of it they are. It reads packet headers and what ends the response; w is carried from call to call.
func (w *Walk) Arrived(unread []byte, caps Capability) Arrival {
	a := w.First(unread, caps)
	if (a == ArrivedPlain || a == ArrivedAside) && w.at != len(unread) {
		return ArrivedOther
	}
	return a
}

// Len is how many bytes w has walked over.
func (w *Walk) Len() int { return w.at }

// ArrivedInsertID is the insert id of the OK packet that has arrived whole and begins the unread bytes; 0 if they begin with
// something else. MySQL manual: "OK_Packet".
func ArrivedInsertID(unread []byte) uint64 {
	if len(unread) <= headerLen || unread[headerLen] != OKHeader {
		return 0
	}
	cur := NewCursor(unread[headerLen+1:])
	cur.Lenenc()
	if id := cur.Lenenc(); cur.Err() == nil {
		return id
	}
	return 0
}

// First is Arrived where responses to further commands may follow.
func (w *Walk) First(b []byte, caps Capability) Arrival {
	for w.at+headerLen < len(b) {
		p := b[w.at:]
		length := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
		if length == 0 || length == payloadMax || p[3] != w.seq+1 {
			return ArrivedOther
		}
		if len(p) < headerLen+length {
			return ArrivedPart
		}
		w.seq, w.last = p[3], w.at
		w.at += headerLen + length
		if first := p[headerLen]; w.scanner.phase == phaseRows && first != EOFHeader && first != ErrHeader {
			w.rows++
			continue
		}
		if a := w.packet(p[headerLen:headerLen+length], caps); a != ArrivedPart {
			return a
		}
	}
	return ArrivedPart
}

// packet takes one whole packet into account. ArrivedPart says that another one follows.
func (w *Walk) packet(p []byte, caps Capability) Arrival {
	part, err := w.scanner.Scan(p, len(p), caps)
	if err != nil {
		return ArrivedOther
	}
	switch part {
	case PartError:
		return ArrivedAside
	case PartOK:
		return plain(p)
	case PartFile:
		return ArrivedOther
	case PartDefinitionsEnd:
		if w.middle = w.last; len(p) != eofLen {
			return ArrivedOther
		}
		w.rowsAt = w.at
	case PartColumns, PartDefinition:
		w.rowsAt = w.at
	case PartRow:
		w.rows++
	case PartEnd:
		return w.end(p, caps)
	}
	return ArrivedPart
}

// end takes the packet that ends a result set.
func (w *Walk) end(p []byte, caps Capability) Arrival {
	switch {
	case w.scanner.Columns == 0:
		return ArrivedOther
	case caps.Has(ClientDeprecateEOF):
		return plain(p)
	case len(p) != eofLen || eofStatus(p)&unplain != 0:
		return ArrivedOther
	case p[1] != 0 || p[2] != 0:
		return ArrivedAside
	}
	return ArrivedPlain
}

// Lengths of the payload of an EOF packet and of the shortest OK packet.
const (
	eofLen   = 5
	okLenMin = 7
)

// unplain are the flags of a response that something follows, or that leaves a cursor.
const unplain = ServerMoreResultsExists | ServerStatusCursorExists

// plain looks at an OK packet, under either of its headers, which ends a response.
func plain(p []byte) Arrival {
	if len(p) < okLenMin {
		return ArrivedOther
	}
	c := NewCursor(p[1:])
	c.Lenenc()
	c.Lenenc()
	status, warnings := Status(c.Uint16()), c.Uint16()
	if c.Err() != nil || status&unplain != 0 {
		return ArrivedOther
	}
	if warnings != 0 {
		return ArrivedAside
	}
	return ArrivedPlain
}

// eofStatus are the flags of an EOF packet.
func eofStatus(p []byte) Status { return Status(binary.LittleEndian.Uint16(p[3:])) }
