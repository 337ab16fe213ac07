package plan

import (
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/rule"
)

func lower(s string) string { return strings.ToLower(s) }

// references makes a Ref of every table of a statement that has a place, and reports whether one of them has a rule.
func references(st *sqlparse.Statement, m sqltext.Mode, r *router.Router, currentDB string, c Catalog) (refs []*Ref, any bool) {
	for _, t := range st.Tables {
		db := t.DB
		if db == "" {
			db = currentDB
			if st.CTENames[lower(t.Name)] {
				continue
			}
		}
		table := r.Table(db, t.Name)
		if table == nil {
			if builtin(db) || lower(t.Name) == "dual" {
				continue
			}
			table = unsharded(r.Default(), db, t.Name)
		} else {
			any = true
		}
		ref := &Ref{Table: table, Parsed: t, all: rule.All(len(table.Shards)), index: len(refs), tuple: make([][]operand, len(table.Keys))}
		if table.Rule != nil {
			ref.Columns, ref.invisible = c(table)
		}
		for _, key := range table.Keys {
			ref.key = append(ref.key, KeyColumn(ref.columns(), key, m))
		}
		refs = append(refs, ref)
	}
	return refs, any
}

// describe asks for the columns of a table without a rule: few statements need them.
func (b *builder) describe(r *Ref) {
	if r.Columns == nil && r.Table.Rule == nil {
		r.Columns, r.invisible = b.catalog(r.Table)
	}
}

// columns gives the columns of a reference, invisible ones last.
func (r *Ref) columns() []mysql.ColumnDefinition41 {
	if len(r.invisible) == 0 {
		return r.Columns
	}
	return slices.Concat(r.Columns, r.invisible)
}

// builtin tells whether a database is the server's own: every server has it.
func builtin(db string) bool {
	switch lower(db) {
	case "information_schema", "performance_schema", "mysql", "sys":
		return true
	}
	return false
}

// unsharded is the place of a table without a rule.
func unsharded(node, db, name string) *router.Table {
	return &router.Table{DB: db, Name: name, Kind: router.Single, Shards: []router.Shard{{Node: node, DB: db, Table: name}}, Nodes: []string{node}}
}

// column finds a column's definition; nil if it is not there or not known.
func (r *Ref) column(name string) *mysql.ColumnDefinition41 {
	for _, columns := range [...][]mysql.ColumnDefinition41{r.Columns, r.invisible} {
		for k := range columns {
			if router.SameColumn(columns[k].Name, name) {
				return &columns[k]
			}
		}
	}
	return nil
}

// scope is what names in one query block mean.
type scope struct {
	outer   *scope
	entries []entry
	block   *sqlparse.Select
	budget  *budget
}

// entry is a table or a derived table of FROM.
type entry struct {
	label, db string
	ref       *Ref           // nil for a derived table
	derived   map[string]key // key columns that a derived table hands through, by name
}

// key is a key column of a reference.
type key struct {
	ref *Ref
	k   int
}

// resolve finds the reference that a column belongs to, and the scope it was found in. sure is false when that cannot be
// told.
func (s *scope) resolve(e *sqlparse.Expr) (r *Ref, d map[string]key, at *scope) {
	for ; s != nil; s = s.outer {
		if !s.budget.take(len(s.entries)) {
			return nil, nil, nil
		}
		var found *entry
		several := false
		for k := range s.entries {
			en := &s.entries[k]
			if !en.has(e, len(s.entries) == 1 && s.outer == nil) {
				continue
			}
			several = several || found != nil
			if found == nil {
				found = en
			}
		}
		if found != nil {
			if several && e.Table == "" {
				return nil, nil, nil
			}
			return found.ref, found.derived, s
		}
	}
	return nil, nil, nil
}

// has tells whether a column is the entry's. only: there is no other table that it could be of.
func (en *entry) has(e *sqlparse.Expr, only bool) bool {
	if e.Table != "" {
		return strings.EqualFold(en.label, e.Table) && (e.DB == "" || en.db == "" || strings.EqualFold(en.db, e.DB))
	}
	if en.ref == nil {
		_, is := en.derived[lower(e.Name)]
		return is || only
	}
	if en.ref.Columns == nil {
		return only || en.ref.keyOf(e.Name) >= 0
	}
	return en.ref.column(e.Name) != nil
}

// keyOf gives the number of a key column, -1 for another column.
func (r *Ref) keyOf(name string) int {
	for k, key := range r.Table.Keys {
		if router.SameColumn(key, name) {
			return k
		}
	}
	return -1
}

// key tells which key column of a sharded table an expression is; ref is nil when it is none.
func (s *scope) key(e *sqlparse.Expr) (key, *scope) {
	if e == nil || e.Op != sqlparse.Column {
		return key{}, nil
	}
	r, derived, at := s.resolve(e)
	if derived != nil {
		return derived[lower(e.Name)], at
	}
	if r == nil || r.Table.Kind != router.Sharded {
		return key{}, nil
	}
	if k := r.keyOf(e.Name); k >= 0 {
		return key{r, k}, at
	}
	return key{}, nil
}

// definition finds the definition of a plain column; nil for anything else.
func (s *scope) definition(e *sqlparse.Expr) *mysql.ColumnDefinition41 {
	if e.Op != sqlparse.Column {
		return nil
	}
	r, _, _ := s.resolve(e)
	if r == nil {
		return nil
	}
	return r.column(e.Name)
}
