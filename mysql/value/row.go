package value

import (
	"encoding/binary"

	"kingshard/mysql"
)

// Cell is the bytes of one value as a row has them, without a length in front. Nil is NULL; an empty string is not nil.
type Cell []byte

// nullCell takes the place of NULL in a text row.
const nullCell = 0xfb

// Layout is what the rows of one result look like. It is immutable.
type Layout struct {
	Format  Format
	Types   []Type // of all columns
	Visible int    // columns that go to the client: the first ones
}

// Row is one row taken apart.
type Row struct {
	Raw   []byte // the payload
	Cells []Cell // aliases of Raw
	// VisibleEnd is the offset in Raw behind the last visible cell.
	VisibleEnd int
}

// Split takes apart the first len(r.Cells) columns of r.Raw; VisibleEnd is set when the visible columns are among them.
// A payload that is not a row of this layout gives mysql.ErrMalformedPacket.
func (l *Layout) Split(r *Row) error {
	pos, ok := 0, true
	var nulls []byte
	if l.Format == BinaryRow {
		pos = 1 + (len(l.Types)+9)/8
		if len(r.Raw) < pos || r.Raw[0] != 0 {
			return mysql.ErrMalformedPacket
		}
		nulls = r.Raw[1:pos]
	}
	for i := range r.Cells {
		if i == l.Visible {
			r.VisibleEnd = pos
		}
		switch {
		case nulls == nil:
			r.Cells[i], pos, ok = textCell(r.Raw, pos)
		case nulls[(i+2)/8]>>((i+2)%8)&1 != 0:
			r.Cells[i] = nil
		case l.Types[i].width > 0:
			r.Cells[i], pos, ok = take(r.Raw, pos, uint64(l.Types[i].width))
		default:
			r.Cells[i], pos, ok = lengthCell(r.Raw, pos)
		}
		if !ok {
			return mysql.ErrMalformedPacket
		}
	}
	if len(r.Cells) == l.Visible {
		r.VisibleEnd = pos
	}
	if len(r.Cells) == len(l.Types) && pos != len(r.Raw) {
		return mysql.ErrMalformedPacket
	}
	return nil
}

func textCell(row []byte, pos int) (Cell, int, bool) {
	if pos < len(row) && row[pos] == nullCell {
		return nil, pos + 1, true
	}
	return lengthCell(row, pos)
}

// lengthCell takes string<lenenc>; a cursor would do the same, at twice the time for the short cells that most are.
func lengthCell(row []byte, pos int) (Cell, int, bool) {
	if pos >= len(row) {
		return nil, pos, false
	}
	first := row[pos]
	pos++
	size := 0
	switch {
	case first < nullCell:
		return take(row, pos, uint64(first))
	case first == 0xfc:
		size = 2
	case first == 0xfd:
		size = 3
	case first == 0xfe:
		size = 8
	default:
		return nil, pos, false
	}
	if len(row)-pos < size {
		return nil, pos, false
	}
	var b [8]byte
	copy(b[:], row[pos:pos+size])
	return take(row, pos+size, binary.LittleEndian.Uint64(b[:]))
}

func take(row []byte, pos int, n uint64) (Cell, int, bool) {
	if n > uint64(len(row)-pos) {
		return nil, pos, false
	}
	end := pos + int(n)
	return row[pos:end:end], end, true
}

// AppendVisible appends a row that has the visible columns only, with cells as they came from rows of this layout or from
// an aggregate of it. Cells beyond the visible ones are left out.
func (l *Layout) AppendVisible(dst []byte, cells []Cell) []byte {
	cells = cells[:l.Visible]
	if l.Format == TextRow {
		for _, c := range cells {
			if c == nil {
				dst = append(dst, nullCell)
				continue
			}
			dst = mysql.AppendLenencString(dst, c)
		}
		return dst
	}
	dst = append(dst, 0)
	nulls := len(dst)
	for range (len(cells) + 9) / 8 {
		dst = append(dst, 0)
	}
	for i, c := range cells {
		switch {
		case c == nil:
			dst[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
		case l.Types[i].width > 0:
			dst = append(dst, c...)
		default:
			dst = mysql.AppendLenencString(dst, c)
		}
	}
	return dst
}
