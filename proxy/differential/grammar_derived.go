package differential

import "fmt"

// derived makes a query of another query: a derived table or a common table expression.
func (g *grammar) derived() *statement {
	if g.one(5) {
		return g.recursive()
	}
	inner, columns, inexact := g.innerQuery()
	name := g.name("q")
	var list []*part
	for _, c := range columns {
		list = append(list, words(name+"."+c))
	}
	items, from := listOf(len(list), list...), join(words("("), inner, words(") AS "+name))
	var with *part
	if g.one(2) {
		with, from = phrase(words("WITH "+name+" AS ("), inner, words(")")), words(name)
	}
	var where *part
	switch g.IntN(4) {
	case 0:
		where = maybe(words(fmt.Sprintf("WHERE %s.%s > %d", name, columns[0], g.IntN(5))))
	case 1:
		from = phrase(from, words("JOIN ref ON ref.id = "+name+"."+columns[0]))
		items.kids = append(items.kids, words("ref.id"))
		list = append(list, words("ref.id"))
	case 2:
		s := &statement{inexact: inexact}
		s.root = phrase(with, words("SELECT COUNT(*), MAX("+name+"."+columns[0]+"), SUM("+name+"."+columns[len(columns)-1]+") FROM"), from)
		return s
	}
	o := g.orderBy(nil, list)
	if inexact { // a sum may be a tie on one side alone
		return &statement{root: phrase(with, words("SELECT"), items, words("FROM"), from, where), inexact: true}
	}
	return o.apply(&statement{root: phrase(with, words("SELECT"), items, words("FROM"), from, where, o.order, o.limit)})
}

// innerQuery makes a query of one table whose rows are fixed, with the names of its columns, all of them numbers.
func (g *grammar) innerQuery() (query *part, columns []string, inexact bool) {
	sc, from := g.from()
	src := sc.sources[0]
	a, d := sc.columnOf(src, src.column("a")), sc.columnOf(src, src.column("d"))
	switch g.IntN(3) {
	case 0:
		return phrase(words("SELECT"), a, words("AS x, COUNT(*) AS y FROM"), from, g.where(sc), words("GROUP BY"), a), []string{"x", "y"}, false
	case 1:
		limit := maybe(g.limit())
		order := maybe(phrase(words("ORDER BY"), &part{kids: sc.primary(), sep: ", "}))
		order.neededBy = limit
		return phrase(words("SELECT"), a, words("AS x,"), d, words("AS y FROM"), from, g.where(sc), order, limit), []string{"x", "y"}, false
	}
	return phrase(words("SELECT DISTINCT"), a, words("AS x,"), d, words("AS y FROM"), from, g.where(sc)), []string{"x", "y"}, false
}

// recursive makes a query of a table and numbers that are counted up.
func (g *grammar) recursive() *statement {
	sc, from := g.from()
	src := sc.sources[0]
	sc.bare = false
	total := append(sc.primary(), words("num.n"))
	o := g.orderBy(nil, total)
	key := sc.columnOf(src, src.keys[len(src.keys)-1])
	with := words(fmt.Sprintf("WITH RECURSIVE num AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM num WHERE n < %d)", 2+g.IntN(5)))
	return o.apply(&statement{root: phrase(with, words("SELECT num.n,"), key, words("FROM num JOIN"), from, words("ON num.n ="), sc.columnOf(src, src.column("a")), g.where(sc), o.order, o.limit)})
}

// window makes a query with window functions whose values do not depend on the order of ties.
func (g *grammar) window() *statement {
	sc, from := g.from()
	src := sc.sources[0]
	a := sc.columnOf(src, src.column("a"))
	list := listOf(1)
	for _, key := range sc.primary() {
		list.kids = append(list.kids, key)
	}
	list.least = len(list.kids)
	primary := func() *part { return &part{kids: sc.primary(), sep: ", "} }
	partition := func() *part {
		src, c := g.column(sc, (*column).sortable)
		return maybe(phrase(words("PARTITION BY"), sc.columnOf(src, c)))
	}
	for range 1 + g.IntN(2) {
		var f, over *part
		switch g.IntN(5) {
		case 0:
			f, over = words("ROW_NUMBER()"), phrase(partition(), words("ORDER BY"), primary())
		case 1:
			f, over = words(pickOne(g, []string{"RANK()", "DENSE_RANK()"})), phrase(partition(), words("ORDER BY"), a)
		case 2:
			f, over = g.call(pickOne(g, []string{"SUM", "COUNT", "MIN", "MAX"}), a), partition()
		case 3:
			f, over = join(words(pickOne(g, []string{"LAG(", "LEAD("})), a, words(")")), phrase(partition(), words("ORDER BY"), primary())
		default:
			f, over = g.call("SUM", a), phrase(partition(), words("ORDER BY"), primary(), maybe(words("ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")))
		}
		list.kids = append(list.kids, phrase(f, words("OVER ("), over, words(") AS "+g.name("w"))))
	}
	o := g.orderBy(nil, sc.primary())
	return o.apply(&statement{root: phrase(words("SELECT"), list, words("FROM"), from, g.where(sc), o.order, o.limit)})
}
