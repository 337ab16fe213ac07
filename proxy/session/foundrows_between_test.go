package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// foundBetween come between a query and FOUND_ROWS(), with what SHOW WARNINGS says of them.
var foundBetween = []string{
	"SELECT * FROM f", "SELECT * FROM f LIMIT 3", "SELECT * FROM f WHERE id < 0", "SELECT SQL_CALC_FOUND_ROWS id FROM f LIMIT 1", "SELECT 1 UNION SELECT 2", "(SELECT 1) UNION ALL (SELECT 2) LIMIT 1",
	"SELECT v FROM f WHERE id = 1 INTO @z", "SELECT v FROM f WHERE id = 99 INTO @z", "SELECT 'a' + 1", "SELECT FOUND_ROWS()", "SELECT FOUND_ROWS() AS n, 1",
	"INSERT INTO f VALUES (100, 1), (101, 2)", "INSERT INTO f VALUES (1, 1)", "INSERT INTO f VALUES ((SELECT 123), 1)", "INSERT INTO f SELECT id + 200, v FROM f LIMIT 3",
	"INSERT INTO f VALUES (1, 1), (2, 1) ON DUPLICATE KEY UPDATE v = 4", "INSERT IGNORE INTO f VALUES (1, 1), (2, 2)", "REPLACE INTO f SELECT id, v FROM f WHERE id < 3", "REPLACE INTO f VALUES (1, 1)",
	"UPDATE f SET v = 3", "UPDATE f SET v = v + 1 WHERE id < 3", "UPDATE f SET v = 3 WHERE id < 0", "UPDATE f SET v = 9 WHERE id IN (1, 2, 3) LIMIT 2", "UPDATE f SET v = 9 ORDER BY id LIMIT 2",
	"UPDATE f x JOIN f y ON x.id = y.id + 1 SET x.v = 3", "UPDATE f x, f y SET x.v = 5 WHERE x.id = y.id AND x.id < 3", "UPDATE f SET v = 1 WHERE id = (SELECT MAX(id) FROM (SELECT id FROM f) q)",
	"DELETE FROM f WHERE id > 90", "DELETE x FROM f x JOIN f y ON x.id = y.id WHERE x.id = 7", "DELETE FROM f WHERE id IN (SELECT 5555)", "DELETE FROM x USING f x WHERE x.id = 3",
	"SET @x = 1", "SET @x = (SELECT COUNT(*) FROM f)", "SET NAMES utf8mb4", "SET NAMES utf8mb3", "SET sql_mode = ''", "SET SESSION max_sort_length = 1", "SET SESSION sort_buffer_size = 1, @y = 1",
	"DO 1", "DO (SELECT COUNT(*) FROM f)", "DO SLEEP(0)", "DO 'a' + 1",
	"SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS", "SHOW COUNT(*) ERRORS", "SHOW TABLES", "SHOW FULL TABLES", "SHOW VARIABLES LIKE 'sql_mod%'", "SHOW SESSION STATUS LIKE 'Com_sel%t'",
	"SHOW COLUMNS FROM f", "SHOW FULL COLUMNS FROM f", "DESCRIBE f", "EXPLAIN f", "SHOW CREATE TABLE f", "SHOW DATABASES LIKE 'mysql'", "SHOW INDEX FROM f", "SHOW GRANTS", "SHOW ENGINES", "SHOW PRIVILEGES",
	"SHOW COLLATION LIKE 'latin1%'", "SHOW CHARACTER SET LIKE 'latin1'", "SHOW TRIGGERS", "SHOW EVENTS", "SHOW PLUGINS", "SHOW OPEN TABLES LIKE 'zz'", "SHOW PROCEDURE STATUS LIKE 'zz'",
	"EXPLAIN SELECT * FROM f", "EXPLAIN UPDATE f SET v = 1", "ANALYZE TABLE f", "CHECK TABLE f", "CHECKSUM TABLE f", "HELP 'zzz'",
	"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "USE mysql", "DROP TABLE IF EXISTS nos", "CREATE TABLE IF NOT EXISTS f (id INT)", "CREATE TEMPORARY TABLE tt AS SELECT * FROM f LIMIT 2", "TRUNCATE TABLE g",
	"ALTER TABLE g ADD COLUMN w INT", "SELEC", "SELECT * FROM nosuch", "PREPARE q FROM 'SELECT 1 UNION SELECT 2'", "EXECUTE q", "DEALLOCATE PREPARE q", "CALL finds()", "CALL changes()",
	"LOCK TABLES f READ", "UNLOCK TABLES", "KILL QUERY 999999999", "WITH c AS (SELECT 1 a UNION SELECT 2) SELECT * FROM c", "VALUES ROW(1), ROW(2)", "TABLE f", "ANALYZE SELECT * FROM f", "EXPLAIN ANALYZE SELECT * FROM f",
	"INSERT INTO f VALUES (300, 1) RETURNING id", "DELETE FROM f WHERE id = 1 RETURNING id", "!reset",
	"SET STATEMENT sort_buffer_size = 100000 FOR DO 1", "SET STATEMENT sort_buffer_size = 100000 FOR SELECT * FROM f LIMIT 3", "SET STATEMENT sort_buffer_size = 100000 FOR UPDATE f SET v = 3",
	"EXECUTE IMMEDIATE 'SET @x = 5'", "EXECUTE IMMEDIATE 'DELETE FROM f WHERE id = 2'", "EXECUTE IMMEDIATE 'SELECT * FROM f LIMIT 2'",
	"SET STATEMENT sort_buffer_size = 100000 FOR EXECUTE IMMEDIATE 'INSERT INTO f VALUES (100, 1)'",
	"EXECUTE IMMEDIATE 'SET STATEMENT sort_buffer_size = 100000 FOR INSERT INTO f VALUES (100, 1)'",
}

