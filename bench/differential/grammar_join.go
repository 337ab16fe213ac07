package differential

// joined makes a query of two or three tables: lying beside each other, of reference, or anyhow.
func (g *grammar) joined() *statement {
	sc, from := g.joinedFrom()
	if g.one(3) {
		return g.group(sc, from, new(statement))
	}
	items, keys := g.items(sc)
	o := g.terms.orderBy(keys, sc.primary())
	return o.apply(&statement{root: phrase(words("SELECT"), items, words("FROM"), from, g.terms.where(sc), o.order, o.limit)})
}

// joinedFrom makes the FROM clause of a join.
func (g *grammar) joinedFrom() (scope, *part) {
	left, right := g.terms.table(), g.terms.table()
	switch g.IntN(4) {
	case 0, 1:
		left, right = g.terms.tableNamed("h1"), g.terms.tableNamed("h2")
	case 2:
		right = g.terms.tableNamed("ref")
	}
	if g.one(6) {
		left, right = right, left
	}
	a, b := source{left, g.terms.name("t")}, source{right, g.terms.name("t")}
	sc := scope{sources: []source{a, b}}
	first, second := phrase(g.terms.tableName(left), words("AS "+a.alias)), phrase(g.terms.tableName(right), words("AS "+b.alias))
	on := words(a.alias + "." + g.terms.joinColumn(left) + " = " + b.alias + "." + g.terms.joinColumn(right))
	if g.one(5) {
		on = words(a.alias + ".a = " + b.alias + "." + pickOne(g.dice, []string{"a", g.terms.joinColumn(right)}))
	}
	condition := words("ON " + on.text)
	if g.one(4) {
		condition = phrase(condition, maybe(phrase(words("AND"), g.terms.condition(sc, 1))))
	}
	if g.one(6) && g.terms.joinColumn(left) == g.terms.joinColumn(right) {
		condition = words("USING (" + g.terms.joinColumn(left) + ")")
	}
	switch g.IntN(12) {
	case 9: // rows of h2 in groups of their key lie beside h1
		q := g.terms.name("q")
		t := g.terms.tableNamed("h2")
		group := phrase(words("(SELECT user_id, COUNT(*) AS a, MAX(s) AS s, SUM(d) AS d FROM"), g.terms.tableName(t), words("GROUP BY user_id) AS "+q))
		kind := pickOne(g.dice, []string{"JOIN", "LEFT JOIN"})
		sc.sources = sc.sources[:1]
		return sc, phrase(first, words(kind), group, words("ON "+q+".user_id = "+a.alias+"."+g.terms.joinColumn(left)))
	case 10:
		c := source{g.terms.tableNamed("ref"), g.terms.name("t")}
		sc.sources = append(sc.sources, c)
		inner := phrase(words("("), second, words("JOIN ref AS "+c.alias+" ON "+b.alias+".a = "+c.alias+".id )"))
		return sc, phrase(first, words(pickOne(g.dice, []string{"JOIN", "LEFT JOIN"})), inner, words("ON "+on.text))
	case 11:
		if g.terms.dialect.mariaDB {
			g.terms.converts = true
			return sc, phrase(first, words("NATURAL LEFT JOIN"), second)
		}
		q := g.terms.name("q")
		sc.sources = sc.sources[:1]
		lateral := words("LATERAL (SELECT COUNT(*) AS c FROM " + right.name + " AS " + b.alias + " WHERE " + on.text + ") AS " + q)
		return sc, phrase(first, words("CROSS JOIN"), lateral)
	case 0, 1:
		return sc, phrase(first, words("LEFT JOIN"), second, condition)
	case 2:
		return sc, phrase(first, words("RIGHT JOIN"), second, condition)
	case 3:
		g.terms.converts = true // columns of one name may be of any two types
		return sc, phrase(first, words("NATURAL JOIN"), second)
	case 4:
		return sc, phrase(first, words(pickOne(g.dice, []string{"CROSS JOIN", ","})), second)
	case 5:
		c := source{g.terms.tableNamed("ref"), g.terms.name("t")}
		sc.sources = append(sc.sources, c)
		third := words("ref AS " + c.alias + " ON " + a.alias + ".a = " + c.alias + ".id")
		return sc, phrase(first, words("JOIN"), second, condition, words(pickOne(g.dice, []string{"JOIN", "LEFT JOIN"})), third)
	}
	return sc, phrase(first, words(pickOne(g.dice, []string{"JOIN", "INNER JOIN", "STRAIGHT_JOIN"})), second, condition)
}
