package value

import "kingshard/mysql"

// Format is how the cells of a row are written.
type Format uint8

// The formats.
const (
	TextRow   Format = iota // COM_QUERY. MySQL manual: "Text Resultset Row"
	BinaryRow               // COM_STMT_EXECUTE. MySQL manual: "Binary Protocol Resultset Row"
)

// class is what cells are compared as.
type class uint8

const (
	classNone     class = iota // no order that the cells show: characters, ENUM, SET, JSON, geometry
	classSigned                // integers
	classUnsigned              // integers and years
	classDecimal
	classFloat    // FLOAT and DOUBLE
	classDatetime // DATE, DATETIME and TIMESTAMP
	classTime
	classBit
	classBytes // binary strings
	classNull  // the type of a bare NULL
)

// Type is what a column's definition says of its cells. The zero Type has no order.
type Type struct {
	class    class
	width    uint8 // bytes of a cell in a binary row; 0 where a length comes first
	decimals uint8
	space    []byte // see PadSpace
}

// decimalsFloating in a definition of a DOUBLE says that it has no fixed number of decimals.
const decimalsFloating = 31

// binaryCharset is the character set of strings that are bytes.
const binaryCharset = 63

// Flags of definitions of ENUM and SET, which are sent as strings. MySQL manual: "Column Definition Flags".
const (
	enumFlag uint16 = 256
	setFlag  uint16 = 2048
)

// integerWidths gives the bytes of a cell in binary rows.
var integerWidths = map[mysql.ColumnType]uint8{
	mysql.TypeTiny: 1, mysql.TypeShort: 2, mysql.TypeYear: 2, mysql.TypeInt24: 4, mysql.TypeLong: 4, mysql.TypeLongLong: 8,
}

// TypeOf reads a definition.
func TypeOf(d *mysql.ColumnDefinition41) Type {
	t := Type{decimals: d.Decimals}
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear:
		t.class, t.width = classSigned, integerWidths[d.Type]
		if d.Flags&mysql.UnsignedFlag != 0 || d.Type == mysql.TypeYear {
			t.class = classUnsigned
		}
	case mysql.TypeDecimal, mysql.TypeNewDecimal:
		t.class = classDecimal
	case mysql.TypeFloat:
		t.class, t.width = classFloat, 4
	case mysql.TypeDouble:
		t.class, t.width = classFloat, 8
	case mysql.TypeDate, mysql.TypeNewDate, mysql.TypeDatetime, mysql.TypeTimestamp:
		t.class = classDatetime
	case mysql.TypeTime:
		t.class = classTime
	case mysql.TypeBit:
		t.class = classBit
	case mysql.TypeNull:
		t.class = classNull
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString,
		mysql.TypeTinyBlob, mysql.TypeBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		if d.Charset == binaryCharset && d.Flags&(enumFlag|setFlag) == 0 {
			t.class = classBytes
		}
	}
	return t
}

// Ordered tells whether cells can be compared.
func (t Type) Ordered() bool { return t.class != classNone }

// Bytes tells whether cells are binary strings, such as weights.
func (t Type) Bytes() bool { return t.class == classBytes }

// PadSpace gives a type for weights under a PAD SPACE collation, where the shorter of two values compares as if it were
// followed by spaces: weight is that of one space. WEIGHT_STRING itself does not pad.
func (t Type) PadSpace(weight []byte) Type {
	t.space = weight
	return t
}

// Mergeable tells whether cells of two columns may stand below each other in one result of that format and be compared. A
// bare NULL goes with everything: a UNION gives it another type, and its cells look alike in all.
func (t Type) Mergeable(other Type, f Format) bool {
	return t.class == classNull || other.class == classNull || t.class == other.class && (f == TextRow || t.width == other.width)
}
