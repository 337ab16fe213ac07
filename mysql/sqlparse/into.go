package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// Into is a query with INTO @a, @b taken out.
type Into struct {
	Text  string
	Names []string // of the variables
	// Before is the word that the clause stands ahead of, in lower case: from, for, lock, or "" at the end.
	Before string
}

// CutInto takes INTO @a, @b out of a query; ok is false for any other query. MySQL manual: "SELECT ... INTO Statement".
func CutInto(text string, m sqltext.Mode) (into Into, ok bool) {
	tokens, ok := lex(text, m)
	if !ok {
		return into, false
	}
	at, depth := -1, 0
	for k, t := range tokens {
		depth += t.nesting()
		switch {
		case depth == 0 && t.Kind == sqltext.KindWord && strings.EqualFold(t.word, "into") && (k == 0 || tokens[k-1].word != "."):
			if at >= 0 {
				return into, false
			}
			at = k
		}
	}
	if at < 0 {
		return into, false
	}
	s := loadScan{scan: scan{tokens: tokens, k: at + 1}, text: text, m: m}
	for {
		if s.k >= len(tokens) || tokens[s.k].Kind != sqltext.KindUserVar {
			return into, false
		}
		into.Names = append(into.Names, s.variable(tokens[s.k].word))
		s.k++
		if !s.op(",") {
			break
		}
	}
	into.Text, into.Before = text[:tokens[at].Pos]+" "+text[tokens[s.k-1].End:], s.word()
	return into, true
}

// LimitAt gives the place where a LIMIT clause could stand in a query that has none; ok is false for one that has, and for
// forms in which the place is not known.
func LimitAt(text string, m sqltext.Mode) (at int, ok bool) {
	c, ok := SelectClauses(text, m)
	if !ok || !c.Limit.Empty() {
		return 0, false
	}
	return c.Tail, true
}

// fixing are functions whose result has the digits that it shows.
var fixing = map[string]bool{"round": true, "truncate": true, "floor": true, "ceil": true, "ceiling": true, "format": true}

// Divides tells whether item k of a query's select list may have more digits than its result shows: an AVG or a division that
// nothing rounds. It is true as well where that cannot be told. MySQL 9 rounds a division itself.
func Divides(text string, m sqltext.Mode, k int) bool {
	st, err := Parse(text, m, func(string) bool { return false })
	if err != nil || st.Query == nil {
		return true
	}
	d := dividing{rounds: !m.MariaDB && m.ServerVersion >= 90000}
	for q := st.Query; ; q = q.Parts[0] {
		if q.Select == nil && len(q.Parts) > 0 {
			continue
		}
		if slices.ContainsFunc(q.With, d.within) || d.tables(q.Select.From) {
			return true
		}
		for _, f := range q.Select.Fields {
			if f.Expr == nil {
				return false // columns of tables have their digits
			}
		}
		return k < len(q.Select.Fields) && d.expr(q.Select.Fields[k].Expr)
	}
}

// dividing finds values that have more digits than they show.
type dividing struct{ rounds bool } // the server rounds divisions

func (d dividing) expr(e *Expr) bool {
	switch {
	case e.Op == Aggregate && e.Name == "avg", e.Op == Call && e.Name == "div" && !d.rounds:
		return true
	case e.Op == Call && fixing[e.Name]:
		return false
	case e.Op == Scalar && e.Query != nil && (e.Query.Select == nil || d.fields(e.Query.Select)):
		return true
	}
	return slices.ContainsFunc(e.Args, d.expr)
}

func (d dividing) fields(s *Select) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Expr != nil && d.expr(f.Expr) })
}

// within reports whether columns of a query that a FROM clause names have more digits: no temporary table need be made of it, which would cut them.
func (d dividing) within(q *Query) bool {
	s := q.Select
	if s == nil || s.Distinct || s.Windows || len(s.Group) > 0 || q.Limit != nil || slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Expr.Has(Aggregate, Window) }) {
		return false
	}
	return d.fields(s) || d.tables(s.From)
}

func (d dividing) tables(f *From) bool {
	switch {
	case f == nil:
		return false
	case f.Join != nil:
		return d.tables(f.Join.Left) || d.tables(f.Join.Right)
	}
	return f.Derived != nil && d.within(f.Derived)
}
