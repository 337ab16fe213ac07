package session

import (
	"bytes"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
)

// appendRow writes a row as a list of literals that mean the same under any character set and sql_mode.
func appendRow(b []byte, definitions []mysql.ColumnDefinition41, cells []value.Cell, info *backend.Info) []byte {
	b = append(b, '(')
	for k, cell := range cells {
		if k > 0 {
			b = append(b, ',')
		}
		d := &definitions[k]
		switch {
		case cell == nil:
			b = append(b, "NULL"...)
		case isText(d):
			b = appendText(b, d, cell, info)
		case d.Type == mysql.TypeDate || d.Type == mysql.TypeDatetime || d.Type == mysql.TypeTimestamp || d.Type == mysql.TypeTime:
			b = append(append(append(b, '\''), cell...), '\'')
		case d.Type == mysql.TypeBit:
			b = appendHex(b, cell)
		case (d.Type == mysql.TypeDouble || d.Type == mysql.TypeFloat) && bytes.IndexByte(cell, 'e') < 0:
			b = append(append(b, cell...), "e0"...) // a DECIMAL has not the digits that a DOUBLE may be written with
		default:
			b = append(b, cell...)
		}
	}
	return append(b, ')')
}

func isText(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob,
		mysql.TypeEnum, mysql.TypeSet, mysql.TypeJSON, mysql.TypeGeometry, mysql.TypeVector:
		return true
	}
	return false
}

func appendText(b []byte, d *mysql.ColumnDefinition41, cell []byte, info *backend.Info) []byte {
	charset := ""
	switch {
	case d.Type == mysql.TypeJSON:
		charset = "utf8mb4"
	case d.Charset != binaryCollation && info != nil:
		charset = info.Collations[d.Charset].Charset
	}
	if charset != "" {
		b = append(append(append(b, '_'), charset...), ' ')
	}
	if len(cell) == 0 {
		return append(b, "''"...)
	}
	return appendHex(b, cell)
}

func appendHex(b, cell []byte) []byte {
	const digits = "0123456789ABCDEF"
	b = append(b, "X'"...)
	for _, c := range cell {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return append(b, '\'')
}
