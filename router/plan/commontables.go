package plan

import (
	"slices"
	"strconv"

	"kingshard/mysql/sqlparse"
)

// MySQL opens a temporary table once in a statement, and the tables of a common table expression once for each reference to it. MySQL manual: "TEMPORARY Table Problems". So of several references
// all but the first have the expression in their place, over copies of the collected tables:
//
//	WITH a AS (SELECT …) SELECT … FROM a JOIN (WITH a AS (SELECT …) SELECT * FROM a) AS b

// written is a reference to a common table expression in whose place the expression is written.
type written struct {
	name        string
	definitions []sqlparse.Span // those that it needs, its own last
	recursive   bool
	alias       bool // the name is to follow as an alias
}

// copiesMax is how often the tables of a statement may be written.
const copiesMax = 64

// commonTables are those of a statement's WITH clause.
type commonTables struct {
	st         *sqlparse.Statement
	list       []sqlparse.CommonTable
	references []*sqlparse.Table // to them, in the order of the text
	named      [][]int           // by expression: those that it names
}

// writeAgain finds the references of MySQL's statement that have their expression in their place. why says what keeps that from being done.
func (p *Plan) writeAgain() (edits []edit, why string) {
	c := commonTables{st: p.Statement}
	for _, t := range c.st.Tables {
		if t.DB == "" && c.st.CTENames[lower(t.Name)] {
			c.references = append(c.references, t)
		}
	}
	slices.SortFunc(c.references, func(a, b *sqlparse.Table) int { return a.At.Pos - b.At.Pos })
	twice := usedTwice(c.references)
	if twice == "" {
		return nil, ""
	}
	for _, t := range c.references {
		if t.At.Empty() {
			p.unplaced = append(p.unplaced, t.Name)
		}
	}
	recursive, ok := false, false
	if c.list, recursive, ok = sqlparse.CommonTables(c.st.Text, p.Mode); !ok || len(c.list) != len(c.st.Query.With) || len(p.unplaced) > 0 || c.nested() {
		return nil, "the common table expression " + twice + " is used twice, and where it stands in the text is not clear"
	}
	c.named = make([][]int, len(c.list))
	first := map[int]bool{}
	for _, t := range c.references {
		k, within := c.definitionOf(t), c.within(t)
		switch {
		case k < 0 || within >= 0 && (k > within || k == within && !recursive):
			return nil, "what the common table expression " + t.Name + " is is not clear" // it may be a table of that name
		case within >= 0:
			c.named[within] = append(c.named[within], k)
		}
		switch {
		case within == k:
		case !first[k]:
			first[k] = true
		default:
			w := &written{name: t.Name, alias: t.Alias == "", recursive: recursive}
			if !c.needed(k, w, map[int]bool{}) {
				return nil, "the common table expression " + t.Name + " is used twice, and may not give the same rows twice"
			}
			edits = append(edits, edit{span: t.At, again: w})
		}
	}
	return edits, ""
}

// usedTwice finds a common table expression that is named more than once.
func usedTwice(references []*sqlparse.Table) string {
	count := map[string]int{}
	for _, t := range references {
		if count[lower(t.Name)]++; count[lower(t.Name)] > 1 {
			return t.Name
		}
	}
	return ""
}

// nested reports whether there are WITH clauses but the statement's own.
func (c *commonTables) nested() (is bool) {
	c.st.Query.Each(func(q *sqlparse.Query) { is = is || q != c.st.Query && len(q.With) > 0 }, func(*sqlparse.Expr) {})
	return is
}

// definitionOf returns the number of the expression that a reference names, -1 if there is none.
func (c *commonTables) definitionOf(t *sqlparse.Table) int {
	return slices.IndexFunc(c.list, func(d sqlparse.CommonTable) bool { return lower(d.Name) == lower(t.Name) })
}

// within returns the number of the expression in which a reference stands; -1 if it is in none.
func (c *commonTables) within(t *sqlparse.Table) int {
	return slices.IndexFunc(c.list, func(d sqlparse.CommonTable) bool { return t.At.Pos >= d.Definition.Pos && t.At.Pos < d.Definition.End })
}

// needed adds expression k to w, and those that it names, which stand ahead of it. ok is false where one might give other rows when it is read once more.
func (c *commonTables) needed(k int, w *written, seen map[int]bool) (ok bool) {
	if seen[k] {
		return true
	}
	seen[k] = true
	same := true
	c.st.Query.With[k].Each(func(q *sqlparse.Query) {
		same = same && q.Limit == nil && (q.Select == nil || !q.Select.Windows)
	}, func(e *sqlparse.Expr) {
		same = same && stable(e) && !e.Has(sqlparse.Window)
	})
	if !same {
		return false
	}
	for _, of := range c.named[k] {
		if !c.needed(of, w, seen) {
			return false
		}
	}
	w.definitions = append(w.definitions, c.list[k].Definition)
	return true
}

// countWritten counts how often the tables of a piece of the text are written; ok is false where that is too often.
func (p *Plan) countWritten(edits []edit, piece sqlparse.Span, counts map[*Ref]int, left *int) (ok bool) {
	for _, r := range p.Refs {
		if at := r.Parsed.At; !at.Empty() && at.Pos >= piece.Pos && at.End <= piece.End {
			counts[r]++
			*left--
		}
	}
	for _, e := range edits {
		if e.span.Pos < piece.Pos || e.span.End > piece.End {
			continue
		}
		for _, definition := range e.again.definitions {
			if *left--; *left < 0 || !p.countWritten(edits, definition, counts, left) {
				return false
			}
		}
	}
	return *left >= 0
}

// again writes a common table expression in the place of a reference to it.
func (w *writer) again(x *written) {
	w.add("(WITH ")
	if x.recursive {
		w.add("RECURSIVE ")
	}
	for k, definition := range x.definitions {
		if k > 0 {
			w.add(", ")
		}
		w.copy(definition.Pos, definition.End)
	}
	w.add(" SELECT * FROM ", w.p.quote(x.name), ")")
	if x.alias {
		w.add(" AS ", w.p.quote(x.name))
	}
}

// copyOf returns the scratch table that is to be read at the place of a reference which comes next: the table itself or one of its copies.
func (w *writer) copyOf(r *Ref, table string) string {
	if w.times == nil {
		w.times = map[*Ref]int{}
	}
	n := w.times[r]
	w.times[r]++
	if n == 0 {
		return table
	}
	return CopyName(table, n)
}

// CopyName returns the name of a copy of a scratch table: copies are numbered from 1.
func CopyName(table string, copy int) string { return table + "_" + strconv.Itoa(copy) }
