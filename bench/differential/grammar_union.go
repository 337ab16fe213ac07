package differential

import "strings"

// union makes UNION, INTERSECT and EXCEPT of two or three queries of like columns.
func (g *grammar) union() *statement {
	columns := pickOne(g.dice, [][]string{{"a"}, {"a", "d"}, {"d", "a"}, {"a", "a"}, {"s"}, {"s", "a"}, {"a", "s"}})
	s := &statement{folds: strings.Contains(strings.Join(columns, ""), "s")}
	arms := listOf(1)
	arms.sep = " "
	first := g.arm(columns, true)
	arms.kids = append(arms.kids, first)
	for range 1 + g.IntN(2) {
		operator := pickOne(g.dice, []string{"UNION", "UNION ALL", "UNION DISTINCT", "UNION ALL", "INTERSECT", "EXCEPT"})
		arms.kids = append(arms.kids, maybe(phrase(words(operator), g.arm(columns, false))))
	}
	names := []string{"u", "v"}[:len(columns)]
	var total []*part
	for _, name := range names {
		total = append(total, words(name))
	}
	if g.one(5) { // as a derived table
		q := g.terms.name("q")
		s.root = phrase(words("SELECT "+strings.Join(names, ", ")+", COUNT(*) AS n FROM ("), arms, words(") AS "+q+" GROUP BY "+strings.Join(names, ", ")))
		return s
	}
	o := g.terms.orderBy(nil, total)
	s.root = phrase(arms, o.order, o.limit)
	return o.apply(s)
}

// arm makes one query of a set operation, the first with names for its columns.
func (g *grammar) arm(columns []string, first bool) *part {
	sc, from := g.terms.from()
	list := listOf(len(columns))
	for k, name := range columns {
		item := sc.columnOf(sc.sources[0], sc.sources[0].column(name))
		if first {
			item = phrase(item, words("AS "+[]string{"u", "v"}[k]))
		}
		list.kids = append(list.kids, item)
	}
	query := phrase(words("SELECT"), list, words("FROM"), from, g.terms.where(sc))
	if !g.one(6) {
		return query
	}
	query.kids = append(query.kids, words("ORDER BY"), &part{kids: sc.primary(), sep: ", "}, g.terms.limit())
	return phrase(words("("), query, words(")"))
}
