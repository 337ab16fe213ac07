package session

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// restating writes what the statements of a composed one have read into those that follow. why tells why it is composed.
type restating struct {
	*composed
	why string
}

// append writes a value of a column that was read so that it goes into the target as the column's own would; target is nil where it is not known.
func (r *restating) append(b []byte, d *mysql.ColumnDefinition41, cell value.Cell, target *mysql.ColumnDefinition41) ([]byte, error) {
	if cell == nil {
		return append(b, nullLiteral...), nil
	}
	text := string(cell)
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear, mysql.TypeNewDecimal, mysql.TypeDecimal:
		if d.Flags&mysql.ZerofillFlag == 0 || target != nil && !isText(target) {
			return append(b, text...), nil
		}
	case mysql.TypeDouble:
		if !strings.ContainsAny(text, "eE") {
			text += "e0"
		}
		return append(b, text...), nil
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTime, mysql.TypeTimestamp:
		return appendTemporal(b, d, text, target), nil
	}
	switch {
	case !isText(d) || d.Type == mysql.TypeGeometry || d.Type == mysql.TypeVector:
	case d.Flags&(mysql.EnumFlag|mysql.SetFlag) != 0 && (target == nil || !isText(target)): // a number there
	case d.Type == mysql.TypeJSON && (target == nil || !isText(target)):
	case d.Type != mysql.TypeJSON && d.Charset == binaryCollation:
		if target != nil && isText(target) {
			return append(hex.AppendEncode(append(b, "X'"...), cell), '\''), nil
		}
	default:
		if charset := strings.Trim(r.client.state.Value("character_set_client"), "'"); charset != "" && !strings.EqualFold(charset, "utf8mb4") &&
			strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf || c == '?' }) {
			return nil, r.refused("texts beyond ASCII, while character_set_client is not utf8mb4")
		}
		quoted, ok := sqltext.QuoteString(text, r.client.mode())
		if ok {
			return append(b, quoted...), nil
		}
	}
	return nil, r.refused("a value of the column " + d.Name + ", for which no literal stands there")
}

// appendTemporal writes a date or a time. Into a number goes that of its digits, into anything else its text.
func appendTemporal(b []byte, d *mysql.ColumnDefinition41, text string, target *mysql.ColumnDefinition41) []byte {
	if target == nil || !isText(target) && !isTemporal(target) {
		switch {
		case strings.HasPrefix(text, "0000") || strings.Contains(text, "-00"): // which the literals may not be
		case d.Type == mysql.TypeDate:
			b = append(b, "DATE"...)
		case d.Type == mysql.TypeTime:
			b = append(b, "TIME"...)
		default:
			b = append(b, "TIMESTAMP"...)
		}
	}
	return append(append(append(b, '\''), text...), '\'')
}

func isTemporal(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeDate, mysql.TypeDatetime, mysql.TypeTime, mysql.TypeTimestamp:
		return true
	}
	return false
}

// refused refuses to go on with something.
func (r *restating) refused(what string) error {
	return newError(KSRefusedSharding, "rows that go through the proxy, with "+what+" ("+r.why+")")
}
