package differential

// union makes UNION, INTERSECT and EXCEPT of two or three queries of like columns.
func (g *grammar) union() *statement {
	columns := [][]string{{"a"}, {"a", "d"}, {"d", "a"}, {"a", "a"}}[g.IntN(4)]
	arm := func(first bool) *part {
		sc, from := g.from()
		list := listOf(len(columns))
		for k, name := range columns {
			item := sc.columnOf(sc.sources[0], sc.sources[0].column(name))
			if first {
				item = phrase(item, words("AS "+[]string{"u", "v"}[k]))
			}
			list.kids = append(list.kids, item)
		}
		return phrase(words("SELECT"), list, words("FROM"), from, g.where(sc))
	}
	first := arm(true)
	root := phrase(first)
	for range 1 + g.IntN(2) {
		operator := pickOne(g, []string{"UNION", "UNION ALL", "UNION DISTINCT", "UNION ALL", "INTERSECT", "EXCEPT"})
		root.kids = append(root.kids, maybe(phrase(words(operator), arm(false))))
	}
	total := []*part{words("u")}
	if len(columns) > 1 {
		total = append(total, words("v"))
	}
	o := g.orderBy(nil, total)
	root.kids = append(root.kids, o.order, o.limit)
	return o.apply(&statement{root: root})
}
