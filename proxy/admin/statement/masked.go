package statement

import "kingshard/mysql/sqltext"

// maskedMax bounds a masked statement, in bytes.
const maskedMax = 4096

// Masked returns a statement without comments and with ? for its literals. The mode of its session is not known here, so what
// stands in double quotes is masked too. One that may carry a password is shown as logs show it.
func Masked(text string) string {
	if sqltext.Secretive(text) {
		return string(sqltext.AppendNormal(nil, text, sqltext.Mode{}, maskedMax))
	}
	var b []byte
	l := sqltext.NewLexer(text, sqltext.Mode{})
	end := 0
	for len(b) < maskedMax {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			break
		}
		if t.Pos > end && len(b) > 0 {
			b = append(b, ' ')
		}
		end = t.End
		switch t.Kind {
		case sqltext.KindString, sqltext.KindNumber, sqltext.KindHex, sqltext.KindBit, sqltext.KindInvalid:
			b = append(b, '?')
		default:
			b = append(b, text[t.Pos:min(t.End, t.Pos+maskedMax)]...)
		}
	}
	return string(b)
}
