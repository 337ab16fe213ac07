package session

import "strings"

// typedAlike reports whether literals are of the types that user variables had when a statement was prepared. MySQL keeps these for all executions.
// MySQL manual: "User-Defined Variables".
func (st *stmt) typedAlike(names, literals []string) bool {
	collation, _ := st.setting.Value("collation_connection")
	for k, name := range names {
		then, _ := st.setting.Value(variableName(name))
		if literalType(then, strings.Trim(collation, "'")) != literalType(literals[k], "") {
			return false
		}
	}
	return true
}

// literalType names the type of a user variable that is set to a literal; that of one which is not known is the literal itself. collation is that of a
// string which names none.
func literalType(text, collation string) string {
	_, own, collated := strings.Cut(text, " COLLATE ")
	switch {
	case collated:
		return own
	case strings.HasPrefix(text, "'"):
		return collation
	case strings.HasPrefix(text, "_binary "), strings.HasPrefix(text, "X'"), text == "CAST(NULL AS BINARY)":
		return "binary"
	case strings.HasSuffix(text, " AS SIGNED)"), strings.EqualFold(text, "TRUE"), strings.EqualFold(text, "FALSE"):
		return "signed"
	case strings.HasSuffix(text, " AS UNSIGNED)"):
		return "unsigned"
	case strings.HasPrefix(text, "CAST(NULL AS DECIMAL("):
		return "decimal"
	case text == "NULL + 0e0":
		return "double"
	}
	digits := strings.TrimLeft(text, "+-")
	switch {
	case digits == "" || strings.Trim(digits, "0123456789.eE+-") != "":
		return text
	case strings.ContainsAny(digits, "eE"):
		return "double"
	case strings.Contains(digits, "."):
		return "decimal"
	case len(digits) < len("9223372036854775807"):
		return "signed"
	}
	return text
}
