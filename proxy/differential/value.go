package differential

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// value is a constant: as it stands in a text, and as an argument of a prepared statement.
type value struct {
	sql string
	arg any // nil, int64, uint64, float64, string or []byte
}

var null = value{sql: "NULL"}

func intValue(v int64) value   { return value{strconv.FormatInt(v, 10), v} }
func uintValue(v uint64) value { return value{strconv.FormatUint(v, 10), v} }

func floatValue(v float64) value { return value{strconv.FormatFloat(v, 'f', -1, 64), v} }

func textValue(s string) value {
	return value{"'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", "''") + "'", s}
}

func texts(list ...string) []value {
	var out []value
	for _, s := range list {
		out = append(out, textValue(s))
	}
	return out
}

// decimals are exact numbers; the binary protocol has them as texts.
func decimals(list ...string) []value {
	var out []value
	for _, s := range list {
		out = append(out, value{s, s})
	}
	return out
}

func hexValues(list ...string) []value {
	var out []value
	for _, s := range list {
		b, err := hex.DecodeString(s)
		if err != nil {
			panic(err) // the lists are constants
		}
		out = append(out, value{"x'" + s + "'", b})
	}
	return out
}
