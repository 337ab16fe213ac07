package differential

import "fmt"

// write makes a statement that changes a table.
func (g *grammar) write() *statement {
	t := g.table()
	switch n := g.IntN(100); {
	case n < 45:
		return g.insert(t)
	case n < 50:
		return g.insertSelect(t)
	case n < 75:
		return g.update(t)
	case n < 92:
		return g.delete(t)
	}
	return g.several(t)
}

// insert makes INSERT and REPLACE of constant rows in all forms.
func (g *grammar) insert(t *table) *statement {
	s := &statement{writes: []string{t.name}}
	verb := pickOne(g, []string{"INSERT INTO", "INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "INSERT IGNORE", "REPLACE INTO", "REPLACE"})
	names := t.columnNames()
	if g.one(3) {
		names = names[:len(t.keys)+g.IntN(len(names)-len(t.keys)+1)]
	}
	if t.kind == single && g.one(3) {
		names = names[1:] // its key counts up by itself
	}
	if len(names) == 0 {
		names = []string{"a"}
	}
	if g.one(8) {
		set := listOf(1)
		for _, name := range names {
			set.kids = append(set.kids, phrase(words(name+" ="), g.fresh(t, name)))
		}
		set.least = len(set.kids)
		s.root = phrase(words(verb), g.tableName(t), words("SET"), set, g.onDuplicate(t, verb))
		return s
	}
	columns := words("(" + wordList(names...).text + ")")
	if len(names) == len(t.columns) && g.one(4) {
		columns = nil
	}
	rows := listOf(1)
	for len(rows.kids) == 0 || g.one(2) && len(rows.kids) < 6 {
		row := listOf(len(names))
		for _, name := range names {
			row.kids = append(row.kids, g.fresh(t, name))
		}
		rows.kids = append(rows.kids, join(words("("), row, words(")")))
	}
	s.root = phrase(words(verb), g.tableName(t), columns, words(pickOne(g, []string{"VALUES", "VALUES", "VALUE"})), rows, g.onDuplicate(t, verb))
	return s
}

// fresh is a value for a column of a new row: one that does not fit now and then.
func (g *grammar) fresh(t *table, name string) *part {
	c := t.column(name)
	switch {
	case name == "a" && g.one(60):
		return constant(intValue(99999999999))
	case c.notNull && name != t.shardKey && g.one(60):
		return words("NULL")
	case !c.notNull && g.one(20):
		return words("DEFAULT")
	case name == "a" && g.one(12):
		return words("1 + 1")
	}
	return constant(c.pick(g.Rand))
}

// onDuplicate makes ON DUPLICATE KEY UPDATE for a plain INSERT, or nil.
func (g *grammar) onDuplicate(t *table, verb string) *part {
	if verb != "INSERT INTO" || !g.one(4) {
		return nil
	}
	return maybe(phrase(words("ON DUPLICATE KEY UPDATE"), words(pickOne(g, []string{"a = a + 1", "a = VALUES(a)", "a = 4, d = 0.25", "a = COALESCE(a, 0) + 2"}))))
}

// insertSelect copies rows from another table, or the same one, under new keys.
func (g *grammar) insertSelect(t *table) *statement {
	from := g.table()
	src := source{from, g.name("t")}
	sc := scope{sources: []source{src}}
	names, values := wordList(append(append([]string{}, t.primary...), "a", "d")...), listOf(0)
	for _, c := range t.keys {
		switch {
		case c.name == "day":
			values.kids = append(values.kids, constant(c.pick(g.Rand)))
		case t.kind == ranged:
			values.kids = append(values.kids, words(fmt.Sprintf("ABS(%s.%s) %% %d", src.alias, "a", rangeKeys)))
		default:
			values.kids = append(values.kids, words(fmt.Sprintf("1000 + %s.a", src.alias)))
		}
	}
	values.kids = append(values.kids, words(src.alias+".a"), words(src.alias+".d"))
	values.least = len(values.kids)
	verb := pickOne(g, []string{"INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"})
	where := words(fmt.Sprintf("WHERE %s.a = %d", src.alias, g.IntN(4)))
	order := &part{kids: sc.primary(), sep: ", "}
	return &statement{
		root:   phrase(words(verb), g.tableName(t), words("("+names.text+") SELECT"), values, words("FROM"), g.tableName(from), words("AS "+src.alias), where, words("ORDER BY"), order),
		writes: []string{t.name},
	}
}

// update makes UPDATE of one table.
func (g *grammar) update(t *table) *statement {
	sc, from := g.fromTable(t)
	src := sc.sources[0]
	set := listOf(1)
	a := sc.columnOf(src, src.column("a"))
	set.kids = append(set.kids, phrase(a, words("="), pickOne(g, []*part{phrase(a, words("+ 1")), constant(intValue(5)), words("NULL"), words("COALESCE(a, 1)")})))
	for g.one(2) && len(set.kids) < 3 {
		c := t.columns[len(t.keys)+1+g.IntN(len(t.columns)-len(t.keys)-1)]
		set.kids = append(set.kids, phrase(sc.columnOf(src, c), words("="), constant(c.pick(g.Rand))))
	}
	verb := pickOne(g, []string{"UPDATE", "UPDATE", "UPDATE", "UPDATE IGNORE"})
	if verb == "UPDATE" && g.one(25) { // of several rows that want one key IGNORE lets any have it
		c := pickOne(g, t.keys)
		set.kids = append(set.kids, phrase(sc.columnOf(src, c), words("="), constant(c.pick(g.Rand))))
	}
	order, limit := g.writeLimit(sc)
	return &statement{root: phrase(words(verb), from, words("SET"), set, g.narrow(sc), order, limit), writes: []string{t.name}}
}

// delete makes DELETE from one table.
func (g *grammar) delete(t *table) *statement {
	src := source{t, t.name}
	sc := scope{sources: []source{src}, bare: g.one(2)}
	order, limit := g.writeLimit(sc)
	return &statement{root: phrase(words("DELETE FROM"), words(t.name), g.narrow(sc), order, limit), writes: []string{t.name}}
}

// narrow makes a WHERE clause for a write: most are for few keys, so that tables keep rows.
func (g *grammar) narrow(sc scope) *part {
	src := sc.sources[0]
	switch g.IntN(8) {
	case 0:
		return g.where(sc)
	case 1:
		return phrase(words("WHERE"), sc.columnOf(src, src.column("a")), words("="), constant(src.column("a").pick(g.Rand)))
	case 2:
		return phrase(words("WHERE"), g.condition(sc, 1), words("AND"), g.onColumn(sc, src, src.keys[0]))
	}
	c := src.keys[0]
	one := func() *part { return constant(c.pick(g.Rand)) }
	if g.one(2) {
		return phrase(words("WHERE"), sc.columnOf(src, c), words("="), one())
	}
	return phrase(words("WHERE"), sc.columnOf(src, c), words("IN"), join(words("("), listOf(1, one(), one(), one()), words(")")))
}

// writeLimit makes ORDER BY and LIMIT of an UPDATE or DELETE, with every row in its place.
func (g *grammar) writeLimit(sc scope) (order, limit *part) {
	if !g.one(6) {
		return nil, nil
	}
	limit = maybe(phrase(words("LIMIT"), constant(intValue(int64(g.IntN(4))))))
	order = maybe(phrase(words("ORDER BY"), &part{kids: sc.primary(), sep: ", "}))
	order.neededBy = limit
	return order, limit
}

// several makes UPDATE and DELETE of joined tables, and DELETE of all rows.
func (g *grammar) several(t *table) *statement {
	key := g.joinColumn(t)
	s := &statement{writes: []string{t.name}}
	switch g.IntN(4) {
	case 0:
		s.root = phrase(words("UPDATE"), g.tableName(t), words("JOIN ref AS z ON "+t.name+"."+key+" = z.id SET "+t.name+".a = 3 WHERE z.a > "), constant(intValue(int64(g.IntN(6)))))
	case 1:
		s.root = phrase(words("DELETE "+t.name+" FROM "+t.name+" JOIN ref AS z ON "+t.name+"."+key+" = z.id WHERE z.a = "), constant(intValue(int64(g.IntN(6)))))
	case 2:
		s.root = phrase(words("DELETE FROM "+t.name+" WHERE a IN (SELECT a FROM one WHERE id < "), constant(intValue(int64(g.IntN(20)))), words(")"))
		if t.kind == single {
			s.root = words("DELETE FROM " + t.name)
		}
	default:
		s.root = words("DELETE FROM " + t.name)
	}
	return s
}
