package differential

import (
	"fmt"
	"strings"
)

// aggregate makes a query of aggregates without groups, which has one row.
func (g *grammar) aggregate() *statement {
	sc, from := g.terms.from()
	s := new(statement)
	list := listOf(1)
	for len(list.kids) == 0 || g.one(2) && len(list.kids) < 6 {
		list.kids = append(list.kids, g.aggregateItem(sc, s))
	}
	var limit *part
	if g.one(8) {
		limit = maybe(g.terms.limit())
	}
	s.root = phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc), limit)
	s.folds = g.terms.folds
	return s
}

// aggregateItem makes one item of aggregates and notes in s what they leave open.
func (g *grammar) aggregateItem(sc scope, s *statement) *part {
	if g.one(8) {
		return g.bagItem(sc)
	}
	e := g.aggregateOf(sc, s)
	switch g.IntN(9) {
	case 0:
		return phrase(e, words("AS "+g.terms.name("e")))
	case 4:
		return phrase(g.sum(sc, s), words("/ COUNT(*)"))
	case 5:
		src := pickOne(g.dice, sc.sources)
		a := sc.columnOf(src, src.column("a"))
		return phrase(g.terms.call("MAX", a), words("- "), g.terms.call("MIN", a))
	case 1:
		return phrase(words("COALESCE("), e, words(", 0)"))
	case 2:
		number := g.sum(sc, s)
		return phrase(number, words("+ COUNT(*)")).or(number)
	case 3:
		return phrase(words("CASE WHEN"), g.sum(sc, s), words("> 5 THEN 'much' ELSE 'little' END"))
	}
	return e
}

// aggregateOf makes one aggregate of any kind.
func (g *grammar) aggregateOf(sc scope, s *statement) *part {
	src, c := g.terms.column(sc, (*column).sortable)
	col := sc.columnOf(src, c)
	switch g.IntN(15) {
	case 12:
		a := sc.columnOf(src, src.column("a"))
		return g.terms.call("COUNT", phrase(words("DISTINCT"), join(a, words(", "), col)))
	case 13:
		a := sc.columnOf(src, src.column("a"))
		return join(words(pickOne(g.dice, []string{"SUM(CASE WHEN ", "COUNT(CASE WHEN "})), a, words(" > 2 THEN 1 END)"))
	case 14:
		g.terms.folds = true
		return g.terms.call(pickOne(g.dice, []string{"MIN", "MAX", "COUNT"}), g.terms.expression(sc))
	case 0, 1:
		return words("COUNT(*)")
	case 2:
		return g.terms.call("COUNT", col)
	case 3:
		return g.terms.call("COUNT", phrase(words("DISTINCT"), col))
	case 4, 5:
		g.terms.folds = g.terms.folds || c.folds
		g.terms.converts = g.terms.converts || warnsOfNullGroups(g.terms.dialect, c)
		return g.terms.call(pickOne(g.dice, []string{"MIN", "MAX"}), col)
	case 6:
		src, c := g.terms.column(sc, func(c *column) bool { return c.class == integer })
		return g.terms.call(pickOne(g.dice, []string{"BIT_AND", "BIT_OR", "BIT_XOR"}), sc.columnOf(src, c))
	case 7:
		src, c := g.terms.column(sc, func(c *column) bool { return c.small })
		s.inexact = true
		f := pickOne(g.dice, []string{"STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "VAR_POP", "VAR_SAMP", "VARIANCE"})
		return g.terms.call(f, sc.columnOf(src, c))
	}
	return g.sum(sc, s)
}

// sum makes an aggregate that is a number.
func (g *grammar) sum(sc scope, s *statement) *part {
	src, c := g.terms.column(sc, func(c *column) bool { return c.class == integer || c.class == decimal || c.class == double })
	s.inexact = s.inexact || c.class == double
	arg := sc.columnOf(src, c)
	if g.one(5) {
		arg = phrase(words("DISTINCT"), arg)
	}
	if g.one(6) {
		arg = phrase(sc.columnOf(src, src.column("a")), words("* 2"))
	}
	return g.terms.call(pickOne(g.dice, []string{"SUM", "SUM", "AVG"}), arg)
}

// bagItem makes an aggregate whose value is a list; if its order is open its name says so.
func (g *grammar) bagItem(sc scope) *part {
	src, c := g.terms.column(sc, (*column).sortable)
	col := sc.columnOf(src, c)
	g.terms.folds = g.terms.folds || c.folds
	switch g.IntN(7) {
	case 5:
		key := listOf(2, sc.primary()...)
		key.kids = append(key.kids, words("''"))
		key.least = len(key.kids)
		return phrase(join(words("JSON_OBJECTAGG(CONCAT_WS('-', "), key, words("), "), sc.columnOf(src, src.column("a")), words(")")), words("AS "+g.terms.name(bag)))
	case 6:
		a := sc.columnOf(src, src.column("a"))
		order := listOf(1, append([]*part{phrase(a, words("DESC"))}, sc.primary()...)...)
		return phrase(g.terms.call("GROUP_CONCAT", phrase(join(a, words(", ':', "), col), words("ORDER BY"), order)), words("AS "+g.terms.name("e")))
	case 0:
		return phrase(g.terms.call("GROUP_CONCAT", col), words("AS "+g.terms.name(bag)))
	case 1:
		order := listOf(1, append([]*part{col}, sc.primary()...)...)
		return phrase(g.terms.call("GROUP_CONCAT", phrase(col, words("ORDER BY"), order, words("SEPARATOR '|'"))), words("AS "+g.terms.name("e")))
	case 2:
		return phrase(g.terms.call("GROUP_CONCAT", phrase(words("DISTINCT"), col, words("ORDER BY"), col, words("DESC"))), words("AS "+g.terms.name(sequence)))
	case 3:
		return phrase(g.terms.call("JSON_ARRAYAGG", sc.columnOf(src, src.column("a"))), words("AS "+g.terms.name(bag)))
	}
	return phrase(g.terms.call("GROUP_CONCAT", phrase(words("DISTINCT"), col)), words("AS "+g.terms.name(bag)))
}

// grouped makes GROUP BY, with HAVING and ROLLUP now and then.
func (g *grammar) grouped() *statement {
	sc, from := g.terms.from()
	s := new(statement)
	return g.group(sc, from, s)
}

// group makes a query of groups over what FROM gives.
func (g *grammar) group(sc scope, from *part, s *statement) *statement {
	list, by := listOf(1), listOf(1)
	var total []*part
	computed, repeated := false, false
	for len(by.kids) == 0 || g.one(3) && len(by.kids) < 3 {
		item, key, name, form := g.groupKey(sc, len(list.kids)+1)
		computed = computed || form != plainColumn
		repeated = repeated || form == repeatedExpression
		list.kids = append(list.kids, item)
		by.kids = append(by.kids, key)
		total = append(total, words(name))
	}
	list.least, by.least = len(list.kids), len(by.kids) // what is sorted by stays
	var keys []*part
	for range 1 + g.IntN(3) {
		e := g.aggregateItem(sc, s)
		list.kids = append(list.kids, e)
	}
	if g.one(3) {
		e := phrase(words("COUNT(*)"))
		list.kids = append(list.kids, phrase(e, words("AS n")))
		keys = append(keys, pickOne(g.dice, []*part{words("n"), words("COUNT(*)"), words("MAX(" + g.terms.smallOf(sc) + ")")}))
	}
	group := phrase(words("GROUP BY"), by)
	// In the row for all rows, when there are none, MySQL shows a IS NULL as NULL or as 1 by its plan: 1 where the condition
	// is an id that a key finds not to be there, NULL without the key. MariaDB does not know CONCAT(s, 'x') in GROUP BY for the
	// item where it converts s, as one of latin1, and has the last row's value for NULL.
	if rolled := !computed || g.terms.dialect.mariaDB && !repeated; g.one(8) && rolled {
		group.kids = append(group.kids, words("WITH ROLLUP"))
		s.folds = g.terms.folds
		s.root = phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc), group, g.having(sc))
		return s
	}
	o := g.terms.orderBy(keys, total)
	if computed && g.terms.dialect.mariaDB && o.total != nil {
		o.total.kids = total // not DESC: of sorted rows MariaDB puts those with a NULL for a / 2 into the group before
	}
	having := g.having(sc)
	s.folds = g.terms.folds
	s.root = phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc), group, having, o.order, o.limit)
	return o.apply(s)
}

