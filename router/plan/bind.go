package plan

import (
	"encoding/hex"
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
)

// Bind writes values in place of the ? of a text: arguments args[numbers[k]] for the k-th.
func Bind(text string, m sqltext.Mode, numbers []int, args []value.Value) (string, error) {
	var b strings.Builder
	l := sqltext.NewLexer(text, m)
	at, k := 0, 0
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			break
		}
		if t.Kind != sqltext.KindParam {
			continue
		}
		if k >= len(numbers) || numbers[k] >= len(args) {
			return "", Refuse("the statement has more parameters than values")
		}
		b.WriteString(text[at:t.Pos])
		b.WriteString(literal(args[numbers[k]], m))
		at = t.End
		k++
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

// literal writes a value in SQL.
func literal(v value.Value, m sqltext.Mode) string {
	switch v.Kind() {
	case value.Bytes:
		return "X'" + hex.EncodeToString([]byte(v.Text())) + "'"
	case value.String, value.Temporal:
		text := strings.ReplaceAll(v.Text(), "'", "''")
		if !m.NoBackslashEscapes {
			text = strings.ReplaceAll(text, `\`, `\\`)
		}
		return "'" + text + "'"
	}
	return v.String()
}
