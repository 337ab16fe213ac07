package differential

import "fmt"

// source is a table as a FROM clause names it.
type source struct {
	*table
	alias string // never ""
}

// scope is the tables whose columns an expression may use.
type scope struct {
	sources []source
	bare    bool // columns are written without their table
}

// from names one random table.
func (g *terms) from() (scope, *part) {
	return g.fromTable(g.table())
}

// table draws a table, the sharded ones more often.
func (g *terms) table() *table {
	return g.schema.tables[min(g.IntN(len(g.schema.tables)), g.IntN(len(g.schema.tables)+1))]
}

// tableNamed gives one of the tables, which every schema has.
func (g *terms) tableNamed(name string) *table {
	for _, t := range g.schema.tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

func (g *terms) fromTable(t *table) (scope, *part) {
	src := source{t, t.name}
	p := g.tableName(t)
	if g.one(3) {
		src.alias = g.name("t")
		p = phrase(p, words("AS "+src.alias))
	}
	return scope{[]source{src}, !g.one(3)}, p
}

// tableName is the table's name, with its database now and then.
func (g *terms) tableName(t *table) *part {
	if g.one(6) {
		return join(&part{isDB: true}, words("."+t.name))
	}
	return words(t.name)
}

// columnOf writes a column of a source.
func (sc scope) columnOf(src source, c *column) *part {
	if sc.bare {
		return words(c.name)
	}
	return words(src.alias + "." + c.name)
}

// column draws a column that fits.
func (g *terms) column(sc scope, fits func(*column) bool) (source, *column) {
	for range 40 {
		src := pickOne(g.dice, sc.sources)
		c := pickOne(g.dice, src.columns)
		if fits(c) {
			return src, c
		}
	}
	src := sc.sources[0]
	return src, src.column("a")
}

// primary are the keys of all sources, which together tell any two rows apart.
func (sc scope) primary() []*part {
	var list []*part
	for _, src := range sc.sources {
		for _, c := range src.keys {
			list = append(list, sc.columnOf(src, c))
		}
	}
	return list
}

// ordering is the clauses at the end of a query.
type ordering struct {
	order, total, limit *part
}

func (o ordering) apply(s *statement) *statement {
	s.order, s.total, s.limit = o.order, o.total, o.limit
	return s
}

// orderBy makes ORDER BY and LIMIT, either of which may be missing. keys is what to sort by first, total what makes the order
// complete. Where there is a LIMIT the complete order stays.
func (g *terms) orderBy(keys, total []*part) ordering {
	var o ordering
	if g.one(2) {
		o.limit = maybe(g.limit())
	}
	if o.limit == nil && g.one(3) {
		return o
	}
	for _, k := range total {
		k.optional = false
	}
	o.total = maybe(&part{kids: total, sep: ", ", neededBy: o.limit})
	if g.one(4) {
		o.total.kids = nil
		for _, k := range total {
			o.total.kids = append(o.total.kids, phrase(k, words("DESC")))
		}
	}
	sorts := listOf(0)
	for _, k := range keys {
		sorts.kids = append(sorts.kids, phrase(k, maybe(words(pickOne(g.dice, []string{"ASC", "DESC"})))))
	}
	sorts.kids = append(sorts.kids, o.total)
	o.order = maybe(phrase(words("ORDER BY"), sorts))
	o.order.neededBy = o.limit
	return o
}

// limit makes LIMIT in all its forms.
func (g *terms) limit() *part {
	n, skip := constant(intValue(int64(pickOne(g.dice, []int{0, 1, 2, 3, 5, 10, 100})))), constant(intValue(int64(pickOne(g.dice, []int{0, 1, 2, 5, 40}))))
	switch g.IntN(4) {
	case 0:
		return phrase(words("LIMIT"), n, words("OFFSET"), skip)
	case 1:
		return phrase(words("LIMIT"), join(skip, words(", "), n))
	}
	return phrase(words("LIMIT"), n)
}

// name is a new name.
func (g *terms) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *terms) call(name string, arg *part) *part {
	return join(words(name+"("), arg, words(")"))
}

// smallOf names a column with small numbers.
func (g *terms) smallOf(sc scope) string {
	return sc.columnOf(sc.sources[0], sc.sources[0].column("a")).text
}
