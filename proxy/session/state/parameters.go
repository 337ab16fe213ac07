package state

import (
	"encoding/binary"
	"math"
	"unsafe"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// AnyIsID reports whether one of n parameters of a prepared statement, in the binary protocol, may be taken by a server for the number id.
// null has a bit for each that is NULL, types two bytes for each, and values are those of the others. Nothing of them is kept.
func AnyIsID(n int, null, types, values []byte, id uint64) bool {
	c := mysql.NewCursor(values)
	for k := range n {
		if null[k/8]&(1<<(k%8)) != 0 {
			continue
		}
		if isID(&c, mysql.ColumnType(types[2*k]), id) {
			return true
		}
	}
	return c.Err() != nil
}

// isID reads a value of the binary protocol and reports whether a server may take it for the number id.
func isID(c *mysql.Cursor, t mysql.ColumnType, id uint64) bool {
	near := func(f float64) bool { return math.Abs(f-float64(id)) <= 1 }
	switch t {
	case mysql.TypeNull:
	case mysql.TypeTiny:
		return c.Uint8() == uint8(id)
	case mysql.TypeShort, mysql.TypeYear:
		return c.Uint16() == uint16(id)
	case mysql.TypeLong, mysql.TypeInt24:
		return c.Uint32() == uint32(id)
	case mysql.TypeLongLong:
		b := c.Bytes(8)
		return b == nil || binary.LittleEndian.Uint64(b) == id
	case mysql.TypeFloat:
		return near(float64(math.Float32frombits(c.Uint32())))
	case mysql.TypeDouble:
		b := c.Bytes(8)
		return b == nil || near(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeTime:
		c.Bytes(int(c.Uint8()))
	default:
		text := c.LenencBytes()
		return sqltext.IsNumberID(unsafe.String(unsafe.SliceData(text), len(text)), id)
	}
	return false
}
