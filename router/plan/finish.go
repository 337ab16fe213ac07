package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Finish collects rows, and one server runs the whole statement on them.
type Finish struct {
	gathers []Gather
	// rest are the other tables: they are read where they are, unless the statement ends on a connection of its own.
	rest []Gather
	// tableOnly names a clause that means something that collected rows have not; "" without one.
	tableOnly string
	// partial, if set, is how the shards' groups are collected in place of all rows.
	partial *partialShape
}

// Gather is the collection of the rows of one reference into a scratch table.
type Gather struct {
	Ref     *Ref
	Columns []string // that the statement names; nil: all
	// Where is the part of the statement's condition that concerns this table alone; empty for all rows.
	Where []sqlparse.Span
	// Key are the columns of the primary key where the scratch table needs one; nil for none.
	Key []string
	// Indexes are the columns of its indexes, each of one or several.
	Indexes [][]string
}

// NotWatched lists the tables of the text that a Finish may have to collect and whose places in it are not known, as no table of their
// names was watched for.
func (p *Plan) NotWatched() (names []string) {
	if f, is := p.Operator.(*Finish); is {
		for _, g := range f.rest {
			if g.Ref.Parsed.At.Empty() {
				names = append(names, g.Ref.Parsed.Name)
			}
		}
	}
	return names
}

// finishPlan collects the rows of every reference that is not whole on the node where the statement ends, and lets that
// server run the statement. why says what kept a plain merge from being right.
func (b *builder) finishPlan(why string, info *blockInfo, n *precision) {
	p := b.p
	p.Reason = why
	st := p.Statement
	p.Operator = Refused{}
	if !p.ReadOnly {
		p.Reason = why + ", with locks"
		return
	}
	if !p.Mode.MariaDB {
		if name := usedTwice(st); name != "" {
			// MySQL reads a temporary table once in a statement. MySQL manual: "TEMPORARY Table Problems".
			p.Reason = "the common table expression " + name + " is used twice, " + why
			return
		}
	}
	names, every := st.Columns()
	f, met, filters := &Finish{}, comparedIn(st.Query, p.Refs), filters(st, p.Mode, p.Refs, b.analyzer.blocks)
	for _, r := range p.Refs {
		if r.Table.Kind != router.Sharded {
			f.rest = append(f.rest, Gather{Ref: r, Where: filters[r], Key: r.scratchKey(p.Mode.MariaDB, nil)})
			continue
		}
		if r.Columns == nil || r.Parsed.At.Empty() {
			p.Reason = why + ": the columns of " + r.Parsed.Name + " are not known"
			return
		}
		g := Gather{Ref: r, Where: filters[r]}
		for k := range r.Columns {
			if every || names[lower(r.Columns[k].Name)] {
				g.Columns = append(g.Columns, r.Columns[k].Name)
			}
		}
		for k := range r.invisible {
			if name := r.invisible[k].Name; names[lower(name)] {
				if every {
					p.Reason = why + ": the invisible column " + name + " of " + r.Parsed.Name + " beside a star or NATURAL JOIN"
					return
				}
				g.Columns = append(g.Columns, name)
			}
		}
		if len(g.Columns) == 0 {
			g.Columns = []string{r.Columns[0].Name}
		}
		if r.Parsed.Clause != "" {
			f.tableOnly = r.Parsed.Clause + " of " + r.Parsed.Name
		}
		g.Key = r.scratchKey(p.Mode.MariaDB, g.Columns)
		if len(g.Key) == 0 {
			g.Indexes = met.of(r, g.Columns)
		}
		f.gathers = append(f.gathers, g)
	}
	if st.Match && f.tableOnly == "" {
		f.tableOnly = "MATCH ... AGAINST, which needs a full-text index"
	}
	if st.Query.Select != nil && b.analyzer.apart == "" && len(info.refs) > 0 {
		f.partial = partial(st, p.Mode, p.Refs, n)
	}
	p.Operator = f
}

