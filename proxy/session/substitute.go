package session

import (
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
)

// own are the functions and variables whose value is the session's, not the backend connection's.
const own = sqltext.ConnectionID | sqltext.CurrentUser | sqltext.SysVarPseudoThread

// diagnostics are those that speak of the statement before, which may have run on another connection.
const diagnostics = sqltext.RowCount | sqltext.SysVarWarningCount

// substitute puts the session's own values in the place of functions that would tell of the backend connection. A
// select item that stands alone keeps its column name by an alias.
func (s *Session) substitute(q *query) error {
	s.connectionStatusTable(q)
	want := q.info.Traits & own
	if s.held.Pooled == nil || !s.heldLast {
		want |= q.info.Traits & diagnostics
	}
	if s.held.Pooled == nil || s.held.Conn != s.state.found.on {
		want |= q.info.Traits & sqltext.FoundRows
	}
	if want == 0 {
		return nil
	}
	var b strings.Builder
	last := 0
	for _, span := range sqltext.Functions(q.text, s.mode(), want) {
		b.WriteString(q.text[last:span.Pos])
		b.WriteString(s.ownValue(span))
		if span.SelectItem {
			b.WriteString(" AS `" + strings.ReplaceAll(q.text[span.Pos:span.End], "`", "``") + "`")
		}
		last = span.End
	}
	b.WriteString(q.text[last:])
	q.text = b.String()
	return nil
}

// ownValue gives the SQL text of a function's value for this session.
func (s *Session) ownValue(span sqltext.Span) string {
	switch span.What {
	case sqltext.ConnectionID, sqltext.SysVarPseudoThread:
		return strconv.FormatUint(uint64(s.id), 10)
	case sqltext.RowCount:
		return "(" + strconv.FormatInt(s.state.result.rowCount, 10) + ")"
	case sqltext.FoundRows:
		// The function itself is there for its type.
		return "IF(TRUE, " + strconv.FormatUint(s.state.found.n, 10) + ", FOUND_ROWS())"
	case sqltext.SysVarWarningCount:
		if strings.Contains(strings.ToLower(span.Text), "error_count") {
			return strconv.Itoa(s.state.errorCount)
		}
		return strconv.Itoa(s.state.warningCount)
	}
	if strings.HasPrefix(strings.ToLower(span.Text), "current_user") {
		return quote(s.user + "@%")
	}
	return quote(s.userAtHost())
}

// quote writes a string literal that every sql_mode and character set reads alike: hexadecimal unless it is plain.
func quote(v string) string {
	if plainText(v) {
		return "'" + v + "'"
	}
	const digits = "0123456789abcdef"
	b := []byte("_utf8mb4 x'")
	for k := range len(v) {
		b = append(b, digits[v[k]>>4], digits[v[k]&15])
	}
	return string(append(b, '\''))
}

// plainText tells whether a string has no byte that any sql_mode or character set treats in a way of its own.
func plainText(v string) bool {
	for k := range len(v) {
		if c := v[k]; c < ' ' || c > '~' || c == '\'' || c == '\\' || c == '"' || c == '`' {
			return false
		}
	}
	return true
}
