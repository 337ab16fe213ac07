package value

import (
	"encoding/binary"
	"math"
	"strconv"

	"kingshard/mysql"
)

// Count adds up the cells of an integer column, as COUNT makes it: no rows are 0.
type Count struct {
	t      Type
	format Format
	n      int64
	out    []byte
}

// NewCount makes a count of a column of that type and rows of that format.
func NewCount(t Type, f Format) (*Count, error) {
	if t.class != classSigned && t.class != classUnsigned {
		return nil, ErrAggregate
	}
	return &Count{t: t, format: f}, nil
}

// Reset starts a new count.
func (n *Count) Reset() { n.n = 0 }

// Add adds a cell. It fails with mysql.ErrMalformedPacket, as for a negative count, or ErrRange.
func (n *Count) Add(c Cell) error {
	if c == nil {
		return nil
	}
	k, err := n.t.Key(c, n.format)
	if err != nil {
		return err
	}
	v := k.n
	if n.t.class == classSigned {
		v ^= signBit
	}
	if v > math.MaxInt64 {
		return mysql.ErrMalformedPacket
	}
	if int64(v) > math.MaxInt64-n.n {
		return ErrRange
	}
	n.n += int64(v)
	return nil
}

// Cell gives the count as a cell of the column. It is valid until the next call.
func (n *Count) Cell() (Cell, error) {
	if n.format == TextRow {
		n.out = strconv.AppendInt(n.out[:0], n.n, 10)
		return n.out, nil
	}
	n.out = binary.LittleEndian.AppendUint64(n.out[:0], uint64(n.n))
	for _, b := range n.out[n.t.width:] {
		if b != 0 {
			return nil, ErrRange
		}
	}
	return n.out[:n.t.width], nil
}