// keyForm is what is grouped by.
type keyForm int

const (
	plainColumn keyForm = iota
	namedExpression
	repeatedExpression // in GROUP BY as it is in the select list
)

// groupKey makes an item to group by: the item, what GROUP BY calls it, its name, and its form.
func (g *grammar) groupKey(sc scope, position int) (item, key *part, name string, form keyForm) {
	name = g.terms.name("g")
	src, c := g.terms.column(sc, (*column).sortable)
	col := sc.columnOf(src, c)
	if g.one(2) {
		c = src.column(pickOne(g.dice, []string{"a", "s"}))
		col = sc.columnOf(src, c)
	}
	g.terms.folds = g.terms.folds || c.folds
	switch g.IntN(6) {
	case 5:
		g.terms.folds = true
		e := g.terms.expression(sc)
		return phrase(e, words("AS "+name)), phrase(e), name, repeatedExpression
	case 0:
		return phrase(col, words("AS "+name)), words(fmt.Sprint(position)), name, plainColumn
	case 1:
		return phrase(col, words("AS "+name)), words(name), name, plainColumn
	case 2:
		g.terms.folds = true
		e := g.terms.expression(sc)
		return phrase(e, words("AS "+name)), words(name), name, namedExpression
	}
	return phrase(col, words("AS "+name)), col, name, plainColumn
}

// having makes HAVING, or nil.
func (g *grammar) having(sc scope) *part {
	if !g.one(3) {
		return nil
	}
	var e *part
	switch g.IntN(4) {
	case 0:
		e = words("COUNT(*)")
	case 1:
		e = words("MAX(" + g.terms.smallOf(sc) + ")")
	case 2:
		e = words("COUNT(DISTINCT " + g.terms.smallOf(sc) + ")")
	default:
		e = words("SUM(" + g.terms.smallOf(sc) + ")")
	}
	return maybe(phrase(words("HAVING"), e, words(pickOne(g.dice, []string{">", "<", "=", ">="})), constant(intValue(int64(g.IntN(6))))))
}

// warnsOfNullGroups reports whether MIN and MAX of a column come with a warning for each group that has nothing but NULL: MySQL warns of the
// zero that it puts into a temporary table at first, and shards have such groups where one server has none.
func warnsOfNullGroups(d dialect, c *column) bool {
	return !d.mariaDB && strings.HasPrefix(c.decl, "TIMESTAMP")
}