// foundTables makes the tables of foundBetween in two databases, one for each side.
func foundTables(t *testing.T, server *mysqltest.RealServer) {
	t.Helper()
	for _, db := range []string{"id_direct", "id_proxy"} {
		c := dial(t, server.Addr, accept())
		for _, sql := range []string{"DROP DATABASE IF EXISTS " + db, "CREATE DATABASE " + db, "USE " + db, "CREATE TABLE f (id INT PRIMARY KEY, v INT)", "CREATE TABLE g (v INT)",
			"CREATE PROCEDURE finds() SELECT 1 UNION SELECT 2 UNION SELECT 3", "CREATE PROCEDURE changes() UPDATE f SET v = 1 WHERE id < 3"} {
			must(t, c, sql)
		}
		c.Close()
	}
}

// foundClient is a client of both sides.
func foundClient(t *testing.T, server *mysqltest.RealServer, addr string) *idClient {
	t.Helper()
	c := &idClient{stmts: map[string][2]*mysqltest.RawStmt{}}
	c.sides[0] = dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "id_direct"})
	c.sides[1] = dial(t, addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "id_proxy"})
	return c
}

// FOUND_ROWS() behind queries that give a value to SET or to a row, and behind EXECUTE, is that of a connection of one's own. An EXECUTE whose
// text asks for what its connection does not know is refused.
func TestFoundRowsOfValues(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		foundTables(t, server)
		other := dial(t, addr, accept())
		told, refused := 0, 0
		for _, first := range []string{
			"SET @x = (SELECT v FROM f WHERE id = 99)", "SET @x = (SELECT v FROM f WHERE id = 1)", "SET @x = 1 + (SELECT COUNT(*) FROM f)", "SET @y = 1, @x = (SELECT v FROM f LIMIT 1)",
			"INSERT INTO f SET id = 50, v = (SELECT v FROM g WHERE v = 99)", "INSERT INTO f VALUES ((SELECT COUNT(*) + 70 FROM g), 1)", "REPLACE INTO f (id, v) VALUES (50, (SELECT MAX(v) FROM g))",
			"DO 0", "SET @x = 5", "INSERT INTO f VALUES ('60x', 1)",
		} {
			for _, then := range []string{
				"SET @z = 1", "INSERT INTO f VALUES (40, 1)", "REPLACE INTO f VALUES (1, 9)", "DELETE FROM f WHERE id = 2", "UPDATE f SET v = 3 WHERE id < 3", "SELECT 1", "EXPLAIN SELECT * FROM f", "BEGIN",
				"INSERT INTO nosuch VALUES (1)", "KILL QUERY @kv + 99999999", "EXECUTE sets", "EXECUTE inserts", "EXECUTE selects", "EXECUTE updates", "EXECUTE nosuch", "EXECUTE asks",
			} {
				c := foundClient(t, server, addr)
				must(t, c.sides[0], "DELETE FROM f")
				must(t, c.sides[1], "DELETE FROM f")
				for _, sql := range []string{
					"SET sql_mode = ''", "INSERT INTO f VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)", "PREPARE sets FROM 'SET @u = 3'", "PREPARE inserts FROM 'INSERT INTO f VALUES (30, 1)'",
					"PREPARE selects FROM 'SELECT id FROM f WHERE id < 3'", "PREPARE updates FROM 'UPDATE f SET v = 7 WHERE id > 2'", "PREPARE asks FROM 'SELECT ROW_COUNT(), FOUND_ROWS()'",
					"SELECT * FROM f ORDER BY id LIMIT 4", first, then, "SELECT FOUND_ROWS() AS n", "DELETE FROM f WHERE id = 3", "SELECT FOUND_ROWS() AS n",
				} {
					got := c.run(sql, false)
					must(t, other, "SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 'x' + 0")
					if sql == "EXECUTE asks" && strings.Contains(got[1], "9004") {
						refused++
						break
					}
					if strings.HasPrefix(sql, "SELECT FOUND") || sql == "EXECUTE asks" {
						told++
						if got[0] != got[1] {
							t.Errorf("%s; %s; %s: a connection of its own says %s, through the proxy %s", first, then, sql, got[0], got[1])
						}
					}
				}
				c.sides[0].Close()
				c.sides[1].Close()
			}
		}
		if told < 270 || refused > 4 {
			t.Errorf("%d answers, %d refused", told, refused)
		}
	})
}

