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
	// tableOnly names what means something that collected rows have not; "" without one.
	tableOnly string
	// settledOnly says that the statement means something on collected rows only without its settled conditions, and inPlace that it does not with more tables collected.
	settledOnly, inPlace bool
	// lock is the clause by which the statement locks what it reads, empty without: so the collected rows are.
	lock sqlparse.Span
	// stays says that it ends on the first node of its first table's rule, whichever has the most rows.
	stays bool
	// partial, if set, is how the shards' groups are collected in place of all rows.
	partial *partialShape
	// narrowed, if set, is what is collected where settled conditions need not be looked at again.
	narrowed *narrowed
}

// narrowed is a Finish without the columns and the tables that only settled conditions name.
type narrowed struct {
	*settled
	gathers, rest []Gather
}

// Gather is the collection of the rows of one reference into a scratch table.
type Gather struct {
	Ref     *Ref
	Columns []string // that the statement names; nil: all
	// Invisible are those of them that no star of the statement stands for, where it has one.
	Invisible []string
	// Where is what the statement's conditions say of this table's rows by themselves; empty for all rows.
	Where []filter
	// beside are the tables of subqueries in Where, which lie with this one's shards.
	beside []*Ref
	// Key are the columns of the primary key where the scratch table needs one; nil for none.
	Key []string
	// Indexes are the columns of its indexes, each of one or several.
	Indexes [][]string
	// distinct: equal rows of a shard are collected once.
	distinct bool
	// copies is how many copies of the scratch table the statement reads.
	copies int
}

// NotWatched lists the tables of the text whose places in it a Finish has to know and does not, as no table of their names was watched for: those that it may have to collect, and common table
// expressions.
func (p *Plan) NotWatched() (names []string) {
	names = slices.Clone(p.unplaced)
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
	lock, locks := sqlparse.LockingClause(st.Text, p.Mode)
	if !p.ReadOnly && (!locks || st.Query.Select == nil) {
		p.Reason = why + ", with locks"
		return
	}
	copies := map[*Ref]int{}
	if !p.Mode.MariaDB && len(st.CTENames) > 0 {
		again, apart := b.writeAgain()
		if left := copiesMax; apart == "" && !p.countWritten(again, sqlparse.Span{End: len(st.Text)}, copies, &left) {
			apart = "common table expressions are used too often"
		}
		if apart != "" {
			p.Reason = apart + ": " + why
			return
		}
		p.again = again
	}
	f, met, filters, names := &Finish{lock: lock, stays: p.staysPut()}, comparedIn(st.Query, p.Refs), b.analyzer.filters(p), b.analyzer.named(st, nil)
	collectWith(p.Refs, filters)
	var references []Gather
	for _, r := range p.Refs {
		if r.Table.Kind != router.Sharded && !r.collected {
			g := Gather{Ref: r, Where: filters[r], Key: r.scratchKey(p.Mode.MariaDB, nil), copies: max(0, copies[r]-1)}
			g.listed(names)
			f.rest = append(f.rest, g)
			continue
		}
		if r.Columns == nil || r.Parsed.At.Empty() {
			p.Reason = why + ": the columns of " + r.Parsed.Name + " are not known"
			return
		}
		g := Gather{Ref: r, Where: filters[r], beside: besides(filters[r]), copies: max(0, copies[r]-1)}
		for k := range r.Columns {
			if names.every || names.names(r, r.Columns[k].Name) {
				g.Columns = append(g.Columns, r.Columns[k].Name)
			}
		}
		for k := range r.invisible {
			if name := r.invisible[k].Name; names.names(r, name) {
				g.Columns = append(g.Columns, name)
				if names.every {
					g.Invisible = append(g.Invisible, name)
				}
			}
		}
		if len(g.Columns) == 0 {
			g.Columns = []string{r.Columns[0].Name}
		}
		b.shape(&g, met)
		if r.collected {
			references = append(references, g)
		} else {
			f.gathers = append(f.gathers, g)
		}
	}
	f.gathers = append(f.gathers, references...)
	if st.Query.Select != nil && b.analyzer.apart == "" && len(info.refs) > 0 && p.ReadOnly {
		f.partial = partial(st, p.Mode, p.Refs, n)
	}
	s := b.settle(filters)
	if s != nil {
		f.narrowed = b.narrow(f, s, met)
	}
	if t := b.analyzer.fullText(st); st.Matches > 0 {
		ok, any, inPlace := t.onlySettled(s)
		if f.settledOnly, f.inPlace = any, inPlace; !ok {
			f.tableOnly = needsFullText
		}
	}
	p.Operator = f
}

