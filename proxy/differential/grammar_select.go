package differential

import "fmt"

// plain makes a query of one table.
func (g *grammar) plain() *statement {
	sc, from := g.from()
	items, keys := g.items(sc)
	o := g.orderBy(keys, sc.primary())
	var lock *part
	if g.one(25) {
		lock = maybe(words(pickOne(g, []string{"FOR UPDATE", "LOCK IN SHARE MODE"})))
	}
	return o.apply(&statement{root: phrase(words("SELECT"), items, words("FROM"), from, g.where(sc), o.order, o.limit, lock)})
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
		src, c := g.column(sc, (*column).sortable)
		keys = append(keys, sc.columnOf(src, c))
	}
	return list, keys
}

// item makes one item of a select list, and a sort key that goes with it or nil. position is that in the list, 0 if it is
// unknown.
func (g *grammar) item(sc scope, position int) (item, key *part) {
	src, c := g.column(sc, func(*column) bool { return true })
	col := sc.columnOf(src, c)
	alias := g.name("e")
	byAlias := words(alias)
	if g.one(4) && position > 0 {
		byAlias = words(fmt.Sprint(position))
	}
	switch g.IntN(13) {
	case 0, 1:
		return phrase(col, words("AS "+alias)), sortBy(c, byAlias)
	case 5:
		if g.one(2) {
			return phrase(g.scalarQuery(sc), words("AS "+alias)), byAlias
		}
	case 2:
		return phrase(g.expression(sc), words("AS "+alias)), byAlias
	case 3:
		e := g.expression(sc)
		return e, &part{kids: []*part{e}}
	case 4:
		return phrase(constant(pickOne(g, []value{intValue(7), textValue("x"), floatValue(1.5), null})), words("AS "+alias)), nil
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
	sc, from := g.from()
	list := listOf(1)
	var total []*part
	for len(list.kids) == 0 || g.one(2) && len(list.kids) < 3 {
		src, c := g.column(sc, (*column).sortable)
		alias := g.name("e")
		item := sc.columnOf(src, c)
		if g.folds = g.folds || c.folds; g.one(4) {
			item = g.expression(sc)
			g.folds = true
		}
		list.kids = append(list.kids, phrase(item, words("AS "+alias)))
		total = append(total, words(alias))
	}
	list.least = len(list.kids) // ORDER BY names them all
	o := g.orderBy(nil, total)
	return o.apply(&statement{root: phrase(words("SELECT DISTINCT"), list, words("FROM"), from, g.where(sc), o.order, o.limit), folds: g.folds})
}

// loose makes a query sorted by a column with ties: LIMIT then leaves open which of them come.
func (g *grammar) loose() *statement {
	sc, from := g.from()
	src, c := g.column(sc, func(c *column) bool { return c.fixedOrder() && c.class == integer })
	s := &statement{keys: []string{"k"}}
	s.limit = maybe(g.limit())
	s.order = maybe(phrase(words("ORDER BY k"), maybe(words(pickOne(g, []string{"ASC", "DESC"})))))
	s.order.neededBy = s.limit
	item, _ := g.item(sc, 0)
	s.root = phrase(words("SELECT"), sc.columnOf(src, c), words("AS k,"), item, words("FROM"), from, g.where(sc), s.order, s.limit)
	return s
}
