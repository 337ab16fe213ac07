package session

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
)

// own are the functions and variables whose value is the session's, not the backend connection's.
const own = sqltext.ConnectionID | sqltext.CurrentUser | sqltext.SysVarPseudoThread | sqltext.SysVarOwn

// diagnostics are those that speak of the statement before, which may have run on another connection.
const diagnostics = sqltext.RowCount | sqltext.SysVarWarningCount

// errLostRows refuses FOUND_ROWS() where nobody knows it; see state.FoundRows.
var errLostRows = refuse("FOUND_ROWS() behind SET of a variable to what a query of several shards gives, or on MySQL behind a change that follows SET to any query: " +
	"it tells of that query then, which no connection of the session's has run; SELECT FOUND_ROWS() ahead of it")

// substitute puts the session's own values in the place of functions that would tell of the backend connection. A
// select item that stands alone keeps its column name by an alias.
func (c *client) substitute(q *query) error {
	if q.info.Class == sqltext.Select {
		q.text = state.StatusTable(q.text, c.mode(), c.state.DB(), c.conn)
	}
	want := q.info.Traits & (own | sqltext.RowCount) // a change may be of another node than the transaction's
	if !c.txn.Holding() || !c.txn.LastOnHeld {
		want |= q.info.Traits & diagnostics
	} else if !c.heldTells() {
		want |= q.info.Traits & sqltext.SysVarWarningCount
	}
	if !c.txn.Holding() || c.txn.Conn() != c.state.Found.OnlyOn() {
		want |= q.info.Traits & sqltext.FoundRows
	}
	if want == 0 {
		return nil
	}
	if want&sqltext.FoundRows != 0 && c.state.Found.Unknown() {
		return errLostRows
	}
	spans := slices.DeleteFunc(sqltext.Functions(q.text, c.mode(), want), func(span sqltext.Span) bool {
		return span.What == sqltext.SysVarOwn && ownVariableRead(span.Text) == nil // a server says that there is none
	})
	if len(spans) == 0 {
		return nil
	}
	items := sqltext.Items(q.text, c.mode())
	var edits []edit
	for _, span := range spans {
		value := c.ownValue(span)
		if typed := typeOf(span); typed != "" && slices.ContainsFunc(items, func(i sqltext.Item) bool { return i.Pos <= span.Pos && span.End <= i.End }) {
			if unsigned(span.What) {
				value = "CAST(" + value + " AS UNSIGNED)"
			}
			value = "IF(TRUE, " + value + ", " + typed + ")"
		}
		edits = append(edits, edit{span.Pos, span.End, value})
	}
	for _, i := range items {
		if i.Unnamed && i.End-i.Pos <= aliasMax && slices.ContainsFunc(spans, func(span sqltext.Span) bool { return i.Pos <= span.Pos && span.End <= i.End }) {
			alias, ok := sqltext.QuoteAlias(q.text[i.Pos:i.End], c.mode())
			if !ok {
				return refuse("a column whose text is not of the client's character set, with a function that the proxy answers: give it an alias")
			}
			edits = append(edits, edit{i.End, i.End, " AS " + alias})
		}
	}
	q.text = withEdits(q.text, edits)
	return nil
}

// edit puts a text in the place of a piece of another.
type edit struct {
	pos, end int
	text     string
}

// withEdits returns a text with edits made, none of which is within another.
func withEdits(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.pos, b.pos)) })
	var b strings.Builder
	last := 0
	for _, e := range edits {
		b.WriteString(text[last:e.pos])
		b.WriteString(e.text)
		last = e.end
	}
	b.WriteString(text[last:])
	return b.String()
}

// aliasMax is the longest alias of a column, in bytes.
const aliasMax = 256

// typeOf gives a function that has the type of a span's value in a select list; "" where the value is of it.
func typeOf(span sqltext.Span) string {
	if span.What == sqltext.CurrentUser || unsigned(span.What) {
		return span.Text
	}
	return ""
}

// unsigned reports whether what a span tells is an unsigned number.
func unsigned(what sqltext.Traits) bool {
	const numbers = sqltext.ConnectionID | sqltext.SysVarPseudoThread | sqltext.SysVarWarningCount
	return what&numbers != 0
}

// ownValue gives the SQL text of a function's value for this session.
func (c *client) ownValue(span sqltext.Span) string {
	switch span.What {
	case sqltext.ConnectionID, sqltext.SysVarPseudoThread:
		return strconv.FormatUint(uint64(c.id), 10)
	case sqltext.SysVarOwn:
		return state.Quote(ownVariableRead(span.Text).value(c))
	case sqltext.RowCount:
		return "IF(TRUE, " + strconv.FormatInt(c.state.Diagnostics.RowCount, 10) + ", ROW_COUNT())"
	case sqltext.FoundRows:
		return "IF(TRUE, " + strconv.FormatUint(c.state.Found.Rows(), 10) + ", FOUND_ROWS())"
	case sqltext.SysVarWarningCount:
		if strings.Contains(strings.ToLower(span.Text), "error_count") {
			return strconv.Itoa(c.state.Diagnostics.ErrorCount)
		}
		return strconv.Itoa(c.state.Diagnostics.WarningCount)
	}
	if strings.HasPrefix(strings.ToLower(span.Text), "current_user") {
		return state.Quote(c.entry.Name() + "@%")
	}
	return state.Quote(c.userAtHost())
}
