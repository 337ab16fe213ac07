package plan

import (
	"encoding/hex"
	"math"
	"strconv"
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
		v, err := literal(args[numbers[k]], m)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		at = t.End
		k++
	}
	b.WriteString(text[at:])
	return b.String(), nil
}

// literal writes a value in SQL.
func literal(v value.Value, m sqltext.Mode) (string, error) {
	switch v.Kind() {
	case value.Bytes:
		return "X'" + hex.EncodeToString([]byte(v.Text())) + "'", nil
	case value.String, value.Temporal:
		text, ok := sqltext.QuoteString(v.Text(), m)
		if !ok {
			return "", Refuse("a value of the statement is no text in the client's character set")
		}
		return text, nil
	case value.Decimal:
		if !value.IsDecimal(v.Text()) {
			return "", Refuse("a value of the statement is no number, though its type says so")
		}
	case value.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return "", Refuse("a value of the statement is no number that SQL can write")
		}
		return strconv.FormatFloat(v.Float(), 'e', -1, 64), nil
	}
	return v.String(), nil
}
