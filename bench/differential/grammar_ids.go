package differential

import (
	"fmt"
	"slices"
	"strings"
)

// unspaced has each id be one more than that before.
const unspaced = "SET auto_increment_increment = 1, auto_increment_offset = 1"

// ids makes statements on a table whose ids the proxy draws, with questions for them, by themselves or in a transaction.
func (g *grammar) ids() scenario {
	var tables []*table
	for _, t := range g.terms.schema.tables {
		if t.drawn != "" {
			tables = append(tables, t)
		}
	}
	t := pickOne(g.dice, tables)
	control := func(sql string, ends bool) *statement { return &statement{root: words(sql), control: true, ends: ends} }
	var list, ends scenario
	if g.spaced = g.one(10); g.spaced {
		defer func() { g.spaced = false }()
		list = append(list, control(fmt.Sprintf("SET auto_increment_increment = %d, auto_increment_offset = %d", 5+g.IntN(6), 1+g.IntN(5)), false))
		ends = scenario{control(unspaced, true)}
	}
	transaction := g.one(3)
	if transaction {
		list = append(list, control(pickOne(g.dice, []string{"BEGIN", "START TRANSACTION"}), false))
		ends = append(scenario{control(pickOne(g.dice, []string{"COMMIT", "COMMIT", "ROLLBACK"}), true)}, ends...)
	}
	savepoint := transaction && g.one(3)
	for k := range 1 + g.IntN(6) {
		if savepoint && k == 1 {
			list = append(list, control("SAVEPOINT here", false))
		}
		list = append(list, g.idStep(t, transaction)...)
		if savepoint && k == 2 {
			list = append(list, control("ROLLBACK TO SAVEPOINT here", false))
		}
	}
	list = append(list, ends...)
	if transaction {
		return list
	}
	return g.wrapped(list)
}

