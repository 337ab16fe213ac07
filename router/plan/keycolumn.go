package plan

import (
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/rule"
)

// binaryCollations are the collation ids under which only equal bytes are equal, PAD SPACE aside.
var binaryCollations = map[uint16]bool{
	46: true, 47: true, 50: true, 65: true, 66: true, 67: true, 69: true, 73: true, 77: true, 78: true, 79: true, 80: true, 81: true,
	83: true, 84: true, 85: true, 86: true, 87: true, 88: true, 89: true, 90: true, 91: true, 96: true, 98: true, 249: true, 309: true,
}

// padded is the collation with PAD SPACE of one with NO PAD of MariaDB's.
func padded(collation uint16) uint16 {
	if collation >= 1024 && collation < 2048 {
		return collation - 1024
	}
	return collation
}

// KeyColumn tells what is known of a key column, for statements of a client whose texts are read by m.
func KeyColumn(columns []mysql.ColumnDefinition41, name string, m sqltext.Mode) rule.Column {
	for k := range columns {
		if d := &columns[k]; router.SameColumn(d.Name, name) {
			return rule.Column{
				Class: classOf(d), Scale: int(d.Decimals), Length: binaryLength(d), Room: roomOf(d), NoSign: d.Flags&mysql.UnsignedFlag != 0,
				Characters: charactersOf(d.Charset), Collation: d.Charset, Foreign: m.Charset != sqltext.ASCIISafe,
			}
		}
	}
	return rule.Column{}
}

// roomOf is what fits into a column, as rule.Column has it.
func roomOf(d *mysql.ColumnDefinition41) int {
	switch classOf(d) {
	case rule.Integer, rule.Unsigned:
		return integerBits[d.Type]
	case rule.Decimal:
		return decimalWhole(d)
	case rule.CharBinary, rule.CharCI:
		return int(d.Length) / bytesPerChar(d.Charset)
	case rule.Bytes:
		return int(d.Length)
	}
	return 0
}

// charactersOf are the characters of a collation's character set.
func charactersOf(collation uint16) rule.Characters {
	id := padded(collation)
	switch {
	case id == 11 || id == 65:
		return rule.ASCIICharacter
	case id == 5 || id == 8 || id == 15 || id == 31 || id == 47 || id == 48 || id == 49 || id == 94:
		return rule.WesternLatin
	case id == 33 || id == 76 || id == 83 || id >= 192 && id <= 223,
		id == 35 || id == 90 || id >= 128 && id <= 159:
		return rule.BasicPlane
	}
	return rule.AnyCharacter
}

func binaryLength(d *mysql.ColumnDefinition41) int {
	if d.Type == mysql.TypeString && d.Charset == 63 {
		return int(d.Length)
	}
	return 0
}

// Flags of a definition that tell apart types with one type byte. MySQL manual: "Column Definition Flags".
const (
	enumFlag = 256
	setFlag  = 2048
)

func classOf(d *mysql.ColumnDefinition41) rule.Class {
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong:
		if d.Flags&mysql.UnsignedFlag != 0 {
			return rule.Unsigned
		}
		return rule.Integer
	case mysql.TypeNewDecimal, mysql.TypeDecimal:
		return rule.Decimal
	case mysql.TypeFloat, mysql.TypeDouble:
		return rule.Float
	case mysql.TypeDate, mysql.TypeNewDate:
		return rule.Date
	case mysql.TypeDatetime:
		return rule.DateTime
	case mysql.TypeTimestamp:
		return rule.Timestamp
	case mysql.TypeYear:
		return rule.Year
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob:
		switch {
		case d.Flags&(enumFlag|setFlag) != 0:
			return rule.Other
		case d.Charset == 63:
			return rule.Bytes
		case binaryCollations[padded(d.Charset)]:
			return rule.CharBinary
		}
		return rule.CharCI
	}
	return rule.Other
}

// integerBits are the sizes of integer types.
var integerBits = map[mysql.ColumnType]int{mysql.TypeTiny: 8, mysql.TypeShort: 16, mysql.TypeInt24: 24, mysql.TypeLong: 32, mysql.TypeLongLong: 64}

// decimalWhole is how many digits a DECIMAL column has ahead of the point.
func decimalWhole(d *mysql.ColumnDefinition41) int {
	n := int(d.Length) - int(d.Decimals)
	if d.Decimals > 0 {
		n-- // the point
	}
	if d.Flags&mysql.UnsignedFlag == 0 {
		n-- // the sign
	}
	return n
}

// bytesPerChar is the most bytes of a character under a collation, by its id.
func bytesPerChar(collation uint16) int {
	id := padded(collation)
	switch {
	case id == 45 || id == 46 || id >= 224 && id <= 247 || id >= 248 && id <= 250 || id >= 255 && id <= 323, // utf8mb4, gb18030
		id == 54 || id == 55 || id == 56 || id == 62 || id >= 101 && id <= 124, // utf16
		id == 60 || id == 61 || id >= 160 && id <= 183,                         // utf32
		id >= 2304: // MariaDB's UCA 14.0.0, utf8mb4 and wider
		return 4
	case id == 33 || id == 76 || id == 83 || id >= 192 && id <= 223, id >= 2048, // utf8mb3
		id == 12 || id == 91 || id == 97 || id == 98: // ujis, eucjpms
		return 3
	case id == 1 || id == 84 || id == 13 || id == 88 || id == 19 || id == 85 || id == 24 || id == 86 || id == 28 || id == 87 || id == 95 || id == 96,
		id == 35 || id == 90 || id >= 128 && id <= 159: // ucs2
		return 2
	}
	return 1
}
