package session

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// newRow is what ON DUPLICATE KEY UPDATE calls the row that was to be inserted. MySQL manual: "INSERT ... ON DUPLICATE KEY UPDATE Statement".
type newRow struct {
	name    string   // behind AS; "" without it
	columns []string // behind the name; nil without them
}

// newRow finds the names that the text gives to the row.
func (in *inserting) newRow() (n newRow, err error) {
	n.name, n.columns = sqlparse.NewRow(in.text, in.client.mode())
	if len(n.columns) > 0 && len(n.columns) != len(in.columns) ||
		slices.ContainsFunc(n.columns, func(c string) bool {
			return slices.ContainsFunc(in.columns, func(o string) bool { return router.SameColumn(o, c) })
		}) {
		return n, in.refused("names of the new row's columns that the table's columns have, in ON DUPLICATE KEY UPDATE of")
	}
	return n, nil
}

// column is the table's column that the row's has a name for; "" if it is none of the row's. qualified says that the row's name stands ahead of it.
func (in *inserting) column(n newRow, name string, qualified bool) string {
	at := slices.IndexFunc(n.columns, func(c string) bool { return router.SameColumn(c, name) })
	switch {
	case at >= 0:
		return in.columns[at]
	case qualified && n.columns == nil:
		return name
	}
	return ""
}

// withValues puts the values of a row in the place of VALUES(column) in an expression, and of the new row's columns. MariaDB has VALUE(column), too.
func (in *inserting) withValues(expr string, n newRow, row int) (string, error) {
	m := in.client.mode()
	var tokens []sqltext.Token
	l := sqltext.NewLexer(expr, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		tokens = append(tokens, t)
	}
	is := func(k int, words ...string) bool {
		return k >= 0 && k < len(tokens) && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(expr[tokens[k].Pos:tokens[k].End], w) })
	}
	name := func(k int) string {
		if k < 0 || k >= len(tokens) || tokens[k].Kind != sqltext.KindWord && tokens[k].Kind != sqltext.KindQuotedIdent {
			return ""
		}
		text := expr[tokens[k].Pos:tokens[k].End]
		if tokens[k].Kind == sqltext.KindQuotedIdent {
			text = strings.ReplaceAll(text[1:len(text)-1], text[:1]+text[:1], text[:1])
		}
		return text
	}
	var b strings.Builder
	at := 0
	for k := 0; k < len(tokens); {
		column, length := "", 1
		switch values := is(k, "values") || is(k, "value") && m.MariaDB; {
		case is(k-1, "."):
		case values && tokens[k].Kind == sqltext.KindWord && is(k+1, "(") && is(k+3, ")"):
			column, length = name(k+2), 4
		case n.name != "" && name(k) == n.name && is(k+1, ".") && name(k+2) != "":
			column, length = in.column(n, name(k+2), true), 3
		case name(k) != "" && !is(k+1, ".", "("):
			column = in.column(n, name(k), false)
		}
		if column != "" {
			v, err := in.value(column, row, "")
			if err != nil {
				return "", err
			}
			b.WriteString(expr[at:tokens[k].Pos] + v)
			at = tokens[k+length-1].End
		}
		k += length
	}
	return b.String() + expr[at:], nil
}
