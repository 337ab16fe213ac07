package differential

import "fmt"

// plain makes a query of one table.
func (g *grammar) plain() *statement {
	sc, from := g.terms.from()
	items, keys := g.items(sc)
	o := g.terms.orderBy(keys, sc.primary())
	var lock *part
	if g.one(25) {
		lock = maybe(words(pickOne(g.dice, []string{"FOR UPDATE", "LOCK IN SHARE MODE"})))
	}
	return o.apply(&statement{root: phrase(words("SELECT"), items, words("FROM"), from, g.terms.where(sc), o.order, o.limit, lock)})
}

// items makes a select list and what to sort by.
func (g *grammar) items(sc scope) (list *part, keys []*part) {
	list = listOf(1)
	if g.one(4) {
		list.kids = append(list.kids, words("*"))
		if !sc.bare && g.one(2) {
			list.kids[0] = words(sc.sources[0].alias + ".*")
		}
	}
	star := len(list.kids) > 0
	for len(list.kids) == 0 || g.one(2) && len(list.kids) < 5 {
		position := len(list.kids) + 1
		if star {
			position = 0
		}
		item, key := g.item(sc, position)
		list.kids = append(list.kids, item)
		if key != nil && g.one(2) {
			keys = append(keys, key)
		}
	}
	if g.one(3) { // by a column that may not be selected
		src, c := g.terms.column(sc, (*column).sortable)
		keys = append(keys, sc.columnOf(src, c))
	}
	return list, keys
}

// item makes one item of a select list, and a sort key that goes with it or nil. position is that in the list, 0 if it is
// unknown.
func (g *grammar) item(sc scope, position int) (item, key *part) {
	src, c := g.terms.column(sc, func(*column) bool { return true })
	col := sc.columnOf(src, c)
	alias := g.terms.name("e")
	byAlias := words(alias)
	if g.one(4) && position > 0 {
		byAlias = words(fmt.Sprint(position))
	}
	switch g.IntN(13) {
	case 0, 1:
		return phrase(col, words("AS "+alias)), sortBy(c, byAlias)
	case 5:
		if g.one(2) {
			return phrase(g.terms.scalarQuery(sc), words("AS "+alias)), byAlias
		}
	case 2:
		return phrase(g.terms.expression(sc), words("AS "+alias)), byAlias
	case 3:
		e := g.terms.expression(sc)
		return e, &part{kids: []*part{e}}
	case 4:
		return phrase(constant(pickOne(g.dice, []value{intValue(7), textValue("x"), floatValue(1.5), null})), words("AS "+alias)), nil
	}
	return col, sortBy(c, sc.columnOf(src, c))
}

func sortBy(c *column, p *part) *part {
	if !c.sortable() {
		return nil
	}
	return p
}

// distinct makes SELECT DISTINCT of one table.
func (g *grammar) distinct() *statement {
	sc, from := g.terms.from()
	list := listOf(1)
	var total []*part
	for len(list.kids) == 0 || g.one(2) && len(list.kids) < 3 {
		src, c := g.terms.column(sc, (*column).sortable)
		alias := g.terms.name("e")
		item := sc.columnOf(src, c)
		if g.terms.folds = g.terms.folds || c.folds; g.one(4) {
			item = g.terms.expression(sc)
			g.terms.folds = true
		}
		list.kids = append(list.kids, phrase(item, words("AS "+alias)))
		total = append(total, words(alias))
	}
	list.least = len(list.kids) // ORDER BY names them all
	o := g.terms.orderBy(nil, total)
	return o.apply(&statement{root: phrase(words("SELECT DISTINCT"), list, words("FROM"), from, g.terms.where(sc), o.order, o.limit), folds: g.terms.folds})
}

// loose makes a query sorted by a column with ties: LIMIT then leaves open which of them come.
func (g *grammar) loose() *statement {
	sc, from := g.terms.from()
	src, c := g.terms.column(sc, func(c *column) bool { return c.fixedOrder() && c.class == integer })
	s := &statement{keys: []string{"k"}}
	s.limit = maybe(g.terms.limit())
	s.order = maybe(phrase(words("ORDER BY k"), maybe(words(pickOne(g.dice, []string{"ASC", "DESC"})))))
	s.order.neededBy = s.limit
	item, _ := g.item(sc, 0)
	s.root = phrase(words("SELECT"), sc.columnOf(src, c), words("AS k,"), item, words("FROM"), from, g.terms.where(sc), s.order, s.limit)
	return s
}

// ofFunctions makes a query of functions that the server lists, of arguments of any type.
func (g *grammar) ofFunctions() *statement {
	sc, from := g.terms.from()
	g.terms.folds = true
	s := &statement{inexact: true, converts: true, folds: true}
	switch g.IntN(9) {
	case 0: // of nothing but constants
		s.root = phrase(words("SELECT"), listOf(1, g.terms.function(scope{}), g.terms.function(scope{})))
		return s
	case 1:
		name := g.terms.name("g")
		list := listOf(2, phrase(g.terms.function(sc), words("AS "+name)), words("COUNT(*) AS n"))
		s.root = phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc), words("GROUP BY "+name))
		return s
	case 2:
		s.root = phrase(words("SELECT DISTINCT"), g.terms.function(sc), words("AS "+g.terms.name("e")+" FROM"), from, g.terms.where(sc))
		return s
	case 3, 4:
		list := listOf(1, g.terms.aggregateFunction(sc))
		for g.one(2) {
			list.kids = append(list.kids, g.terms.aggregateFunction(sc))
		}
		s.root = phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc))
		return s
	case 5:
		f := g.terms.function(sc)
		condition := pickOne(g.dice, []*part{
			phrase(f, words("IS NOT NULL")), phrase(f, words("="), g.terms.function(sc)), phrase(f, words("> 1")), phrase(words("NOT"), f),
			phrase(f, words("IN (1, 'a', NULL)")), phrase(f, words("<=>"), g.terms.function(sc)),
		})
		o := g.terms.orderBy(nil, sc.primary())
		s.root = phrase(words("SELECT"), &part{kids: sc.primary(), sep: ", "}, words("FROM"), from, words("WHERE"), condition, o.order, o.limit)
		return o.apply(s)
	}
	list := listOf(1)
	for len(list.kids) == 0 || g.one(2) {
		list.kids = append(list.kids, phrase(g.terms.function(sc), words("AS "+g.terms.name("e"))))
	}
	o := g.terms.orderBy(nil, sc.primary())
	s.root = phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc), o.order, o.limit)
	s.folds = false
	return o.apply(s)
}
