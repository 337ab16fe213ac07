package differential

import (
	"fmt"
	"strings"
)

// where makes a WHERE clause, or nil.
func (g *terms) where(sc scope) *part {
	if g.one(4) {
		return nil
	}
	return maybe(phrase(words("WHERE"), g.condition(sc, 2)))
}

// condition makes a condition, at most depth operators deep.
func (g *terms) condition(sc scope, depth int) *part {
	if depth == 0 || g.one(2) {
		return g.predicate(sc, depth)
	}
	a, b := g.condition(sc, depth-1), g.condition(sc, depth-1)
	switch g.IntN(5) {
	case 0, 1:
		return phrase(words("("), a, words("AND"), b, words(")")).or(a, b)
	case 2, 3:
		return phrase(words("("), a, words("OR"), b, words(")")).or(a, b)
	}
	return phrase(words("NOT ("), a, words(")")).or(a)
}

// predicate makes a condition without AND and OR.
func (g *terms) predicate(sc scope, depth int) *part {
	src := pickOne(g.dice, sc.sources)
	switch n := g.IntN(100); {
	case n < 45:
		return g.onColumn(sc, src, pickOne(g.dice, src.keys))
	case n < 78:
		src, c := g.column(sc, (*column).sortable)
		return g.onColumn(sc, src, c)
	case n < 83:
		return words(pickOne(g.dice, []string{"1 = 0", "1 = 1", "NULL", "0", "2 > 1", "'a' = 'b'"}))
	case n < 88:
		return g.rowConstructor(sc, src)
	case n < 92:
		a, b := src.lastKey(), src.column("a")
		return phrase(sc.columnOf(src, a), words(pickOne(g.dice, []string{"=", "<", "<>"})), sc.columnOf(src, b))
	case n < 94:
		e := g.logicalExpression(sc)
		g.converts = g.converts || strings.Contains(g.mode, "HIGH_NOT")             // NOT of a text, then
		return phrase(maybe(words(pickOne(g.dice, []string{"", "NOT", "NOT"}))), e) // NOT binds by sql_mode
	case n < 95 && g.concats():
		return phrase(sc.columnOf(src, src.lastKey()), words(pickOne(g.dice, []string{"= 1 || 2", "= 3 || 2 = 0", "< 1 || 1"})))
	case n < 97 || depth == 0:
		a := sc.columnOf(src, src.column("a"))
		return phrase(a, words(pickOne(g.dice, []string{"+ 1", "* 2", "- 3", "% 2"})), words(pickOne(g.dice, []string{"=", ">", "<="})), constant(src.column("a").pick(g.Rand)))
	}
	return g.subqueryCondition(sc, src)
}

// onColumn makes a condition on one column.
func (g *terms) onColumn(sc scope, src source, c *column) *part {
	col := sc.columnOf(src, c)
	v := func() *part { return constant(c.pick(g.Rand)) }
	switch n := g.IntN(20); {
	case n < 6:
		return phrase(col, words("="), v())
	case n < 8:
		return phrase(col, words(pickOne(g.dice, []string{"<", "<=", ">", ">=", "<>", "!=", "<=>"})), v())
	case n < 9:
		return phrase(v(), words(pickOne(g.dice, []string{"=", "<", ">="})), col)
	case n < 13:
		return phrase(col, maybe(words(pickOne(g.dice, []string{"", "", "NOT"}))), words("IN"), join(words("("), listOf(1, v(), v(), v(), v()), words(")")))
	case n < 16:
		return phrase(col, words(pickOne(g.dice, []string{"BETWEEN", "BETWEEN", "NOT BETWEEN"})), v(), words("AND"), v())
	case n < 17:
		return phrase(col, words(pickOne(g.dice, []string{"IS NULL", "IS NOT NULL"})))
	case n < 18 && c.class == integer:
		return phrase(col, words(pickOne(g.dice, []string{"=", "<", ">="})), words(fmt.Sprintf("%d + %d", g.IntN(9), g.IntN(5))))
	case n < 19 && c.class == integer && !c.small:
		return phrase(col, words("="), constant(textValue(c.pool[g.IntN(len(c.pool))].sql)))
	case c.class == text:
		// Not a%: MariaDB does not find a and a tab by an index, as collations that pad have them before a and a blank.
		return phrase(col, words(pickOne(g.dice, []string{"LIKE", "NOT LIKE"})), constant(textValue(pickOne(g.dice, []string{"ab%", "%b", "_", "%", "AB%", "áb%", "%a%", "10", `\%`}))))
	}
	return phrase(col, words("="), v())
}

func (g *terms) rowConstructor(sc scope, src source) *part {
	a, b := pickOne(g.dice, src.keys), src.column("a")
	left := join(words("("), sc.columnOf(src, a), words(", "), sc.columnOf(src, b), words(")"))
	right := func() *part {
		return join(words("("), constant(a.pick(g.Rand)), words(", "), constant(b.pick(g.Rand)), words(")"))
	}
	if g.one(2) {
		return phrase(left, words(pickOne(g.dice, []string{"=", "<", ">", "<>"})), right())
	}
	return phrase(left, words("IN"), join(words("("), listOf(1, right(), right(), right()), words(")")))
}

// subqueryCondition makes EXISTS, IN and a comparison with a subquery, half of them correlated.
func (g *terms) subqueryCondition(sc scope, outer source) *part {
	t := g.table()
	inner := source{t, g.name("x")}
	in := scope{sources: []source{inner}}
	table := phrase(g.tableName(t), words("AS "+inner.alias))
	where := g.condition(in, 1)
	if g.one(2) && !sc.bare {
		where = phrase(where, words(fmt.Sprintf("AND %s.%s = %s.%s", inner.alias, g.joinColumn(t), outer.alias, g.joinColumn(outer.table))))
	}
	from := phrase(words("FROM"), table, maybe(phrase(words("WHERE"), where)))
	switch g.IntN(6) {
	case 3:
		return phrase(sc.columnOf(outer, outer.column("a")), words("NOT IN (SELECT "+inner.alias+".a"), from, words(")"))
	case 4:
		compare := pickOne(g.dice, []string{"= ANY", "> ALL", "<> ALL", "<= ANY", "= SOME"})
		return phrase(sc.columnOf(outer, outer.column("a")), words(compare+" (SELECT "+inner.alias+".a"), from, words(")"))
	case 5:
		key := outer.lastKey()
		left := join(words("("), sc.columnOf(outer, key), words(", "), sc.columnOf(outer, outer.column("a")), words(")"))
		return phrase(left, words("IN (SELECT "+inner.alias+"."+inner.lastKey().name+", "+inner.alias+".a"), from, words(")"))
	case 0:
		return phrase(maybe(words(pickOne(g.dice, []string{"", "NOT"}))), words("EXISTS (SELECT 1"), from, words(")"))
	case 1:
		return phrase(sc.columnOf(outer, outer.column("a")), words("IN (SELECT "+inner.alias+".a"), from, words(")"))
	}
	return phrase(sc.columnOf(outer, outer.column("a")), words(pickOne(g.dice, []string{"=", ">", "<="})), words("(SELECT "+pickOne(g.dice, []string{"MAX", "MIN"})+"("+inner.alias+".a)"), from, words(")"))
}

// joinColumn is the integer of a table's key, by which tables are joined.
func (g *terms) joinColumn(t *table) string {
	switch t.kind {
	case monthly, exactText:
		return "id"
	case foldedText:
		return "a" // its key is no number
	}
	return t.primary[0]
}
