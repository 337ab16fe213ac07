package differential

import (
	"fmt"
	"strings"
)

// clientsMax is how many sessions a scenario has at most on each side.
const clientsMax = 4

// client is one of several sessions, each with rows of its own, so that none waits for another.
type client struct {
	number int
	home   *table // what it changes and reads, all on one shard
	key    int    // of its rows, or the first of them in a table without a sharding key
}

// clients makes statements of several sessions in turns: ids that the server gives, user variables, and transactions in all forms.
func (g *grammar) clients() scenario {
	var list scenario
	var all []*client
	run := func(c *client, s *statement) {
		s.client, s.exact = c.number, true
		list = append(list, s)
	}
	for k := range 2 + g.IntN(clientsMax-1) {
		home := g.terms.tableNamed(pickOne(g.dice, []string{"one", "one", "loc", "loc", "h1", "h2", "i1", "i2", "i3"}))
		c := &client{number: k + 1, home: home, key: 5000 + 100*k}
		all = append(all, c)
		run(c, &statement{root: words("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")})
		run(c, &statement{root: words("SELECT 1")}) // what FOUND_ROWS() says
	}
	for range 8 + g.IntN(16) {
		c := pickOne(g.dice, all)
		for range 1 + g.IntN(3) {
			run(c, g.step(c))
		}
	}
	for _, c := range all {
		for _, name := range []string{"p", "q"} {
			run(c, &statement{root: words("DEALLOCATE PREPARE " + name), control: true, ends: true})
		}
		run(c, &statement{root: words(pickOne(g.dice, []string{"COMMIT", "COMMIT", "ROLLBACK"})), control: true, ends: true})
		// A variable that becomes NULL keeps its type, by which the next scenario's warnings would go.
		run(c, &statement{root: words("SET autocommit = 1, @u = '', @v = '', @w = '', @u = NULL, @v = NULL, @w = NULL"), control: true, ends: true})
		run(c, &statement{root: words("SELECT LAST_INSERT_ID(100)"), control: true, ends: true})
	}
	return list
}