// needsFullText is why a statement means nothing on collected rows.
const needsFullText = "MATCH ... AGAINST, which needs a full-text index"

// listed names the columns of a table on every node where a star does not do to collect it: it leaves invisible ones out, and gives FLOATs in six digits. Of a table without a rule nobody hears
// when its columns change.
func (g *Gather) listed(names *named) {
	r := g.Ref
	for k := range r.invisible {
		if name := r.invisible[k].Name; names.names(r, name) {
			g.Invisible = append(g.Invisible, name)
		}
	}
	if len(g.Invisible) == 0 && !slices.ContainsFunc(r.Columns, func(d mysql.ColumnDefinition41) bool { return d.Type == mysql.TypeFloat }) {
		return
	}
	for k := range r.Columns {
		g.Columns = append(g.Columns, r.Columns[k].Name)
	}
	g.Columns = append(g.Columns, g.Invisible...)
}

// shape decides on the keys of the scratch table of g, by its columns, and whether it has equal rows once.
func (b *builder) shape(g *Gather, met compared) {
	if g.Key = g.Ref.scratchKey(b.p.Mode.MariaDB, g.Columns); len(g.Key) == 0 {
		g.Indexes = met.of(g.Ref, g.Columns)
	}
	g.distinct = b.analyzer.members[g.Ref.block] && !g.unique() && !slices.ContainsFunc(g.Columns, func(name string) bool {
		return !exact(g.Ref.column(name)) // equal texts may differ
	})
}

// unique reports whether no two of the collected rows of a shard are equal, as far as is known.
func (g *Gather) unique() bool {
	keys := 0
	for _, d := range g.Ref.columns() {
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		if keys++; !slices.Contains(g.Columns, d.Name) {
			return false
		}
	}
	return keys > 0
}

// narrow returns what of f is to be collected without settled conditions.
func (b *builder) narrow(f *Finish, s *settled, met compared) *narrowed {
	n, names := &narrowed{settled: s}, b.analyzer.named(b.p.Statement, s)
	for _, g := range f.gathers {
		if s.gone[g.Ref] {
			continue
		}
		if !names.every {
			all := g.Columns
			g.Columns = slices.DeleteFunc(slices.Clone(all), func(column string) bool { return !names.names(g.Ref, column) })
			if len(g.Columns) == 0 {
				g.Columns = all[:1]
			}
			b.shape(&g, met)
		}
		n.gathers = append(n.gathers, g)
	}
	for _, g := range f.rest {
		if !s.gone[g.Ref] {
			n.rest = append(n.rest, g)
		}
	}
	return n
}

// scratchKey finds the primary key of a reference that is grouped on MySQL, which by it knows that GROUP BY id fixes the other columns,
// as ONLY_FULL_GROUP_BY wants. collected are the columns that a scratch table of a sharded one has. Rows of several shards have
// different keys if the sharding key is among them, and equal values are on one shard: of texts they need not be.
func (r *Ref) scratchKey(mariaDB bool, collected []string) (key []string) {
	if mariaDB || r.block == nil || len(r.block.Group) == 0 {
		return nil
	}
	columns := r.columns()
	for k := range columns {
		d := &columns[k]
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		if !exact(d) || collected != nil && !slices.Contains(collected, d.Name) {
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
