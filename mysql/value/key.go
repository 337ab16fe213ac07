package value

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strconv"

	"kingshard/mysql"
)

// Key is a cell made ready for comparisons with keys of the same Type: a row is compared several times on its way
// through a merge, and decoded once.
type Key struct {
	null bool
	n    uint64 // sorts as the value does, for all classes but the two that are compared as bytes
	b    []byte // decimals and binary strings; aliases the cell
}

// signBit, flipped, makes signed numbers sort as unsigned ones.
const signBit = 1 << 63

// Key decodes a cell of this type. It aliases the cell where that is compared as bytes. A cell that its type does not
// allow gives mysql.ErrMalformedPacket.
func (t Type) Key(c Cell, f Format) (Key, error) {
	if c == nil {
		return Key{null: true}, nil
	}
	k, ok := Key{}, true
	switch t.class {
	case classDecimal:
		k.b, ok = c, IsDecimal(c)
	case classBytes, classNull:
		k.b = c
	case classSigned:
		var v int64
		v, ok = t.signed(c, f)
		k.n = uint64(v) ^ signBit
	case classUnsigned:
		k.n, ok = t.unsigned(c, f)
	case classFloat:
		var v float64
		v, ok = t.float(c, f)
		k.n = floatOrder(v)
	case classDatetime:
		k.n, ok = datetimeOrder(c, f)
	case classTime:
		var v int64
		v, ok = timeMicros(c, f)
		k.n = uint64(v) ^ signBit
	case classBit:
		k.n, ok = bitOrder(c)
	default:
		ok = false
	}
	if !ok {
		return Key{}, mysql.ErrMalformedPacket
	}
	return k, nil
}

// Compare gives -1, 0 or 1 as a sorts before, with or after b in ascending order; NULL comes first.
func (t Type) Compare(a, b *Key) int {
	if a.null || b.null {
		return int(boolByte(b.null)) - int(boolByte(a.null))
	}
	switch t.class {
	case classDecimal:
		return compareDecimals(a.b, b.b)
	case classBytes, classNull:
		if len(t.space) > 0 {
			return comparePadded(a.b, b.b, t.space)
		}
		return bytes.Compare(a.b, b.b)
	}
	return cmp.Compare(a.n, b.n)
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// comparePadded compares weights as if the shorter value went on with spaces.
func comparePadded(a, b, space []byte) int {
	n := min(len(a), len(b))
	if c := bytes.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return compareSpaces(a[n:], space) - compareSpaces(b[n:], space)
}

// compareSpaces compares with as many spaces as it takes.
func compareSpaces(rest, space []byte) int {
	for len(rest) > 0 {
		n := min(len(rest), len(space))
		if c := bytes.Compare(rest[:n], space[:n]); c != 0 {
			return c
		}
		rest = rest[n:]
	}
	return 0
}

// signed decodes a signed integer.
func (t Type) signed(c Cell, f Format) (int64, bool) {
	if f == BinaryRow {
		u, ok := t.little(c)
		shift := 64 - 8*uint(t.width)
		return int64(u<<shift) >> shift, ok
	}
	negative := len(c) > 0 && c[0] == '-'
	if negative {
		c = c[1:]
	}
	u, ok := digits(c)
	if negative {
		return -int64(u), ok && u <= 1<<63
	}
	return int64(u), ok && u < 1<<63
}

// unsigned decodes an unsigned integer.
func (t Type) unsigned(c Cell, f Format) (uint64, bool) {
	if f == BinaryRow {
		return t.little(c)
	}
	return digits(c)
}

// little reads the bytes of a binary number.
func (t Type) little(c Cell) (uint64, bool) {
	var b [8]byte
	copy(b[:], c)
	return binary.LittleEndian.Uint64(b[:]), t.width > 0 && len(c) == int(t.width)
}

// digits reads a number that is written with digits only and fits into 64 bits.
func digits(c []byte) (uint64, bool) {
	var u uint64
	for _, d := range c {
		d -= '0'
		if d > 9 || u > math.MaxUint64/10 || u*10 > math.MaxUint64-uint64(d) {
			return 0, false
		}
		u = u*10 + uint64(d)
	}
	return u, len(c) > 0
}

// float decodes a FLOAT or DOUBLE.
func (t Type) float(c Cell, f Format) (float64, bool) {
	if f == TextRow {
		v, err := strconv.ParseFloat(string(c), 64)
		return v, err == nil
	}
	u, ok := t.little(c)
	if t.width == 4 {
		return float64(math.Float32frombits(uint32(u))), ok
	}
	return math.Float64frombits(u), ok
}

// floatOrder maps doubles to integers in the same order, the two zeros to the same one.
func floatOrder(v float64) uint64 {
	if v == 0 {
		return signBit
	}
	u := math.Float64bits(v)
	if u&signBit != 0 {
		return ^u
	}
	return u | signBit
}

// bitOrder reads a BIT value: up to eight bytes, the highest first.
func bitOrder(c Cell) (uint64, bool) {
	var u uint64
	for _, b := range c {
		u = u<<8 | uint64(b)
	}
	return u, len(c) <= 8
}
