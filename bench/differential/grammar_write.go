package differential

import (
	"fmt"
	"strings"
)

// write makes a statement that changes a table.
func (g *grammar) write() *statement {
	t := g.terms.table()
	if t.keyed && !g.one(4) {
		return keyedGrammar{g}.write(t)
	}
	switch n := g.IntN(130); {
	case n >= 100:
		return g.change()
	case n < 45:
		return g.insert(t)
	case n < 48:
		return g.insertSelect(t)
	case n < 51:
		return g.insertBeside()
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
	verb := pickOne(g.dice, []string{"INSERT INTO", "INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "INSERT IGNORE", "REPLACE INTO", "REPLACE"})
	names := t.columnNames()
	if g.one(3) {
		names = names[:len(t.keys)+g.IntN(len(names)-len(t.keys)+1)]
	}
	if t.counts() && g.one(3) {
		names = names[1:] // its key counts up by itself
	}
	names = g.leaveID(t, names)
	if len(names) == 0 && (t.drawn == "" || g.one(2)) {
		names = []string{"a"}
	}
	ids := &rowIDs{grammar: g, table: t}
	if g.spaced {
		ids.only = pickOne(g.dice, []string{"bring", "leave"})
	}
	fresh := func(name string) *part {
		if c := t.column(name); c.counted {
			return ids.of(c)
		}
		return g.fresh(t, name)
	}
	if len(names) > 0 && g.one(8) {
		set := listOf(1)
		for _, name := range names {
			set.kids = append(set.kids, phrase(words(name+" ="), fresh(name)))
		}
		set.least = len(set.kids)
		s.root = phrase(words(verb), g.terms.tableName(t), words("SET"), set, g.onDuplicate(s, t, verb, 1))
		ids.note(s, names, verb, 1)
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
			row.kids = append(row.kids, fresh(name))
		}
		rows.kids = append(rows.kids, join(words("("), row, words(")")))
	}
	update := g.onDuplicate(s, t, verb, len(rows.kids))
	s.root = phrase(words(verb), g.terms.tableName(t), columns, words(pickOne(g.dice, []string{"VALUES", "VALUES", "VALUE"})), rows, update)
	// Whether a row is new that has the drawn id is not told with RETURNING.
	if t.drawn != "" && g.terms.dialect.mariaDB && g.one(8) && (update == nil || !strings.Contains(update.render("", false).sql, "VALUES(id)")) {
		s.root.kids = append(s.root.kids, maybe(words("RETURNING "+pickOne(g.dice, []string{"id", "id, a", t.name + ".id AS i, a + 1", "*"}))))
	}
	ids.note(s, names, verb, len(rows.kids))
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

// onDuplicate makes ON DUPLICATE KEY UPDATE for a plain INSERT of so many rows, or nil.
func (g *grammar) onDuplicate(s *statement, t *table, verb string, rows int) *part {
	if verb != "INSERT INTO" && verb != "INSERT IGNORE INTO" || !g.one(4) {
		return nil
	}
	s.upserts = true
	if !g.terms.dialect.mariaDB && g.one(4) {
		return maybe(words("AS fresh ON DUPLICATE KEY UPDATE a = fresh.a + 1"))
	}
	// Of several rows the last one tells, and a server refuses to give an id to one that it has just inserted: error 1869.
	if t.drawn != "" && rows == 1 && g.one(2) {
		return maybe(phrase(words("ON DUPLICATE KEY UPDATE"), words(pickOne(g.dice, []string{
			"id = LAST_INSERT_ID(id)", "id = LAST_INSERT_ID(id), a = COALESCE(a, 0) + 1", "a = 5, id = LAST_INSERT_ID(id)", "id = VALUES(id)", "id = id", "a = LAST_INSERT_ID(a + 1)",
		}))))
	}
	return maybe(phrase(words("ON DUPLICATE KEY UPDATE"), words(pickOne(g.dice, []string{"a = a + 1", "a = VALUES(a)", "a = 4, d = 0.25", "a = a", "s = CONCAT('u', VALUES(a)), a = 1", "a = COALESCE(a, 0) + 2"}))))
}

// insertSelect copies rows from another table, or the same one, under new keys.
func (g *grammar) insertSelect(t *table) *statement {
	from := g.terms.table()
	src := source{from, g.terms.name("t")}
	sc := scope{sources: []source{src}}
	names, values := wordList(append(append([]string{}, t.primary...), "a", "d")...), listOf(0)
	for _, c := range t.keys {
		switch {
		case c.class != integer:
			values.kids = append(values.kids, constant(c.pick(g.Rand)))
		case t.kind == ranged:
			values.kids = append(values.kids, words(fmt.Sprintf("ABS(%s.%s) %% %d", src.alias, "a", rangeKeys)))
		default:
			values.kids = append(values.kids, words(fmt.Sprintf("1000 + %s.a", src.alias)))
		}
	}
	values.kids = append(values.kids, words(src.alias+".a"), words(src.alias+".d"))
	values.least = len(values.kids)
	verb := pickOne(g.dice, []string{"INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"})
	where := words(fmt.Sprintf("WHERE %s.a = %d", src.alias, g.IntN(4)))
	order := &part{kids: sc.primary(), sep: ", "}
	return &statement{
		root:   phrase(words(verb), g.terms.tableName(t), words("("+names.text+") SELECT"), values, words("FROM"), g.terms.tableName(from), words("AS "+src.alias), where, words("ORDER BY"), order),
		writes: []string{t.name}, draws: t.drawn != "" && !t.brings(), brings: t.drawn != "" && t.brings(), gaps: verb != "INSERT INTO", bulk: true,
	}
}

// insertBeside copies rows along the sharding key, so that each stays on its shard.
func (g *grammar) insertBeside() *statement {
	from, to := g.terms.tableNamed("h1"), g.terms.tableNamed("h2")
	key, columns := "id", "user_id, n, a, s"
	if g.one(3) {
		from = to
		key = "user_id"
	}
	sc, source := g.terms.fromTable(from)
	src := sc.sources[0]
	list := []*part{sc.columnOf(src, src.column(key)), constant(intValue(int64(41 + g.IntN(3)))), sc.columnOf(src, src.column("a")), words("'q'")}
	items := listOf(len(list), list...)
	verb := pickOne(g.dice, []string{"INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"})
	query := phrase(words(verb), g.terms.tableName(to), words("("+columns+") SELECT"), items, words("FROM"), source, g.narrow(sc),
		words("ORDER BY"), &part{kids: sc.primary(), sep: ", "}) // of rows that get one key the first or the last stays
	if g.one(2) {
		query = phrase(words(verb), g.terms.tableName(to), words("("+columns+") SELECT"), items, words("FROM"), source,
			words("WHERE"), sc.columnOf(src, src.column("a")), words("="), constant(intValue(int64(g.IntN(5)))),
			words("GROUP BY"), sc.columnOf(src, src.column(key)))
		items.kids[2] = g.terms.call("MAX", items.kids[2])
	}
	return &statement{root: query, writes: []string{to.name}}
}

// update makes UPDATE of one table.
func (g *grammar) update(t *table) *statement {
	sc, from := g.terms.fromTable(t)
	src := sc.sources[0]
	set := listOf(1)
	a := sc.columnOf(src, src.column("a"))
	set.kids = append(set.kids, phrase(a, words("="), pickOne(g.dice, []*part{phrase(a, words("+ 1")), constant(intValue(5)), words("NULL"), words("COALESCE(a, 1)")})))
	for g.one(2) && len(set.kids) < 3 {
		c := t.columns[len(t.keys)+1+g.IntN(len(t.columns)-len(t.keys)-1)]
		if c.counted {
			break // two shards may not have one id
		}
		set.kids = append(set.kids, phrase(sc.columnOf(src, c), words("="), constant(c.pick(g.Rand))))
	}
	if g.one(5) {
		s := sc.columnOf(src, src.column("s"))
		set.kids = append(set.kids, phrase(s, words("="), pickOne(g.dice, []*part{around("UPPER(", s, ")"), around("LEFT(", s, ", 1)"), around("CONCAT('v', ", a, ")")})))
	}
	verb := pickOne(g.dice, []string{"UPDATE", "UPDATE", "UPDATE", "UPDATE IGNORE"})
	if verb == "UPDATE" && g.one(6) { // of several rows that want one key IGNORE lets any have it
		for _, c := range t.keys {
			if c.counted && g.terms.dialect.mariaDB || len(t.keys) > 1 && g.one(2) {
				continue // it draws ids up to one that a row has been given; or the row keeps this one
			}
			set.kids = append(set.kids, phrase(sc.columnOf(src, c), words("="), constant(c.pick(g.Rand))))
		}
	}
	order, limit := g.writeLimit(sc)
	return &statement{root: phrase(words(verb), from, words("SET"), set, g.narrow(sc), order, limit), writes: []string{t.name}}
}

// delete makes DELETE from one table.
func (g *grammar) delete(t *table) *statement {
	src := source{t, t.name}
	sc := scope{sources: []source{src}, bare: g.one(2)}
	order, limit := g.writeLimit(sc)
	var returning *part
	if g.terms.dialect.mariaDB && g.one(20) {
		returning = maybe(words("RETURNING " + t.primary[0] + ", a"))
	}
	return &statement{root: phrase(words("DELETE FROM"), words(t.name), g.narrow(sc), order, limit, returning), writes: []string{t.name}}
}

// narrow makes a WHERE clause for a write: most are for few keys, so that tables keep rows.
func (g *grammar) narrow(sc scope) *part {
	src := sc.sources[0]
	switch g.IntN(8) {
	case 0:
		return g.terms.where(sc)
	case 1:
		return phrase(words("WHERE"), sc.columnOf(src, src.column("a")), words("="), constant(src.column("a").pick(g.Rand)))
	case 2:
		return phrase(words("WHERE"), g.terms.condition(sc, 1), words("AND"), g.terms.onColumn(sc, src, src.keys[0]))
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
	key := g.terms.joinColumn(t)
	s := &statement{writes: []string{t.name}}
	switch g.IntN(9) {
	case 4, 5: // both lie beside each other
		s.writes = []string{"h1", "h2"}
		set := pickOne(g.dice, []string{"h1.a = 6, h2.a = 7", "h1.a = h1.a + 1", "h2.d = 0.5, h2.a = 1"})
		s.root = phrase(words("UPDATE h1 JOIN h2 ON h1.id = h2.user_id SET "+set+" WHERE h1.a = "), constant(intValue(int64(g.IntN(6)))))
	case 6:
		s.writes = []string{"h1", "h2"}
		s.root = phrase(words(pickOne(g.dice, []string{"DELETE h1, h2 FROM", "DELETE h2 FROM", "DELETE FROM h1, h2 USING"})+" h1 JOIN h2 ON h1.id = h2.user_id WHERE h2.a = "), constant(intValue(int64(g.IntN(6)))))
	case 7:
		s.writes = []string{"h1"}
		s.root = phrase(words(pickOne(g.dice, []string{"UPDATE h1 SET a = 8", "DELETE FROM h1"})+" WHERE "+pickOne(g.dice, []string{"", "NOT "})+"EXISTS (SELECT 1 FROM h2 WHERE h2.user_id = h1.id AND h2.a = "), constant(intValue(int64(g.IntN(6)))), words(") AND h1.a < 4"))
	case 8:
		s.writes = []string{"h1"}
		s.root = words("UPDATE h1 SET a = (SELECT MAX(h2.a) FROM h2 WHERE h2.user_id = h1.id) WHERE h1.a > 2")
	case 0:
		s.root = phrase(words("UPDATE"), g.terms.tableName(t), words("JOIN ref AS z ON "+t.name+"."+key+" = z.id SET "+t.name+".a = 3 WHERE z.a > "), constant(intValue(int64(g.IntN(6)))))
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