// step makes the next statement of a client.
func (g *grammar) step(c *client) *statement {
	if g.one(4) {
		return g.control()
	}
	key, table := "id", c.home.name
	if c.home.kind == hashed {
		key = c.home.shardKey
	}
	own := fmt.Sprintf("%s = %d", key, c.key+g.IntN(2))
	second := ""
	if len(c.home.keys) > 1 {
		second = ", " + c.home.keys[1].name
		own = fmt.Sprintf("%s = %d AND %s = %d", key, c.key, c.home.keys[1].name, 1+g.IntN(3))
	} else if c.home.kind == hashed {
		own = fmt.Sprintf("%s = %d", key, c.key)
	}
	if g.one(2) {
		// How many rows an aggregate has found where none are aggregated, a server tells by its plan: FOUND_ROWS() does not come behind one.
		return &statement{root: words(pickOne(g.dice, []string{
			"SELECT LAST_INSERT_ID()", "SELECT LAST_INSERT_ID() AS i, @@last_insert_id, @@identity", "SELECT @u, @v, @w", "SELECT @u := 3 + @v", "SET @u = 5", "SET @v = @u, @u = 7",
			"SET @w = LAST_INSERT_ID()", "SELECT 4, 'x' INTO @u, @w", "DO LAST_INSERT_ID(77)", "SELECT LAST_INSERT_ID(@u + 10)", "SET @u := 'text'",
			"SELECT @v := LAST_INSERT_ID(), @u", "SELECT @w IS NULL, @u = @v", "SET @v = 1.50", "SET @u = x'6162'", "SELECT COUNT(*) FROM ref WHERE id < @v; SELECT 1", "SELECT @nobody",
			"SELECT a, @u FROM " + table + " WHERE " + own, "SELECT a INTO @v FROM " + table + " WHERE " + own, "SELECT @v := a FROM " + table + " WHERE " + own,
			"SET @v = (SELECT a FROM " + table + " WHERE " + own + ")", "SELECT a, d FROM " + table + " WHERE " + own + " FOR UPDATE", "SELECT a FROM " + table + " WHERE " + own + " AND a = @v",
			"SELECT MAX(a), @w FROM " + table + " WHERE " + own + "; SELECT 1",
			"SELECT ROW_COUNT()", "SELECT FOUND_ROWS()", "SELECT ROW_COUNT() AS r, FOUND_ROWS() AS f, LAST_INSERT_ID() AS i", "SET @w = ROW_COUNT()", "SET @v = FOUND_ROWS()",
			"SELECT ROW_COUNT() + 1 AS r, @@autocommit", "SET @u = 6; SELECT ROW_COUNT(), FOUND_ROWS()", "SET autocommit = 1; SELECT ROW_COUNT()", "DO 1; SELECT ROW_COUNT()",
			"SELECT a FROM " + table + " WHERE " + own + "; SELECT FOUND_ROWS(), ROW_COUNT()", "SELECT SQL_CALC_FOUND_ROWS a FROM " + table + " WHERE " + own + " LIMIT 1",
			"SELECT a, ROW_COUNT() AS r, FOUND_ROWS() AS f FROM " + table + " WHERE " + own,
		}))}
	}
	if g.one(5) {
		return g.text(c, own)
	}
	s := &statement{writes: []string{table}}
	s.prepared = g.one(4)
	values := fmt.Sprint(c.key + g.IntN(2))
	if c.home.kind == hashed {
		values = fmt.Sprint(c.key)
	}
	if second != "" {
		values += fmt.Sprintf(", %d", 1+g.IntN(3))
	}
	a := pickOne(g.dice, []string{"1", "@v", "LAST_INSERT_ID()", "@u", "2", "ROW_COUNT()", "FOUND_ROWS()"})
	if c.home.drawn != "" && g.one(2) {
		columns, first, more := "", "", ""
		if c.home.shardKey != c.home.drawn {
			columns, first, more = "user_id, ", fmt.Sprintf("%d, ", c.key), fmt.Sprintf("%d, ", c.key)
		}
		if !c.home.brings() {
			columns, first, more = columns+"n, ", first+fmt.Sprintf("%d, ", 1+g.IntN(3)), more+fmt.Sprintf("%d, ", 4+g.IntN(3))
		}
		insert := "INSERT INTO " + table + " ("
		zero := "0"
		if c.home.shardKey != c.home.drawn && strings.Contains(g.terms.mode, "NO_AUTO_VALUE_ON_ZERO") {
			zero = "NULL" // another client may bring a 0, too, on another shard, whose keys are its own
		}
		text := pickOne(g.dice, []string{
			insert + columns + "a) VALUES (" + first + a + ")", insert + columns + "a) VALUES (" + first + a + "), (" + more + "4)", insert + "id, " + columns + "a) VALUES (NULL, " + first + a + ")",
			insert + columns + "id, a) VALUES (" + first + zero + ", 3)", "REPLACE INTO " + table + " (" + columns + "a) VALUES (" + first + a + ")",
			insert + columns + "a) VALUES (" + first + "2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), a = 3", "INSERT IGNORE INTO " + table + " (" + columns + "a) VALUES (" + first + a + ")",
		})
		s.root, s.draws, s.gaps = words(text), true, strings.Contains(text, "IGNORE") || strings.Contains(text, "DUPLICATE")
		return s
	}
	if c.home.counts() && g.one(2) {
		s.root = words(pickOne(g.dice, []string{
			"INSERT INTO " + table + " (a) VALUES (" + a + ")", "INSERT INTO " + table + " (a) VALUES (" + a + "), (4), (5)", "INSERT INTO " + table + " (id, a) VALUES (NULL, " + a + ")",
			"INSERT INTO " + table + " SET a = " + a, "INSERT INTO " + table + " (id, a) VALUES (0, 3)", "INSERT INTO " + table + " (a) SELECT " + a,
			"REPLACE INTO " + table + " (a) VALUES (" + a + ")",
		}))
		return s
	}
	s.root = words(pickOne(g.dice, []string{
		fmt.Sprintf("INSERT INTO %s (%s%s, a) VALUES (%s, %s)", table, key, second, values, a), fmt.Sprintf("REPLACE INTO %s (%s%s, a) VALUES (%s, %s)", table, key, second, values, a),
		fmt.Sprintf("INSERT IGNORE INTO %s (%s%s, a) VALUES (%s, %s)", table, key, second, values, a),
		fmt.Sprintf("INSERT INTO %s (%s%s, a) VALUES (%s, %s) ON DUPLICATE KEY UPDATE a = LAST_INSERT_ID(a + 1)", table, key, second, values, a),
		fmt.Sprintf("UPDATE %s SET a = %s WHERE %s", table, a, own), fmt.Sprintf("UPDATE %s SET a = LAST_INSERT_ID(a + 1) WHERE %s", table, own),
		fmt.Sprintf("DELETE FROM %s WHERE %s", table, own), fmt.Sprintf("UPDATE %s SET d = 0.25, s = @w WHERE %s", table, own),
	}))
	if c.home.drawn != "" {
		s.gaps = strings.Contains(s.root.text, "IGNORE") || strings.Contains(s.root.text, "DUPLICATE")
		s.draws = !c.home.brings() && !strings.HasPrefix(s.root.text, "UPDATE") && !strings.HasPrefix(s.root.text, "DELETE")
	}
	return s
}