// scratchKey finds the primary key of a reference that is grouped on MySQL, which by it knows that GROUP BY id fixes the other columns,
// as ONLY_FULL_GROUP_BY wants. collected are the columns that a scratch table of a sharded one has. Rows of several shards have
// different keys if the sharding key is among them, and equal values are on one shard: of texts they need not be.
func (r *Ref) scratchKey(mariaDB bool, collected []string) (key []string) {
	if mariaDB || r.block == nil || len(r.block.Group) == 0 {
		return nil
	}
	sharded := r.Table.Kind == router.Sharded
	columns := r.columns()
	for k := range columns {
		d := &columns[k]
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		if !exact(d) || sharded && !slices.Contains(collected, d.Name) {
			return nil
		}
		key = append(key, d.Name)
	}
	for _, name := range r.Table.Keys {
		if !slices.ContainsFunc(key, func(c string) bool { return lower(c) == name }) {
			return nil
		}
	}
	return key
}

// exact tells whether values of the column that are equal are written alike, and short enough for a key.
func exact(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeDecimal, mysql.TypeNewDecimal, mysql.TypeDate, mysql.TypeNewDate, mysql.TypeDatetime:
		return true
	}
	return isInteger(d)
}

// usedTwice finds a common table expression that is named more than once.
func usedTwice(st *sqlparse.Statement) string {
	count := map[string]int{}
	for _, t := range st.Tables {
		if name := lower(t.Name); t.DB == "" && st.CTENames[name] {
			if count[name]++; count[name] > 1 {
				return t.Name
			}
		}
	}
	return ""
}

// filterBlocks is how many query blocks a statement may have for their conditions to be looked for: each takes a walk over its text, subqueries included.
const filterBlocks = 32

// filters finds the conditions of WHERE, in each query block, that concern one table of the block alone, which is not optional there.
func filters(st *sqlparse.Statement, m sqltext.Mode, refs []*Ref, blocks []*scope) map[*Ref][]sqlparse.Span {
	spans := map[*Ref][]sqlparse.Span{}
	if len(blocks) > filterBlocks {
		return spans
	}
	for _, block := range blocks {
		if block.block.Where != nil {
			blockFilters(st, m, refs, block, spans)
		}
	}
	for r := range spans {
		if r.nullable {
			delete(spans, r)
		}
	}
	return spans
}

// blockFilters is filters of one block.
func blockFilters(st *sqlparse.Statement, m sqltext.Mode, refs []*Ref, block *scope, spans map[*Ref][]sqlparse.Span) {
	var own []*Ref
	for _, r := range refs {
		if r.block == block.block && !r.Parsed.At.Empty() {
			own = append(own, r)
		}
	}
	if len(own) == 0 {
		return
	}
	around, ok := sqlparse.BlockAround(st.Text, own[0].Parsed.At, m)
	if !ok {
		return
	}
	text := st.Text[around.Pos:around.End]
	c, ok := sqlparse.SelectClauses(text, m)
	if !ok {
		return
	}
	parts := sqlparse.Conjuncts(text, c.Where, m)
	exprs := conjunctList(block.block.Where)
	if len(parts) != len(exprs) {
		return
	}
	for k, e := range exprs {
		if block.outer != nil && !quiet(e) || !stable(e) || e.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify, sqlparse.Variable) {
			continue
		}
		part := sqlparse.Span{Pos: around.Pos + parts[k].Pos, End: around.Pos + parts[k].End}
		var only *Ref
		columns, one := 0, true
		e.Walk(func(x *sqlparse.Expr) bool {
			if x.Op == sqlparse.Column {
				found, _, at := block.resolve(x)
				one = one && found != nil && at == block && block.certain(x, at) && (columns == 0 || found == only)
				only = found
				columns++
			}
			return one
		})
		switch {
		case !one:
		case columns == 0:
			for _, r := range own {
				spans[r] = append(spans[r], part)
			}
		default:
			spans[only] = append(spans[only], part)
		}
	}
}

