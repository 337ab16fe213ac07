package differential

import "fmt"

// keyedGrammar makes statements on a table with keys over its shards: rows that collide in one of them or in several, and changes of their columns.
type keyedGrammar struct{ *grammar }

// scenario is a statement, or a few in a transaction.
func (g keyedGrammar) scenario() scenario {
	t := g.terms.tableNamed("u1")
	one := func() *statement {
		if g.one(4) {
			return g.query(t)
		}
		return g.prepare(g.write(t))
	}
	if !g.one(4) {
		s := scenario{one()}
		if len(s[0].writes) > 0 && g.one(4) {
			s = append(s, &statement{root: words("SHOW WARNINGS"), own: true, follows: true})
		}
		return s
	}
	control := func(sql string) *statement { return &statement{root: words(sql), control: true} }
	list := scenario{control("BEGIN")}
	savepoint := g.one(3)
	for k := range 2 + g.IntN(4) {
		if savepoint && k == 1 {
			list = append(list, control("SAVEPOINT here"))
		}
		list = append(list, one())
		if savepoint && k == 2 {
			list = append(list, control("ROLLBACK TO SAVEPOINT here"))
		}
	}
	return append(list, &statement{root: words(pickOne(g.dice, []string{"COMMIT", "COMMIT", "ROLLBACK"})), control: true, ends: true})
}

// of is a constant for a column.
func (g keyedGrammar) of(t *table, name string) *part { return constant(t.column(name).pick(g.Rand)) }

// where is a condition on the keys.
func (g keyedGrammar) where(t *table) *part {
	is := func(name string) *part { return phrase(words(name+" ="), g.of(t, name)) }
	in := func(name string) *part {
		return phrase(words(name+" IN"), join(words("("), listOf(1, g.of(t, name), g.of(t, name)), words(")")))
	}
	switch g.IntN(8) {
	case 0, 1:
		return phrase(words("WHERE"), is("mail"))
	case 2:
		return phrase(words("WHERE"), is("tenant"), words("AND"), is("code"))
	case 3:
		return phrase(words("WHERE"), is("dept"))
	case 4:
		return phrase(words("WHERE"), in("mail"))
	case 5:
		return phrase(words("WHERE"), is("dept"), words("AND"), in("mail"))
	case 6:
		return phrase(words("WHERE"), in("id"))
	}
	return phrase(words("WHERE"), is("id"))
}

// query reads by the keys.
func (g keyedGrammar) query(t *table) *statement {
	items := pickOne(g.dice, []string{"id, mail, tenant, code, dept, a", "mail, id", "*", "id, a, s"})
	order := words("ORDER BY id")
	return g.prepare(&statement{root: phrase(words("SELECT "+items+" FROM"), g.terms.tableName(t), g.where(t), order), order: order, total: order})
}

// write changes rows.
func (g keyedGrammar) write(t *table) *statement {
	switch n := g.IntN(12); {
	case n < 7:
		return g.insert(t)
	case n < 10:
		return g.update(t)
	}
	return &statement{root: phrase(words("DELETE FROM"), g.terms.tableName(t), g.where(t)), writes: []string{t.name}}
}

// insert makes INSERT, INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE.
func (g keyedGrammar) insert(t *table) *statement {
	s := &statement{writes: []string{t.name}}
	names := pickOne(g.dice, [][]string{{"id", "a", "mail", "tenant", "code", "dept"}, {"id", "mail", "dept"}, {"mail", "id", "a"}, {"id", "tenant", "code"}, {"id", "dept", "s"}})
	rows := listOf(1)
	for len(rows.kids) == 0 || g.one(2) && len(rows.kids) < 5 {
		row := listOf(len(names))
		for _, name := range names {
			row.kids = append(row.kids, g.of(t, name))
		}
		rows.kids = append(rows.kids, join(words("("), row, words(")")))
	}
	verb := pickOne(g.dice, []string{"INSERT INTO", "INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"})
	var update, returning *part
	if verb == "INSERT INTO" && g.one(2) {
		s.upserts = true
		update = maybe(g.onDuplicate(names[1]))
	}
	if g.terms.dialect.mariaDB && g.one(8) {
		returning = maybe(words("RETURNING " + pickOne(g.dice, []string{"id, mail", "*", "u1.dept AS d, id + 1, a"})))
	}
	s.root = phrase(words(verb), g.terms.tableName(t), words("("+wordList(names...).text+")"), words("VALUES"), rows, update, returning)
	return s
}

// onDuplicate makes ON DUPLICATE KEY UPDATE. column is one of the INSERT's.
func (g keyedGrammar) onDuplicate(column string) *part {
	if !g.terms.dialect.mariaDB && g.one(3) {
		return words(fmt.Sprintf("AS fresh ON DUPLICATE KEY UPDATE %[1]s = fresh.%[1]s", column))
	}
	return words("ON DUPLICATE KEY UPDATE " + pickOne(g.dice, []string{
		"a = a + 1", fmt.Sprintf("%[1]s = VALUES(%[1]s)", column), fmt.Sprintf("a = 1, %[1]s = VALUES(%[1]s)", column), "mail = CONCAT(mail, 'x')", "code = 'r'", "dept = dept + 1", "a = a", "tenant = NULL",
	}))
}

// update gives columns of the keys, the sharding key or others new values.
func (g keyedGrammar) update(t *table) *statement {
	set := listOf(1)
	for _, name := range pickOne(g.dice, [][]string{{"mail"}, {"mail", "a"}, {"tenant"}, {"tenant", "code"}, {"code"}, {"dept"}, {"dept", "mail"}, {"id"}, {"id", "mail"}, {"s", "a"}}) {
		set.kids = append(set.kids, phrase(words(name+" ="), g.of(t, name)))
	}
	where := g.where(t)
	if g.one(4) {
		set = listOf(1, words(pickOne(g.dice, []string{"mail = CONCAT('u', id)", "dept = dept + 1", "a = a + 1, dept = a", "mail = UPPER(mail)", "tenant = tenant + 1"})))
		where = phrase(words("WHERE id ="), g.of(t, "id"))
	}
	return &statement{root: phrase(words("UPDATE"), g.terms.tableName(t), words("SET"), set, where), writes: []string{t.name}}
}
