package mysql

import (
	"encoding/binary"
	"errors"
)

// ErrMalformedPacket says that a packet is shorter than its own fields claim, or has bytes that its format does not allow.
var ErrMalformedPacket = errors.New("malformed packet")

// Cursor reads the protocol's basic types from a payload. The first read past the end sets a sticky error and every
// later read gives zero values, so a decoder checks Err once, at its end. Returned slices alias the payload.
// MySQL manual: "Protocol Basics: Basic Data Types".
type Cursor struct {
	data []byte
	pos  int
	bad  bool
}

// NewCursor reads from the start of payload.
func NewCursor(payload []byte) Cursor { return Cursor{data: payload} }

// Err is ErrMalformedPacket after a read past the end, else nil.
func (c *Cursor) Err() error {
	if c.bad {
		return ErrMalformedPacket
	}
	return nil
}

// Len is the number of bytes left.
func (c *Cursor) Len() int { return len(c.data) - c.pos }

// Pos is the offset of the next byte.
func (c *Cursor) Pos() int { return c.pos }

// Bytes takes the next n bytes.
func (c *Cursor) Bytes(n int) []byte {
	if c.bad || n < 0 || n > len(c.data)-c.pos {
		c.bad = true
		return nil
	}
	b := c.data[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b
}

// Rest takes all bytes left.
func (c *Cursor) Rest() []byte { return c.Bytes(c.Len()) }

// Uint8 takes int<1>.
func (c *Cursor) Uint8() byte {
	if b := c.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint16 takes int<2>.
func (c *Cursor) Uint16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Uint24 takes int<3>.
func (c *Cursor) Uint24() uint32 {
	if b := c.Bytes(3); b != nil {
		return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	}
	return 0
}

// Uint32 takes int<4>.
func (c *Cursor) Uint32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Lenenc takes int<lenenc>. NULL (0xfb) and the error marker (0xff) are not integers and count as malformed.
func (c *Cursor) Lenenc() uint64 {
	switch first := c.Uint8(); first {
	case 0xfb, 0xff:
		c.bad = true
		return 0
	case 0xfc:
		return uint64(c.Uint16())
	case 0xfd:
		return uint64(c.Uint24())
	case 0xfe:
		if b := c.Bytes(8); b != nil {
			return binary.LittleEndian.Uint64(b)
		}
		return 0
	default:
		return uint64(first)
	}
}

// LenencBytes takes string<lenenc>.
func (c *Cursor) LenencBytes() []byte {
	n := c.Lenenc()
	if n > uint64(c.Len()) {
		c.bad = true
		return nil
	}
	return c.Bytes(int(n))
}

// NulBytes takes string<NUL>, without the NUL.
func (c *Cursor) NulBytes() []byte {
	for i := c.pos; i < len(c.data) && !c.bad; i++ {
		if c.data[i] == 0 {
			b := c.Bytes(i - c.pos)
			c.pos++
			return b
		}
	}
	c.bad = true
	return nil
}

// AppendUint16 appends int<2>.
func AppendUint16(dst []byte, v uint16) []byte { return binary.LittleEndian.AppendUint16(dst, v) }

// AppendUint32 appends int<4>.
func AppendUint32(dst []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(dst, v) }

// AppendLenenc appends int<lenenc>.
func AppendLenenc(dst []byte, v uint64) []byte {
	switch {
	case v < 0xfb:
		return append(dst, byte(v))
	case v <= 0xffff:
		return append(dst, 0xfc, byte(v), byte(v>>8))
	case v <= 0xffffff:
		return append(dst, 0xfd, byte(v), byte(v>>8), byte(v>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), v)
}

// AppendLenencString appends string<lenenc>.
func AppendLenencString[S ~string | ~[]byte](dst []byte, s S) []byte {
	return append(AppendLenenc(dst, uint64(len(s))), s...)
}

// AppendNulString appends string<NUL>.
func AppendNulString[S ~string | ~[]byte](dst []byte, s S) []byte {
	return append(append(dst, s...), 0)
}
