package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// idTables are what the ways of making and reading ids use.
var idTables = []string{
	"CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT, u INT UNIQUE)",
	"CREATE TABLE b (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), at DATETIME)",
	"CREATE TABLE child (n INT AUTO_INCREMENT PRIMARY KEY, parent BIGINT)",
	"CREATE TABLE noid (v INT)",
	"CREATE TABLE seen (l BIGINT)",
	"CREATE TABLE fired (v INT)",
	"CREATE TABLE given (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
	"CREATE TABLE seq (id INT)",
	"INSERT INTO seq VALUES (100)",
	"INSERT INTO noid VALUES (1), (2)",
	"CREATE VIEW v AS SELECT LAST_INSERT_ID() AS l",
	"CREATE TRIGGER tr AFTER INSERT ON fired FOR EACH ROW INSERT INTO seen VALUES (LAST_INSERT_ID())",
	"CREATE PROCEDURE made() INSERT INTO a (v) VALUES (77)",
	"CREATE PROCEDURE readit() SELECT LAST_INSERT_ID() AS l",
	"CREATE FUNCTION lid() RETURNS BIGINT DETERMINISTIC NO SQL RETURN LAST_INSERT_ID()",
	"CREATE FUNCTION fun() RETURNS BIGINT DETERMINISTIC MODIFIES SQL DATA BEGIN INSERT INTO a (v) VALUES (5); RETURN LAST_INSERT_ID(); END",
}

// idMakers make ids, or look as if they did. %d is a number that comes again now and then.
var idMakers = []string{
	"INSERT INTO a (v) VALUES (1)",
	"INSERT INTO a (v) VALUES (%d)",
	"INSERT INTO a (v) VALUES (1), (2), (3)",
	"INSERT INTO a SET v = %d",
	"INSERT INTO a (id, v) VALUES (NULL, %d)",
	"INSERT INTO a (id, v) VALUES (DEFAULT, 3)",
	"INSERT INTO a (id, v) VALUES (0, 3)",
	"REPLACE INTO a (id, v) VALUES (%d, 1)",
	"REPLACE INTO a SET id = %d",
	"REPLACE INTO a (id) VALUES ('%d')",
	"REPLACE INTO a (id) VALUES (2 + %d)",
	"REPLACE INTO a (id) VALUES (%d.4)",
	"REPLACE INTO a (id) VALUES (TRUE)",
	"REPLACE INTO a (id) VALUES (0x07)",
	"REPLACE INTO a (id, v) VALUES (LENGTH('abcd'), 4)",
	"REPLACE INTO a (id, v) VALUES (%d, 1), (NULL, 2)",
	"REPLACE INTO a (id, v) VALUES (NULL, 2), (%d, 1)",
	"REPLACE INTO a (u, v) VALUES (%d, 1)",
	"INSERT INTO a (v, u) VALUES (1, %d)",
	"INSERT INTO a (v, u) VALUES (1, NULL), (2, %d)",
	"INSERT IGNORE INTO a (v, u) VALUES (1, %d)",
	"INSERT IGNORE INTO a (v, u) VALUES (1, %d), (2, 3)",
	"INSERT IGNORE INTO a (id, v) VALUES (%d, 2)",
	"INSERT INTO a (v, u) VALUES (1, %d) ON DUPLICATE KEY UPDATE v = v + 1",
	"INSERT INTO a (v, u) VALUES (1, %d) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = v + 1",
	"INSERT INTO a (v) SELECT v FROM noid",
	"REPLACE INTO a (id, v) SELECT %d, v FROM noid LIMIT 1",
	"INSERT INTO b (v, at) VALUES ('it''s %d', NOW())",
	"INSERT INTO b (v) VALUES (UUID())",
	"INSERT INTO noid VALUES (%d)",
	"INSERT INTO nosuch VALUES (1)",
	"INSERT INTO given (v) VALUES (1)",
	"UPDATE seq SET id = LAST_INSERT_ID(id + 1)",
	"UPDATE seq SET id = LAST_INSERT_ID(id + 1) WHERE id < 0",
	"UPDATE a SET v = v + 1 WHERE id = %d",
	"DELETE FROM a WHERE id = LAST_INSERT_ID(%d)",
	"SELECT LAST_INSERT_ID(%d)",
	"SELECT IF(%d > 5, LAST_INSERT_ID(9), 0)",
	"SELECT LAST_INSERT_ID(NULL)",
	"DO LAST_INSERT_ID(%d)",
	"SET @x = LAST_INSERT_ID(%d)",
	"SET last_insert_id = %d",
	"SET identity = %d",
	"SELECT fun()",
	"CALL made()",
}

// idReaders show what the id is.
var idReaders = []string{
	"SELECT LAST_INSERT_ID()",
	"SELECT @@last_insert_id, @@identity",
	"SELECT lid()",
	"INSERT INTO child (parent) VALUES (LAST_INSERT_ID())",
	"INSERT INTO seen VALUES (LAST_INSERT_ID())",
	"UPDATE noid SET v = LAST_INSERT_ID() LIMIT 1",
	"SELECT COUNT(*) FROM a WHERE id <= LAST_INSERT_ID()",
	"SELECT parent FROM child ORDER BY n DESC LIMIT 1",
}

// idHidden are those whose text does not say so.
var idHidden = []string{
	"SELECT * FROM v",
	"INSERT INTO fired VALUES (1)",
	"EXECUTE p",
	"CALL readit()",
}

