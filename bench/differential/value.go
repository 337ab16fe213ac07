package differential

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"kingshard/mysql/mysqltest"
)

// value is a constant: as it stands in a text, and as an argument of a prepared statement.
type value struct {
	sql string
	arg any // nil, or of a type that mysqltest sends
}

// text is the value without quotes.
func (v value) text() string {
	if s, ok := v.arg.(string); ok {
		return s
	}
	return strings.Trim(v.sql, "'")
}

var null = value{sql: "NULL"}

// intValue is a whole number, as an argument of one of the widths that hold it.
func intValue(v int64) value {
	sql := strconv.FormatInt(v, 10)
	switch {
	case v%4 == 1 && v == int64(int8(v)):
		return value{sql, int8(v)}
	case v%4 == 2 && v == int64(int16(v)):
		return value{sql, int16(v)}
	case v%4 == 3 && v == int64(int32(v)):
		return value{sql, int32(v)}
	}
	return value{sql, v}
}

func uintValue(v uint64) value { return value{strconv.FormatUint(v, 10), v} }

// floatValue is a number with a fraction; those that are whole are FLOATs as arguments, which hold them exactly.
func floatValue(v float64) value {
	sql := strconv.FormatFloat(v, 'f', -1, 64)
	if v == float64(int16(v)) {
		return value{sql, float32(v)}
	}
	return value{sql, v}
}

// moments are dates with or without time of day, every second one as an argument of its own type, the others as texts.
func moments(list ...string) []value {
	out := texts(list...)
	for k := range out {
		if k%2 > 0 {
			continue
		}
		if t, err := time.Parse(time.DateOnly, list[k]); err == nil {
			out[k].arg = mysqltest.Date(t)
		}
		if t, err := time.Parse(time.DateTime, list[k]); err == nil {
			out[k].arg = t
		}
	}
	return out
}

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
