package differential

import "fmt"

// change makes UPDATE and DELETE of tables by others that lie anywhere, and INSERT of the rows of joined tables.
func (g *grammar) change() *statement {
	t := g.anyTable()
	switch g.IntN(10) {
	case 0, 1:
		return g.insertJoined(t)
	case 2:
		return g.changeBySubquery(t)
	case 3:
		return g.changeBoth(t)
	}
	return g.changeJoined(t)
}

// anyTable draws a table, each as often.
func (g *grammar) anyTable() *table { return pickOne(g.dice, g.terms.schema.tables) }

// other draws one that is not t.
func (g *grammar) other(t *table) *table {
	for {
		if o := g.anyTable(); o != t {
			return o
		}
	}
}

// number is a column of a table that is a number and that most rows share with rows of other tables.
func (g *grammar) number(t *table) string {
	if g.one(3) {
		return "a"
	}
	return g.terms.joinColumn(t)
}

// changeJoined changes one table by one or two others. What it sets does not depend on which of several rows is joined.
func (g *grammar) changeJoined(t *table) *statement {
	o := g.other(t)
	x, y := g.terms.name("t"), g.terms.name("t")
	if g.one(3) {
		x, y = t.name, o.name
	}
	target, by := phrase(g.terms.tableName(t), words("AS "+x)), phrase(g.terms.tableName(o), words("AS "+y))
	if x == t.name {
		target, by = words(x), words(y)
	}
	key := g.number(o)
	on := fmt.Sprintf("%s.%s = %s.%s", x, g.number(t), y, key)
	where := phrase(words("WHERE"), words(fmt.Sprintf("%s.a", pickOne(g.dice, []string{x, y}))), words(pickOne(g.dice, []string{"=", "<", ">"})), constant(intValue(int64(g.IntN(6)))))
	if g.one(4) {
		c := t.keys[0]
		where = phrase(words("WHERE"), words(x+"."+c.name+" ="), constant(c.pick(g.Rand)))
	}
	from := phrase(target, words(pickOne(g.dice, []string{"JOIN", "INNER JOIN", "LEFT JOIN", "STRAIGHT_JOIN"})), by, words("ON "+on))
	switch g.IntN(8) {
	case 0:
		from, where = phrase(join(target, words(",")), by), phrase(where, words("AND "+on))
	case 1:
		from = phrase(by, words(pickOne(g.dice, []string{"JOIN", "RIGHT JOIN", "LEFT JOIN"})), target, words("ON "+on))
	case 2:
		inner := words(fmt.Sprintf("(SELECT %s, a FROM %s) AS %s", g.terms.joinColumn(o), o.name, y))
		on := fmt.Sprintf("%s.%s = %s.%s", x, g.number(t), y, pickOne(g.dice, []string{"a", g.terms.joinColumn(o)}))
		from, key = phrase(target, words("JOIN"), inner, words("ON "+on)), "a"
	case 3:
		third := g.anyTable()
		z := g.terms.name("t")
		from = phrase(from, words("JOIN "+third.name+" AS "+z+" ON "+z+"."+g.number(third)+" = "+y+".a"))
	case 4:
		if a, b := g.terms.joinColumn(t), g.terms.joinColumn(o); a == b {
			from = phrase(target, words(pickOne(g.dice, []string{"JOIN", "LEFT JOIN"})), by, words("USING ("+a+")"))
		}
	}
	s := &statement{writes: []string{t.name}}
	if g.one(3) {
		verb := join(words("DELETE "+x+" FROM "), from)
		if g.one(3) {
			verb = join(words("DELETE FROM "+x+" USING "), from)
		}
		s.root = phrase(verb, where)
		return s
	}
	set := listOf(1, words(x+".a = "+pickOne(g.dice, []string{"3", "7", x + ".a + 1", "NULL"})))
	if len(o.primary) == 1 && key == o.primary[0] && g.one(2) {
		set.kids[0] = words(x + ".a = " + y + ".a + 1") // at most one row of o
	}
	if g.one(3) {
		set.kids = append(set.kids, words(x+".s = 'w'"))
	}
	s.root = phrase(words(pickOne(g.dice, []string{"UPDATE", "UPDATE", "UPDATE IGNORE"})), from, words("SET"), set, where)
	return s
}

