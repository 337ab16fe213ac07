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
	left, right := g.table(), g.table()
	switch g.IntN(4) {
	case 0, 1:
		left, right = g.tableNamed("h1"), g.tableNamed("h2")
	case 2:
		right = g.tableNamed("ref")
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
	switch g.IntN(12) {
	case 9: // rows of h2 in groups of their key lie beside h1
		q := g.name("q")
		t := g.tableNamed("h2")
		group := phrase(words("(SELECT user_id, COUNT(*) AS a, MAX(s) AS s, SUM(d) AS d FROM"), g.tableName(t), words("GROUP BY user_id) AS "+q))
		kind := pickOne(g, []string{"JOIN", "LEFT JOIN"})
		sc.sources = sc.sources[:1]
		return sc, phrase(first, words(kind), group, words("ON "+q+".user_id = "+a.alias+"."+g.joinColumn(left)))
	case 10:
		c := source{g.tableNamed("ref"), g.name("t")}
		sc.sources = append(sc.sources, c)
		inner := phrase(words("("), second, words("JOIN ref AS "+c.alias+" ON "+b.alias+".a = "+c.alias+".id )"))
		return sc, phrase(first, words(pickOne(g, []string{"JOIN", "LEFT JOIN"})), inner, words("ON "+on.text))
	case 11:
		if g.dialect.mariaDB {
			g.converts = true
			return sc, phrase(first, words("NATURAL LEFT JOIN"), second)
		}
		q := g.name("q")
		sc.sources = sc.sources[:1]
		lateral := words("LATERAL (SELECT COUNT(*) AS c FROM " + right.name + " AS " + b.alias + " WHERE " + on.text + ") AS " + q)
		return sc, phrase(first, words("CROSS JOIN"), lateral)
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
		c := source{g.tableNamed("ref"), g.name("t")}
		sc.sources = append(sc.sources, c)
		third := words("ref AS " + c.alias + " ON " + a.alias + ".a = " + c.alias + ".id")
		return sc, phrase(first, words("JOIN"), second, condition, words(pickOne(g, []string{"JOIN", "LEFT JOIN"})), third)
	}
	return sc, phrase(first, words(pickOne(g, []string{"JOIN", "INNER JOIN", "STRAIGHT_JOIN"})), second, condition)
}