// FOUND_ROWS() and SHOW WARNINGS behind every kind of statement are those of a connection of one's own, as text and prepared, alone
// and in a transaction, while others use the connections, too.
func TestFoundRowsBetween(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		foundTables(t, server)
		other := dial(t, addr, accept())
		maria := server.Kind == mysqltest.MariaDB
		cases := 0
		for _, text := range foundBetween {
			for _, in := range []bool{false, true} {
				for _, prepare := range []bool{false, true} {
					switch {
					case prepare && (strings.HasSuffix(text, "WARNINGS") || strings.HasSuffix(text, "ERRORS")):
						continue // not by the binary protocol
					case maria && text == "CALL changes()" && !in:
						continue // whether a procedure found rows, only a connection knows that had the session's before
					}
					c := foundClient(t, server, addr)
					same := func(sql string, asPrepared, compare bool) {
						t.Helper()
						got := c.run(sql, asPrepared)
						for k := range got {
							got[k] = strings.NewReplacer("id_direct", "db", "id_proxy", "db").Replace(got[k])
						}
						must(t, other, "SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 'x' + 0")
						if compare && got[0] != got[1] {
							t.Errorf("%s (in a transaction %v, prepared %v), %s: a connection of its own says %s, through the proxy %s", text, in, prepare, sql, got[0], got[1])
						}
					}
					must(t, c.sides[0], "DELETE FROM f")
					must(t, c.sides[1], "DELETE FROM f")
					same("INSERT INTO f VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)", false, true)
					if text == "EXECUTE q" || text == "DEALLOCATE PREPARE q" {
						same("PREPARE q FROM 'SELECT 1 UNION SELECT 2'", false, true)
					}
					if in {
						same("BEGIN", false, true)
					}
					same("SELECT * FROM f ORDER BY id LIMIT 4", false, true)
					same(text, prepare, false)
					same("SELECT FOUND_ROWS() AS n", false, true)
					same("SELECT * FROM f ORDER BY id LIMIT 6", false, false)
					if text != "SHOW ENGINES" {
						same(text, prepare, false)
						if !prepare && text != "SHOW GRANTS" {
							same("SHOW COUNT(*) WARNINGS", false, true)
							same(text, prepare, false)
							named := text != "SELECT * FROM nosuch" && text != "INSERT INTO f VALUES (1, 1)" && !strings.HasPrefix(text, "EXPLAIN SELECT") && text != "EXPLAIN UPDATE f SET v = 1"
							same("SHOW WARNINGS", false, named && text != "USE mysql")
							same("DO 'a' + 1", false, true)
							same(text, prepare, false)
							same("SHOW WARNINGS", false, named && !maria)
						}
					}
					cases++
					c.sides[0].Close()
					c.sides[1].Close()
				}
			}
		}
		if cases < 390 {
			t.Errorf("only %d cases", cases)
		}
	})
}