// quiet reports whether a condition gives no error and no warning, whatever row it looks at: one of a subquery goes to rows that the server may never look at.
func quiet(e *sqlparse.Expr) bool {
	return e.All(func(x *sqlparse.Expr) bool {
		switch x.Op {
		case sqlparse.Column, sqlparse.Const, sqlparse.Param, sqlparse.Row, sqlparse.And, sqlparse.Or, sqlparse.Not, sqlparse.Eq, sqlparse.NullSafeEq, sqlparse.Ne, sqlparse.Lt, sqlparse.Le,
			sqlparse.Gt, sqlparse.Ge, sqlparse.In, sqlparse.Between, sqlparse.IsNull:
			return true
		}
		return x.Op == sqlparse.Call && x.Name == "like"
	})
}

// conjunctList takes a condition apart at its ANDs.
func conjunctList(e *sqlparse.Expr) (list []*sqlparse.Expr) {
	var walk func(*sqlparse.Expr)
	walk = func(e *sqlparse.Expr) {
		if e.Op != sqlparse.And {
			list = append(list, e)
			return
		}
		walk(e.Args[0])
		walk(e.Args[1])
	}
	walk(e)
	return list
}

// quote writes a name as an identifier: one that unquotable lets pass.
func (p *Plan) quote(name string) string {
	text, _ := sqltext.QuoteIdent(name, p.Mode)
	return text
}

// unquotable refuses a statement whose plan would write a name that the servers would read otherwise in the client's character set. There
// the names of the configuration and of columns, which are UTF-8, are other characters too.
func (p *Plan) unquotable() error {
	if !p.Mode.Charset.Multibyte() {
		return nil
	}
	const why = "the name %q cannot be written in the client's character set: use utf8mb4"
	for _, r := range p.Refs {
		names := []string{r.Parsed.Name, r.Parsed.Label(), r.Table.DB, r.Table.Name}
		for _, s := range r.Table.Shards {
			names = append(names, s.DB, s.Table)
		}
		for k, name := range names {
			if _, ok := sqltext.QuoteIdent(name, p.Mode); !ok || k > 1 && r.Table.Rule != nil && !sqltext.IsASCII(name) {
				return Refuse(why, name)
			}
		}
	}
	var columns []string
	switch o := p.Operator.(type) {
	case *Finish:
		for _, gathers := range [...][]Gather{o.gathers, o.rest} {
			for _, g := range gathers {
				columns = append(append(columns, g.Columns...), g.Key...)
			}
		}
	case *Choose:
		columns = o.Keys
	}
	if p.moves != nil {
		columns = append(columns, p.Target.Table.Keys...)
	}
	for _, name := range columns {
		if !sqltext.IsASCII(name) {
			return Refuse(why, name)
		}
	}
	return nil
}

// keyFlags are the flags of a definition that say what keys a column is part of. MySQL manual: "Column Definition Flags".
const keyFlags = 2 | 4 | 8 | autoIncrementFlag | 0x4000

// IndexFlags are those of them that indexes which are no keys give a column.
const IndexFlags = 8 | 0x4000

// KeyFlags gives the key flags of a reference's columns, which a scratch table has not; nil where the server would not show
// them either.
func (p *Plan) KeyFlags(r *Ref) map[string]uint16 {
	q := p.Statement.Query
	if q == nil || q.Select == nil || r.sub || r.block != q.Select || len(q.Select.Group) > 0 || q.Select.Distinct || fieldsHave(q.Select, sqlparse.Aggregate) {
		return nil
	}
	return r.OtherKeys()
}

// OtherKeys gives the key flags of a reference's columns: where a scratch table has the primary key, it has neither the other ones nor the
// AUTO_INCREMENT.
func (r *Ref) OtherKeys() map[string]uint16 {
	flags := map[string]uint16{}
	for _, d := range r.columns() {
		if f := d.Flags & keyFlags; f != 0 {
			flags[d.Name] = f
		}
	}
	return flags
}