// idBetween is what sessions do besides; the words behind # say which transactions and pins begin or end.
var idBetween = []string{
	"BEGIN#tx", "START TRANSACTION#tx", "COMMIT#end", "ROLLBACK#end", "COMMIT#end", "SET autocommit = 0#off", "SET autocommit = 1#on",
	"SELECT v FROM noid LIMIT 1", "SELECT 1", "SET @y = 3", "SET NAMES utf8mb4", "SELECT GET_LOCK(CONCAT(DATABASE(), '%d'), 0)#pin", "SAVEPOINT s",
	"PREPARE p FROM 'SELECT LAST_INSERT_ID()'#pin", "DEALLOCATE PREPARE p#unprepare", "!reset", "UPDATE noid SET v = 3",
}

// idClient is one client on both sides.
type idClient struct {
	sides [2]*mysqltest.RawClient // directly, and through the proxy
	stmts map[string][2]*mysqltest.RawStmt
	kept  bool // its connection is its own
	off   bool // autocommit
	pins  bool
}

// idAnswer shows what a client hears.
func idAnswer(r *mysqltest.RawResult, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case r.Err != nil:
		return fmt.Sprint("error ", r.Err.Code)
	case r.OK != nil:
		return fmt.Sprint("ok ", r.OK.AffectedRows, " id ", r.OK.LastInsertID)
	}
	return fmt.Sprint(r.Rows)
}

// run gives what both sides answer to a statement, prepared or as text.
func (c *idClient) run(text string, prepare bool) (answers [2]string) {
	for k, side := range c.sides {
		switch {
		case text == "!reset":
			err := side.Send(mysql.ComResetConnection, "")
			if err == nil {
				_, err = side.Read()
			}
			answers[k] = fmt.Sprint(err)
			c.stmts = map[string][2]*mysqltest.RawStmt{}
		case prepare:
			st := c.stmts[text]
			if st[k] == nil {
				var err error
				if st[k], err = side.Prepare(text); err != nil {
					answers[k] = strings.NewReplacer("id_direct", "db", "id_proxy", "db").Replace(err.Error())
					continue
				}
				c.stmts[text] = st
			}
			answers[k] = idAnswer(st[k].Execute())
		default:
			answers[k] = idAnswer(side.Query(text))
		}
	}
	return answers
}

// next picks a statement for the client and notes what it keeps its connection for.
func (c *idClient) next(r *rand.Rand) (text string, prepare bool) {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	number := func(text string) string {
		if strings.Contains(text, "%d") {
			return fmt.Sprintf(text, 1+r.IntN(12))
		}
		return text
	}
	switch n := r.IntN(10); {
	case n < 4:
		return number(pick(idMakers)), r.IntN(3) == 0
	case n < 7:
		return pick(idReaders), r.IntN(3) == 0
	case n < 8:
		text := pick(idHidden)
		if text == "EXECUTE p" && !c.pins {
			return "SELECT * FROM v", false
		}
		return text, text != "EXECUTE p" && r.IntN(3) == 0
	}
	text, what, _ := strings.Cut(pick(idBetween), "#")
	switch what {
	case "tx":
		c.kept = true
	case "end":
		c.kept = false
	case "off":
		c.off = true
	case "on":
		c.off = false
	case "pin":
		c.pins = true
	case "unprepare":
		c.pins = false
	}
	if text == "!reset" {
		*c = idClient{sides: c.sides, stmts: c.stmts}
	}
	return number(text), false
}

// Several clients make and read ids in every way, in transactions, with autocommit off and holding locks, on fewer connections than
// there are clients: each hears what it would on a connection of its own.
func TestLastInsertIDGenerated(t *testing.T) {
	const clients, steps = 4, 400
	seeds := 6
	if everyCase {
		seeds = 12
	}
	onBoth(t, clients, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		ways := map[string]bool{}
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(19, seed))
			for k, db := range []string{"id_direct", "id_proxy"} {
				c := dial(t, []string{server.Addr, addr}[k], accept()) // who defines something elsewhere waits until it is noticed
				for _, sql := range append([]string{"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db, "USE " + db}, idTables...) {
					must(t, c, sql)
				}
				c.Close()
			}
			var all []*idClient
			for range clients {
				c := &idClient{stmts: map[string][2]*mysqltest.RawStmt{}}
				c.sides[0] = dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "id_direct"})
				c.sides[1] = dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "id_proxy"})
				for _, side := range c.sides {
					must(t, side, "SET SESSION innodb_lock_wait_timeout = 1")
				}
				all = append(all, c)
			}
			var log []string
			for range steps {
				n := r.IntN(clients)
				text, prepare := all[n].next(r)
				for k, c := range all {
					if k != n && (c.kept || c.off) {
						// Nobody waits for another's row locks: those end here.
						c.kept = false
						c.run("COMMIT", false)
						log = append(log, fmt.Sprintf("%d COMMIT", k))
					}
				}
				log = append(log, fmt.Sprintf("%d %s prepared %v", n, text, prepare))
				if got := all[n].run(text, prepare); got[0] != got[1] {
					t.Fatalf("seed %d: a connection of its own says %s, through the proxy %s:\n%s", seed, got[0], got[1], strings.Join(log[max(0, len(log)-40):], "\n"))
				} else {
					ways[text+got[0][:2]] = true
				}
			}
			for _, c := range all {
				c.sides[0].Close()
				c.sides[1].Close()
			}
		}
		if len(ways) < 300 {
			t.Errorf("only %d different statements and outcomes", len(ways))
		}
	})
}