// What a query that is finished by one server warns of, SHOW WARNINGS tells.
func TestWarningsOfFinish(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{
			"SELECT name + 0, COUNT(DISTINCT id + 1) FROM users GROUP BY name + 0 ORDER BY 1",
			"SELECT SQL_CALC_FOUND_ROWS CAST(name AS SIGNED), ROW_NUMBER() OVER (ORDER BY id) FROM users ORDER BY id LIMIT 3",
			"SELECT id, name + 1, SUM(n) OVER (ORDER BY id) FROM users ORDER BY id",
		} {
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				s.everywhere(t, around[0])
				s.both(t, sql, "")
				s.both(t, "SHOW COUNT(*) WARNINGS", "")
				s.both(t, sql, "")
				if rows := must(t, s.subject, "SHOW WARNINGS").Rows; len(rows) == 0 {
					t.Errorf("%s: no warnings", sql)
				}
				s.everywhere(t, around[1])
			}
			if way := must(t, s.subject, "EXPLAIN "+sql).Rows[0][1]; way != "finish" && way != "gather" {
				t.Errorf("%s: the way is %v", sql, way)
			}
		}
	})
}

// SET TRANSACTION is for the next transaction, a statement over shards among them.
func TestNextTransactionOverShards(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, sql := range []string{
			"INSERT INTO users (id, n) VALUES (91, 1), (92, 2), (93, 3), (94, 4)", "UPDATE users SET n = n + 1", "DELETE FROM users ORDER BY id LIMIT 2", "DELETE FROM users WHERE id > 2",
			"SELECT id FROM users ORDER BY id", "SELECT COUNT(DISTINCT n) FROM users",
		} {
			s.everywhere(t, "SET TRANSACTION READ ONLY")
			s.both(t, sql, "", "users")
			s.both(t, "UPDATE users SET n = n + 1 WHERE id > 1", "", "users") // the one after it writes again
			s.everywhere(t, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
			s.both(t, sql, "", "users")
		}
	})
}

// What a client sets for its own tables is not for the proxy's.
func TestFinishUnderSettings(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		settings := []string{"sql_safe_updates = 1", "default_tmp_storage_engine = MEMORY"}
		if strings.Contains(t.Name(), string(mysqltest.MariaDB)) {
			settings = append(settings, "default_storage_engine = MEMORY", "sql_mode = 'ORACLE'")
		} else {
			settings = append(settings, "sql_require_primary_key = 1", "explicit_defaults_for_timestamp = 0")
		}
		for _, set := range settings {
			s.everywhere(t, "SET SESSION "+set)
			for _, sql := range []string{
				"SELECT COUNT(DISTINCT name) FROM users", "SELECT id, note, SUM(amount) OVER (ORDER BY id) FROM orders ORDER BY id", "SHOW TABLES LIKE 'users'",
				"SELECT u.id, o.amount FROM users u JOIN orders o ON u.n = o.amount ORDER BY 1, 2",
				"SELECT table_name FROM information_schema.tables WHERE table_name = 'users' AND table_schema = DATABASE()",
			} {
				s.both(t, sql, "")
			}
			s.both(t, "UPDATE users SET n = n + 1 WHERE id IN (1, 2, 3)", "", "users")
			s.everywhere(t, "SET SESSION "+strings.Split(set, " ")[0]+" = DEFAULT")
		}
	})
}

// A session whose transactions are read only reads as on one server: drivers set this for connections that are to read, and the scratch
// tables of the proxy are not the client's.
func TestFinishInReadOnlySessions(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "SET SESSION TRANSACTION READ ONLY")
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}, {"START TRANSACTION READ ONLY", "COMMIT"}, {"SET autocommit = 0", "SET autocommit = 1"}} {
			s.everywhere(t, around[0])
			for _, sql := range []string{
				"SELECT COUNT(DISTINCT name) FROM users", "SELECT id, SUM(n) OVER (ORDER BY id) FROM users ORDER BY id",
				"SELECT u.id, o.amount FROM users u JOIN orders o ON u.n = o.amount ORDER BY 1, 2", "SHOW TABLES LIKE 'users'",
				"SELECT table_name FROM information_schema.tables WHERE table_name = 'users' AND table_schema = DATABASE()",
			} {
				s.both(t, sql, "")
			}
			s.everywhere(t, around[1])
		}
		s.both(t, "INSERT INTO countries VALUES ('zz', 'z')", "")
		s.both(t, "DELETE FROM users WHERE id = 1", "")
		s.everywhere(t, "SET SESSION TRANSACTION READ WRITE")
	})
}