// text makes a statement that prepares, carries out or forgets one given as text. Those on tables with rules are refused, so that most are
// of the unsharded table or of none.
func (g *grammar) text(c *client, own string) *statement {
	if c.home.kind != unplaced && !g.one(8) {
		own = "0"
	}
	from := "loc WHERE " + own
	if own == "0" {
		from = "ref WHERE id < 3"
	} else if c.home.kind != unplaced {
		from = c.home.name + " WHERE " + own
	}
	s := &statement{control: true} // what is prepared is needed by what is not
	texts := []string{
		"PREPARE p FROM 'SELECT a, @u FROM " + from + "'", "PREPARE p FROM 'SELECT @u, @v, LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS()'", "PREPARE p FROM 'SET @u = @v'",
		"PREPARE q FROM 'SELECT @v := 4'", "PREPARE q FROM 'SELECT a INTO @v FROM " + from + "'", "SET @t = 'SELECT LAST_INSERT_ID(33)'", "PREPARE q FROM @t",
		"EXECUTE p", "EXECUTE p", "EXECUTE q", "EXECUTE q", "DEALLOCATE PREPARE p", "DEALLOCATE PREPARE q", "EXECUTE p; SELECT ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID()",
	}
	if c.home.kind == unplaced {
		s.writes = []string{"loc"}
		texts = append(texts, "PREPARE p FROM 'INSERT INTO loc (a) VALUES (@v)'", "PREPARE p FROM 'UPDATE loc SET a = LAST_INSERT_ID(a + 1) WHERE "+own+"'", "PREPARE q FROM 'DELETE FROM loc WHERE "+own+"'")
	}
	if g.terms.dialect.mariaDB {
		texts = append(texts, "EXECUTE IMMEDIATE 'SELECT a, @u FROM "+from+"'", "EXECUTE IMMEDIATE 'SELECT @v := 8'", "EXECUTE IMMEDIATE 'DO LAST_INSERT_ID(55)'", "EXECUTE IMMEDIATE @t")
		if c.home.kind == unplaced {
			texts = append(texts, "EXECUTE IMMEDIATE 'INSERT INTO loc (a) VALUES (LAST_INSERT_ID())'")
		}
	}
	s.root = words(pickOne(g.dice, texts))
	return s
}

// control makes a statement that begins, ends or parts a transaction.
func (g *grammar) control() *statement {
	text := pickOne(g.dice, []string{
		"BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SAVEPOINT s1", "SAVEPOINT s2", "ROLLBACK TO SAVEPOINT s1", "ROLLBACK TO s2", "RELEASE SAVEPOINT s1", "SET autocommit = 0",
		"SET autocommit = 0", "SET autocommit = 1", "SET @@session.autocommit = OFF", "COMMIT AND CHAIN", "ROLLBACK AND NO CHAIN", "BEGIN WORK", "START TRANSACTION READ WRITE",
		"SELECT @@autocommit", "SET @@autocommit = DEFAULT",
	})
	return &statement{root: words(text), control: true}
}
