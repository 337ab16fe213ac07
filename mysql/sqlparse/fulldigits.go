package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// FullDigits writes a query of one block whose result has all digits of what the one given shows fewer of: items of its select list, by their numbers from 0. Those of floats are
// FLOAT columns, or the least or greatest of one, which become DOUBLEs. Those of averages are AVG of columns: they become SUM, and COUNT and MAX of the same, which
// has the column's type, are put behind the list for each. ok is false for other items, and where the server's plan decides on the digits: what it puts into a temporary table is cut.
func FullDigits(text string, m sqltext.Mode, floats, averages []int) (full string, ok bool) {
	st, err := Parse(text, m, func(string) bool { return false })
	if err != nil || st.Query == nil || st.Query.Select == nil || len(st.Query.With) > 0 {
		return "", false
	}
	q, s := st.Query, st.Query.Select
	c, ok := SelectClauses(text, m)
	if !ok || len(c.Fields) != len(s.Fields) || s.Having != nil || s.Rollup || s.Distinct && len(q.Order) > 0 {
		return "", false
	}
	if len(averages) > 0 && (len(s.Group) > 0 || len(q.Order) > 0 || s.Distinct || s.Windows || s.From.HasDerived() || sqltext.Mentions(text, "sql_buffer_result")) {
		return "", false
	}
	var b strings.Builder
	at := 0
	until := func(end int) {
		b.WriteString(text[at:end])
		at = end
	}
	further := ""
	for k, item := range c.Fields {
		float, average := slices.Contains(floats, k), slices.Contains(averages, k)
		if !float && !average {
			continue
		}
		head, ok := itemHead(text, item, m)
		e := s.Fields[k].Expr
		if !ok || e == nil {
			return "", false
		}
		until(head.Pos)
		switch {
		case average && e.Op == Aggregate && e.Name == "avg" && !e.Distinct && len(e.Args) == 1 && e.Args[0].Op == Column:
			of := head.Pos + len("avg")
			b.WriteString("SUM")
			at = of
			further += ", COUNT" + text[of:head.End] + ", MAX" + text[of:head.End]
		case float && (e.Op == Column || e.Op == Aggregate && (e.Name == "min" || e.Name == "max") && len(e.Args) == 1 && e.Args[0].Op == Column):
			b.WriteString("(")
			until(head.End)
			b.WriteString(")+0e0")
			if alias, fit := sqltext.QuoteIdent(e.Name, m); e.Op == Column && s.Fields[k].Alias == "" && len(s.Group) == 0 { // ORDER BY may name it
				if !fit {
					return "", false
				}
				b.WriteString(" AS " + alias)
			}
		default:
			return "", false
		}
	}
	until(c.Fields[len(c.Fields)-1].End)
	b.WriteString(further)
	until(len(text))
	return b.String(), true
}

// itemHead finds the name of a column, or the call of a function, that an item of a select list is but for its alias; ok is false for other items.
func itemHead(text string, item Span, m sqltext.Mode) (head Span, ok bool) {
	tokens, ok := lex(text[item.Pos:item.End], m)
	if !ok || len(tokens) == 0 {
		return head, false
	}
	s := newScan(tokens)
	s.k++
	end := s.tokens[0].End
	if s.opens() {
		end = s.group()
	}
	for s.k+1 < len(s.tokens) && s.tokens[s.k].word == "." {
		end = s.tokens[s.k+1].End
		s.k += 2
	}
	if left := len(s.tokens) - s.k; left > 2 || left == 2 && !is(s.tokens[s.k], "as") {
		return head, false
	}
	return Span{Pos: item.Pos + s.tokens[0].Pos, End: item.Pos + end}, end > 0
}
