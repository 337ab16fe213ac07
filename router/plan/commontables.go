package plan

import (
	"slices"
	"strconv"
	"strings"

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

// commonTables are those of a statement's WITH clauses.
type commonTables struct {
	b          *builder
	list       []commonTable
	references []*sqlparse.Table // to them, in the order of the text
}

// commonTable has where a common table expression stands in the text and in the tree, and which others it names.
type commonTable struct {
	sqlparse.CommonTable
	query     *sqlparse.Query
	clause    int           // the number of its WITH clause
	scope     sqlparse.Span // of the clause
	nested    bool          // the clause is not the statement's own
	recursive bool          // it may name itself
	names     []int         // the expressions that it names
}

// writeAgain finds the references of MySQL's statement that have their expression in their place. why says what keeps that from being done.
func (b *builder) writeAgain() (edits []edit, why string) {
	p := b.p
	c := commonTables{b: b}
	for _, t := range p.Statement.Tables {
		if t.DB == "" && p.Statement.CTENames[lower(t.Name)] {
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
	if len(p.unplaced) > 0 || !c.find() {
		return nil, "the common table expression " + twice + " is used twice, and where it stands in the text is not clear"
	}
	first := map[int]bool{}
	for _, t := range c.references {
		k, within := c.named(t)
		if k < 0 {
			return nil, "what the common table expression " + t.Name + " is is not clear" // it may be a table of that name
		}
		for _, other := range within {
			if other != k {
				c.list[other].names = append(c.list[other].names, k)
			}
		}
		switch {
		case slices.Contains(within, k):
		case !first[k]:
			first[k] = true
		default:
			w := &written{name: t.Name, alias: t.Alias == ""}
			if !c.needed(k, w, map[int]bool{}) {
				return nil, "the common table expression " + t.Name + " is used twice, and may not give the same rows twice"
			}
			edits = append(edits, edit{span: t.At, again: w})
		}
	}
	return edits, ""
}

// find finds the expressions in the text and in the tree; it returns false where it is not clear which is which.
func (c *commonTables) find() bool {
	st := c.b.p.Statement
	clauses, ok := sqlparse.WithClauses(st.Text, c.b.p.Mode)
	if !ok {
		return false
	}
	queries := map[string]*sqlparse.Query{}
	count := 0
	st.Query.Each(func(q *sqlparse.Query) {
		if len(q.With) > 0 {
			queries[lower(strings.Join(q.Names, "\x00"))] = q
			count++
		}
	}, func(*sqlparse.Expr) {})
	if count != len(clauses) || len(queries) != count { // or two of them have the same names
		return false
	}
	for k, clause := range clauses {
		var names []string
		for _, d := range clause.List {
			names = append(names, d.Name)
		}
		q := queries[lower(strings.Join(names, "\x00"))]
		if q == nil || len(q.With) != len(clause.List) {
			return false
		}
		for i, d := range clause.List {
			c.list = append(c.list, commonTable{CommonTable: d, query: q.With[i], clause: k, scope: clause.Scope, nested: q != st.Query, recursive: clause.Recursive})
		}
	}
	return true
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

// named returns the number of the expression that a reference names, -1 if that is not certain, and those in whose definitions the reference stands.
func (c *commonTables) named(t *sqlparse.Table) (found int, within []int) {
	found = -1
	for k := range c.list {
		d := &c.list[k]
		inside := t.At.Pos >= d.Definition.Pos && t.At.Pos < d.Definition.End
		if inside {
			within = append(within, k)
		}
		if lower(d.Name) != lower(t.Name) || t.At.Pos < d.scope.Pos || t.At.Pos >= d.scope.End {
			continue
		}
		if inside && !d.recursive || !inside && t.At.Pos < d.Definition.Pos { // it is not there yet: the name means something else
			return -1, nil
		}
		if found < 0 || d.scope.Pos > c.list[found].scope.Pos {
			found = k
		}
	}
	return found, within
}

// needed adds expression k to w, and those that it names, which stand ahead of it. ok is false where one might give other rows when it is read once more.
func (c *commonTables) needed(k int, w *written, seen map[int]bool) (ok bool) {
	if seen[k] {
		return true
	}
	seen[k] = true
	d := &c.list[k]
	if !c.b.analyzer.repeats(d.query) || d.nested && c.b.analyzer.correlated(d.query) {
		return false
	}
	for _, of := range d.names {
		if other := &c.list[of]; other.Definition.Pos > d.Definition.Pos && other.Definition.End <= d.Definition.End {
			continue // it is written with this one
		}
		if !c.needed(of, w, seen) {
			return false
		}
	}
	w.definitions, w.recursive = append(w.definitions, d.Definition), w.recursive || d.recursive
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
