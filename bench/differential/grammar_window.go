package differential

// window makes a query with window functions whose values do not depend on the order of ties.
func (g *grammar) window() *statement {
	sc, from := g.terms.from()
	src := sc.sources[0]
	a := sc.columnOf(src, src.column("a"))
	list := listOf(1)
	list.kids = append(list.kids, sc.primary()...)
	list.least = len(list.kids)
	primary := func() *part { return &part{kids: sc.primary(), sep: ", "} }
	partition := func() *part {
		src, c := g.terms.column(sc, (*column).sortable)
		return maybe(phrase(words("PARTITION BY"), sc.columnOf(src, c)))
	}
	for range 1 + g.IntN(2) {
		var f, over *part
		switch g.IntN(11) {
		case 5:
			f, over = words("NTILE("+pickOne(g.dice, []string{"2", "3"})+")"), phrase(partition(), words("ORDER BY"), primary())
		case 6:
			f, over = words(pickOne(g.dice, []string{"PERCENT_RANK()", "CUME_DIST()"})), phrase(partition(), words("ORDER BY"), a)
		case 7:
			f, over = join(words(pickOne(g.dice, []string{"FIRST_VALUE(", "LAST_VALUE("})), a, words(")")), phrase(partition(), words("ORDER BY"), primary())
		case 8:
			f = join(words("NTH_VALUE("), a, words(", 2)"))
			over = phrase(partition(), words("ORDER BY"), primary(), maybe(words("ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")))
		case 9:
			f, over = words("COUNT(*)"), phrase(partition(), words("ORDER BY"), a, words("RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING"))
		case 10: // every window within one shard, where the table has a key
			f, over = g.terms.call("SUM", a), phrase(words("PARTITION BY"), sc.columnOf(src, src.keys[0]))
		case 0:
			f, over = words("ROW_NUMBER()"), phrase(partition(), words("ORDER BY"), primary())
		case 1:
			f, over = words(pickOne(g.dice, []string{"RANK()", "DENSE_RANK()"})), phrase(partition(), words("ORDER BY"), a)
		case 2:
			f, over = g.terms.call(pickOne(g.dice, []string{"SUM", "COUNT", "MIN", "MAX"}), a), partition()
		case 3:
			f, over = join(words(pickOne(g.dice, []string{"LAG(", "LEAD("})), a, words(")")), phrase(partition(), words("ORDER BY"), primary())
		default:
			f, over = g.terms.call("SUM", a), phrase(partition(), words("ORDER BY"), primary(), maybe(words("ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")))
		}
		list.kids = append(list.kids, phrase(f, words("OVER ("), over, words(") AS "+g.terms.name("w"))))
	}
	o := g.terms.orderBy(nil, sc.primary())
	return o.apply(&statement{root: phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc), o.order, o.limit)})
}