// changeBySubquery changes a table by what a subquery finds in another.
func (g *grammar) changeBySubquery(t *table) *statement {
	o := g.other(t)
	inner := fmt.Sprintf("(SELECT %s FROM %s WHERE a > %d)", g.number(o), o.name, g.IntN(7))
	condition := g.number(t) + pickOne(g.dice, []string{" IN ", " NOT IN ", " = ANY ", " > ALL "}) + inner
	switch g.IntN(3) {
	case 0:
		condition = fmt.Sprintf("EXISTS (SELECT 1 FROM %s AS x WHERE x.%s = %s.%s AND x.a < %d)", o.name, g.number(o), t.name, g.terms.joinColumn(t), g.IntN(6))
	case 1:
		condition = fmt.Sprintf("%s < (SELECT MAX(%s) FROM %s)", g.number(t), g.number(o), o.name)
	}
	verb := "DELETE FROM " + t.name
	switch g.IntN(3) {
	case 0:
		verb = "UPDATE " + t.name + " SET a = 2, s = 'k'"
	case 1:
		verb = fmt.Sprintf("UPDATE %s SET a = (SELECT MIN(a) FROM %s)", t.name, o.name)
	}
	return &statement{root: phrase(words(verb), words("WHERE"), words(condition), words("AND a <"), constant(intValue(int64(g.IntN(8))))), writes: []string{t.name}}
}

// changeBoth changes two tables at once.
func (g *grammar) changeBoth(t *table) *statement {
	o := g.other(t)
	s := &statement{writes: []string{t.name, o.name}}
	on := words(fmt.Sprintf("%s JOIN %s AS y ON x.%s = y.%s", t.name+" AS x", o.name, g.terms.joinColumn(t), g.terms.joinColumn(o)))
	where := phrase(words("WHERE y.a ="), constant(intValue(int64(g.IntN(6)))))
	if g.one(2) {
		s.root = phrase(words("DELETE x, y FROM"), on, where)
		return s
	}
	s.root = phrase(words("UPDATE"), on, words("SET x.a = 6, y.d = 0.5"), where)
	return s
}

// insertJoined copies rows of two joined tables. Of rows that get one key the order tells which comes first.
func (g *grammar) insertJoined(t *table) *statement {
	from := g.anyTable()
	o := g.anyTable()
	x, y := source{from, g.terms.name("t")}, source{o, g.terms.name("t")}
	sc := scope{sources: []source{x, y}}
	names, values := wordList(append(append([]string{}, t.primary...), "a", "d")...), listOf(0)
	for _, c := range t.keys {
		switch {
		case c.class != integer:
			values.kids = append(values.kids, constant(c.pick(g.Rand)))
		case c.name == t.drawn: // neither NULL nor 0, which would ask for an id
			values.kids = append(values.kids, words(fmt.Sprintf("1 + ABS(COALESCE(%s.a, 0) * 7 + COALESCE(%s.a, 0)) %% %d", x.alias, y.alias, rangeKeys-1)))
		case t.kind == ranged:
			values.kids = append(values.kids, words(fmt.Sprintf("ABS(%s.a * 7 + %s.a) %% %d", x.alias, y.alias, rangeKeys)))
		case g.one(3):
			values.kids = append(values.kids, words(x.alias+"."+g.terms.joinColumn(from)))
		default:
			values.kids = append(values.kids, words(fmt.Sprintf("1000 + %s.a * 10 + %s.a", x.alias, y.alias)))
		}
	}
	values.kids = append(values.kids, words(x.alias+".a"), words(y.alias+".d"))
	values.least = len(values.kids)
	s := &statement{writes: []string{t.name}, draws: t.drawn != "" && !t.brings(), brings: t.drawn != "" && t.brings()}
	verb := pickOne(g.dice, []string{"INSERT IGNORE INTO", "INSERT IGNORE INTO", "REPLACE INTO", "INSERT INTO"})
	s.gaps, s.bulk = verb != "INSERT INTO", true
	var update *part
	if verb == "INSERT INTO" && g.one(2) {
		s.upserts, s.gaps = true, true
		update = words("ON DUPLICATE KEY UPDATE a = 4")
	}
	on := fmt.Sprintf("ON %s.%s = %s.%s", x.alias, g.number(from), y.alias, g.number(o))
	s.root = phrase(words(verb), g.terms.tableName(t), words("("+names.text+") SELECT"), values, words("FROM"), g.terms.tableName(from), words("AS "+x.alias+" "+pickOne(g.dice, []string{"JOIN", "LEFT JOIN"})),
		g.terms.tableName(o), words("AS "+y.alias), words(on), words(fmt.Sprintf("WHERE %s.a > %d", x.alias, g.IntN(5))), words("ORDER BY"), &part{kids: sc.primary(), sep: ", "}, update)
	return s
}
