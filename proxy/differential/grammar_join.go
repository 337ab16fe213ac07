package differential

// joined makes a query of two or three tables: lying beside each other, of reference, or anyhow.
func (g *grammar) joined() *statement {
	sc, from := g.joinedFrom()
	if g.one(3) {
		return g.group(sc, from, new(statement))
	}
	items, keys := g.items(sc)
	o := g.orderBy(keys, sc.primary())
	return o.apply(&statement{root: phrase(words("SELECT"), items, words("FROM"), from, g.where(sc), o.order, o.limit)})
}

// joinedFrom makes the FROM clause of a join.
func (g *grammar) joinedFrom() (scope, *part) {
	tableNamed := func(name string) *table {
		for _, t := range g.schema.tables {
			if t.name == name {
				return t
			}
		}
		return nil // every schema has the same tables
	}
	left, right := g.table(), g.table()
	switch g.IntN(4) {
	case 0, 1:
		left, right = tableNamed("h1"), tableNamed("h2")
	case 2:
		right = tableNamed("ref")
	}
	if g.one(6) {
		left, right = right, left
	}
	a, b := source{left, g.name("t")}, source{right, g.name("t")}
	sc := scope{sources: []source{a, b}}
	first, second := phrase(g.tableName(left), words("AS "+a.alias)), phrase(g.tableName(right), words("AS "+b.alias))
	on := words(a.alias + "." + g.joinColumn(left) + " = " + b.alias + "." + g.joinColumn(right))
	if g.one(5) {
		on = words(a.alias + ".a = " + b.alias + "." + pickOne(g, []string{"a", g.joinColumn(right)}))
	}
	condition := words("ON " + on.text)
	if g.one(4) {
		condition = phrase(condition, maybe(phrase(words("AND"), g.condition(sc, 1))))
	}
	if g.one(6) && g.joinColumn(left) == g.joinColumn(right) {
		condition = words("USING (" + g.joinColumn(left) + ")")
	}
	switch g.IntN(9) {
	case 0, 1:
		return sc, phrase(first, words("LEFT JOIN"), second, condition)
	case 2:
		return sc, phrase(first, words("RIGHT JOIN"), second, condition)
	case 3:
		g.converts = true // columns of one name may be of any two types
		return sc, phrase(first, words("NATURAL JOIN"), second)
	case 4:
		return sc, phrase(first, words(pickOne(g, []string{"CROSS JOIN", ","})), second)
	case 5:
		c := source{tableNamed("ref"), g.name("t")}
		sc.sources = append(sc.sources, c)
		third := words("ref AS " + c.alias + " ON " + a.alias + ".a = " + c.alias + ".id")
		return sc, phrase(first, words("JOIN"), second, condition, words(pickOne(g, []string{"JOIN", "LEFT JOIN"})), third)
	}
	return sc, phrase(first, words(pickOne(g, []string{"JOIN", "INNER JOIN", "STRAIGHT_JOIN"})), second, condition)
}