// idStep makes a statement on the table, and those that belong to it.
func (g *grammar) idStep(t *table, transaction bool) scenario {
	text := func(list ...string) *statement {
		s := &statement{root: words(pickOne(g.dice, list)), writes: []string{t.name}}
		return g.prepare(s)
	}
	switch n := g.IntN(24); {
	case n < 13:
		s := g.insert(t)
		if !s.prepared && g.one(12) {
			s.root = phrase(s.root, words("; SELECT LAST_INSERT_ID(), ROW_COUNT()"))
		} else {
			g.prepare(s)
		}
		list := scenario{s}
		for g.one(2) && len(list) < 3 {
			list = append(list, g.askIDs(t, s))
		}
		return list
	case n == 13:
		return scenario{text("DELETE FROM "+t.name+" WHERE id > 40", fmt.Sprintf("DELETE FROM %s WHERE id >= %d", t.name, 30+g.IntN(40)), "DELETE FROM "+t.name+" WHERE id = LAST_INSERT_ID()",
			"DELETE FROM "+t.name+" ORDER BY id DESC, "+strings.Join(t.primary, ", ")+" LIMIT 2")}
	case n == 14:
		return scenario{text("UPDATE "+t.name+" SET a = 8 WHERE id = LAST_INSERT_ID()", "UPDATE "+t.name+" SET a = LAST_INSERT_ID(7) WHERE id = "+fmt.Sprint(1+g.IntN(40)), // of several rows any may be the last
			"UPDATE "+t.name+" SET d = 0.25 WHERE id > 40")}
	case n < 17:
		s := &statement{root: words(pickOne(g.dice, []string{
			"SELECT * FROM " + t.name + " WHERE id = LAST_INSERT_ID()", "SELECT MAX(id), COUNT(*), MIN(id) FROM " + t.name, "SELECT a, id FROM " + t.name + " WHERE id > 35",
			"SELECT LAST_INSERT_ID()", "SELECT @@last_insert_id, @@identity",
		}))}
		return scenario{g.prepare(s)}
	case n == 17 && !transaction:
		return scenario{text("TRUNCATE TABLE "+t.name, "TRUNCATE "+t.name)}
	case n == 18 && !transaction:
		next := pickOne(g.dice, []int{1, 60, 100, 300, 10000})
		s := &statement{root: words(fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", t.name, next)), writes: []string{t.name}, begins: true}
		s.gaps = next == 1 // a server lowers it to what the rows allow
		return scenario{s}
	case n == 19:
		return scenario{g.prepare(g.insertSelect(t))}
	case n == 20:
		return scenario{g.prepare(g.delete(t))}
	case n == 21:
		return scenario{g.prepare(g.update(t))}
	case n == 22 && t.primary[0] != t.drawn && t.brings() && !g.terms.dialect.mariaDB: // which draws ids up to that one
		id := 60 + g.IntN(200)
		s := text(fmt.Sprintf("UPDATE %s SET id = %d WHERE id = %d", t.name, id, 1+g.IntN(40)))
		s.moves = uint64(id)
		return scenario{s}
	}
	return scenario{g.prepare(g.insertLeaving(t))}
}

// askIDs makes a question for what an INSERT has told the session, or the catalogue.
func (g *grammar) askIDs(t *table, insert *statement) *statement {
	list := []string{
		"SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() AS i, ROW_COUNT() AS r", "SELECT @@last_insert_id, @@identity, LAST_INSERT_ID()", "SELECT ROW_COUNT(), LAST_INSERT_ID() AS i",
	}
	next := insert.draws && !insert.gaps && !g.spaced && g.one(4) // how far InnoDB has counted ids that are spaced is its own
	if next {
		list = []string{
			"SHOW CREATE TABLE " + t.name,
			"SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '" + t.name + "'",
			"SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE '" + t.name + "'",
		}
	}
	s := &statement{root: words(pickOne(g.dice, list)), follows: true, exact: true, next: next}
	return g.prepare(s)
}

// insertLeaving copies rows into a table and leaves it their ids.
func (g *grammar) insertLeaving(t *table) *statement {
	from := g.anyTable()
	columns, values := "a, d", "x.a, x.d"
	if t.shardKey != t.drawn {
		columns, values = "user_id, a", fmt.Sprintf("%d, x.a", g.IntN(30))
	}
	if slices.Contains(t.primary, "n") {
		columns, values = columns+", n", fmt.Sprintf("%s, %d", values, 50+g.IntN(30))
	}
	if g.one(3) {
		ids := []string{"NULL, ", "0, ", "0, "}
		if t.shardKey != t.drawn && strings.Contains(g.terms.mode, "NO_AUTO_VALUE_ON_ZERO") {
			ids = ids[:1] // another row may bring a 0, too, on another shard, whose keys are its own
		}
		columns, values = "id, "+columns, pickOne(g.dice, ids)+values
	}
	order := make([]string, len(from.primary))
	for k, name := range from.primary {
		order[k] = "x." + name
	}
	return &statement{
		root: words(fmt.Sprintf("%s %s (%s) SELECT %s FROM %s AS x WHERE x.a = %d ORDER BY %s", pickOne(g.dice, []string{"INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"}),
			t.name, columns, values, from.name, g.IntN(5), strings.Join(order, ", "))),
		writes: []string{t.name}, draws: true, gaps: true,
	}
}

// leaveID takes the id from the names of columns of an INSERT, half of the time.
func (g *grammar) leaveID(t *table, names []string) []string {
	if t.drawn == "" || g.one(2) {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == t.drawn })
}

// rowIDs makes the ids of the rows of an INSERT, and notes on it what they ask for.
type rowIDs struct {
	*grammar
	table  *table
	only   string // "bring" or "leave": no row does the other
	brings int    // rows
	leaves int
	zeroes int // of the rows that bring one, those that bring 0
	ids    []string
}

// of is the id of the next row, as the INSERT gives it.
func (i *rowIDs) of(c *column) *part {
	zeroStays := strings.Contains(i.terms.mode, "NO_AUTO_VALUE_ON_ZERO")
	if i.table.brings() && i.only != "leave" && (i.only == "bring" || i.one(2)) {
		i.brings++
		v := c.pick(i.Rand)
		switch {
		case i.one(8):
			v = intValue(int64(60 + i.IntN(200)))
		case i.one(20) && zeroStays:
			v = intValue(0)
			i.zeroes++
		}
		i.ids = append(i.ids, v.sql)
		return constant(v)
	}
	n := i.IntN(40)
	if n < 6 && zeroStays && i.table.brings() && i.only != "leave" { // it is 0
		i.brings++
		i.zeroes++
		return words("DEFAULT")
	}
	i.leaves++
	switch {
	case n < 6 && !zeroStays:
		return words("DEFAULT")
	case n < 14 && !zeroStays:
		return constant(intValue(0))
	case n < 16 && !zeroStays:
		return constant(textValue("0"))
	case n == 17 && !zeroStays:
		return words("1 - 1")
	case n < 25:
		return constant(value{sql: "null"}) // a parameter
	}
	return words("NULL")
}

// note notes on a statement of so many rows what its ids ask for.
func (i *rowIDs) note(s *statement, names []string, verb string, rows int) {
	if i.table.drawn == "" {
		return
	}
	if !slices.Contains(names, i.table.drawn) {
		i.leaves = rows
	}
	s.draws = i.leaves > 0
	s.gaps = s.gaps || s.upserts || strings.Contains(verb, "IGNORE") || i.leaves > 0 && i.brings > 0
	s.gaps = s.gaps || i.spaced && i.brings > 0 // MySQL takes an increment of before
	s.gaps = s.gaps || i.zeroes > 0             // both use up an id where the same open table gave one before
	s.brought = i.ids
}
