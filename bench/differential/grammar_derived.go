package differential

import "fmt"

// derived makes a query of another query: a derived table or a common table expression.
func (g *grammar) derived() *statement {
	switch g.IntN(8) {
	case 0:
		return g.recursive()
	case 1:
		return g.expressionTables()
	}
	inner, columns := g.innerQuery()
	name := g.terms.name("q")
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
		s := new(statement)
		s.root = phrase(with, words("SELECT COUNT(*), MAX("+name+"."+columns[0]+"), SUM("+name+"."+columns[len(columns)-1]+") FROM"), from)
		return s
	}
	o := g.terms.orderBy(nil, list)
	return o.apply(&statement{root: phrase(with, words("SELECT"), items, words("FROM"), from, where, o.order, o.limit)})
}

// innerQuery makes a query of one table whose rows are fixed, with the names of its columns, all of them numbers.
func (g *grammar) innerQuery() (query *part, columns []string) {
	sc, from := g.terms.from()
	src := sc.sources[0]
	a, d := sc.columnOf(src, src.column("a")), sc.columnOf(src, src.column("d"))
	switch g.IntN(3) {
	case 0:
		return phrase(words("SELECT"), a, words("AS x, COUNT(*) AS y FROM"), from, g.terms.where(sc), words("GROUP BY"), a), []string{"x", "y"}
	case 1:
		limit := maybe(g.terms.limit())
		order := maybe(phrase(words("ORDER BY"), &part{kids: sc.primary(), sep: ", "}))
		order.neededBy = limit
		return phrase(words("SELECT"), a, words("AS x,"), d, words("AS y FROM"), from, g.terms.where(sc), order, limit), []string{"x", "y"}
	}
	return phrase(words("SELECT DISTINCT"), a, words("AS x,"), d, words("AS y FROM"), from, g.terms.where(sc)), []string{"x", "y"}
}

// recursive makes a query of a table and numbers that are counted up.
func (g *grammar) recursive() *statement {
	sc, from := g.terms.from()
	src := sc.sources[0]
	sc.bare = false
	total := append(sc.primary(), words("num.n"))
	o := g.terms.orderBy(nil, total)
	key := sc.columnOf(src, src.lastKey())
	with := words(fmt.Sprintf("WITH RECURSIVE num AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM num WHERE n < %d)", 2+g.IntN(5)))
	return o.apply(&statement{root: phrase(with, words("SELECT num.n,"), key, words("FROM num JOIN"), from, words("ON num.n ="), sc.columnOf(src, src.column("a")), g.terms.where(sc), o.order, o.limit)})
}

// expressionTables makes a query of two common table expressions, the second of which reads the first, or both a table.
func (g *grammar) expressionTables() *statement {
	first, columns := g.innerQuery()
	p, q := g.terms.name("p"), g.terms.name("q")
	second := words("SELECT x, y FROM " + p + " WHERE x > 1")
	written := phrase(words("SELECT x, y FROM ("), first, words(") AS "+p+" WHERE x > 1"))
	if g.one(2) {
		second, _ = g.innerQuery()
		written = second
	}
	with := phrase(words("WITH "+p+" AS ("), first, words("), "+q+" AS ("), second, words(")"))
	s := new(statement)
	switch g.IntN(5) {
	case 0:
		s.root = phrase(with, words("SELECT COUNT(*), SUM("+columns[0]+") FROM "+q))
	case 2: // each of them several times
		s.root = phrase(with, words("SELECT COUNT(*), SUM(one.x), MIN(other.y) FROM "+q+" AS one JOIN "+q+" AS other ON one.x = other.y WHERE one.x IN (SELECT x FROM "+p+")"))
	case 3:
		s.root = phrase(with, words("SELECT x, y FROM "+q+" WHERE y = (SELECT MAX(y) FROM "+q+")"))
		s.written = phrase(with, words("SELECT x, y FROM "+q+" WHERE y = (SELECT MAX(y) FROM ("), written, words(") AS "+q+")"))
	case 1:
		s.root = phrase(with, words("SELECT "+q+".x, COUNT(*) AS n FROM "+q+" GROUP BY "+q+".x"))
	default:
		s.root = phrase(with, words("SELECT x, y FROM "+q+" UNION SELECT 1, 2"))
	}
	return s
}
