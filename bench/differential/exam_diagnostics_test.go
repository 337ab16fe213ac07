package differential

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatIsAskedBehind asks for what a session tells of the statement before, where the connection is held and the proxy itself may have
// asked it something in between.
func TestWhatIsAskedBehind(t *testing.T) {
	statements := []string{
		"SET autocommit = 1", "SET sql_mode = ''", "SET @x = 5, @@session.sort_buffer_size = 300000", "SET NAMES utf8mb4", "SELECT n FROM %s", "SELECT SQL_CALC_FOUND_ROWS n FROM %s WHERE id = 1 LIMIT 1",
		"UPDATE %s SET n = LAST_INSERT_ID(n + '1x') WHERE id = 1", "DO LAST_INSERT_ID('5x')", "INSERT IGNORE INTO %s (id, n) VALUES (1, '7x')", "INSERT INTO %s (n) SELECT ROW_COUNT()",
		"INSERT INTO %s (id, n) VALUES (1, 2) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(n + '1x')", "UPDATE %s SET n = n + '1x' WHERE id = 1", "SELECT LAST_INSERT_ID(n + '2x') FROM %s WHERE id = 1", "SELECT nothing FROM %s",
		"DELETE FROM %s WHERE id > 8",
	}
	questions := []string{"SELECT ROW_COUNT()", "SHOW WARNINGS", "SELECT FOUND_ROWS()", "SELECT ROW_COUNT() AS r, FOUND_ROWS(), LAST_INSERT_ID()", "SELECT @@warning_count, @@error_count"}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			asked := 0
			for _, name := range []string{"one", "loc"} {
				e := exam{setup: []string{"CREATE TABLE " + name + " (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT)", "INSERT INTO " + name + " (id, n) VALUES (1, 3), (2, 3), (3, 3), (4, 3)"}}
				ask := func(sql string) { e.asked = append(e.asked, "?"+strings.ReplaceAll(sql, "%s", name)) }
				for _, hold := range [][]string{
					{"DO 1"}, {"BEGIN", "UPDATE %s SET n = n + 1 WHERE id = 1"}, {"SET autocommit = 0", "SELECT n FROM %s WHERE id = 1 FOR UPDATE"}, {"SELECT GET_LOCK('asked', 1), n FROM %s WHERE id = 1"},
					{"SELECT @v := n FROM %s WHERE id = 1"},
				} {
					for _, sql := range statements {
						for _, question := range questions {
							for _, first := range hold {
								ask(first)
							}
							ask("UPDATE %s SET n = 4 WHERE id = 1")
							ask(sql)
							ask(question)
						}
					}
					for _, end := range []string{"ROLLBACK", "SET autocommit = 1", "DO RELEASE_LOCK('asked')"} {
						ask(end)
					}
				}
				asked += len(e.asked)
				e.over(t, oracle(t, kind), twoNodes(t, kind), "[1, 1]")
			}
			t.Logf("%d statements", asked)
		})
	}
}

// atomic, behind the rules of an exam, lets transactions change both nodes.
const atomic = "transaction_mode: atomic\nxa_on_unsafe_server: true\n"

// TestWhatStaysBehind shows the diagnostics area behind statements that leave it as it was on MariaDB, as they use no table, where the connection that has it is
// held, or another is, or none.
func TestWhatStaysBehind(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{settings: "SET sql_mode = ''", rules: atomic, differ: "status"} // an error does not say whether its statement has begun a transaction
			for _, name := range []string{"h", "one", "loc"} {
				e.setup = append(e.setup, "CREATE TABLE "+name+" (id INT NOT NULL PRIMARY KEY, n INT)", "INSERT INTO "+name+" VALUES (1, 3), (2, 3)")
			}
			for _, hold := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}, {"SET autocommit = 0", "SET autocommit = 1"}, {"SELECT GET_LOCK('stays', 1), n FROM one WHERE id = 1", "DO RELEASE_LOCK('stays')"}} {
				for _, told := range []string{"INSERT INTO h VALUES (1, 3)", "INSERT INTO loc VALUES (1, 3)", "UPDATE one SET n = '7x' WHERE id = 1", "SELECT nothing FROM h", "SELECT n + '1x' FROM h WHERE id = 2", "SELECT n + '1x' FROM one WHERE id = 1", "INSERT INTO h VALUES (5, 3), (6, 3), (1, 1)"} {
					for _, between := range []string{
						"SELECT 1", "DO 1", "SET @stays = 1", "SAVEPOINT s", "SELECT 1 + '1x'", "SELECT @stays", "VALUES (1)", "SELECT n FROM h WHERE id = 1", "SELECT n FROM one WHERE id = 1", "SET @stays = (SELECT COUNT(*) FROM one)",
						"SELECT LAST_INSERT_ID()", "SELECT 'from'", "SELECT 1; SELECT 2", "USE exam", "COMMIT", "ROLLBACK", "BEGIN", "UNLOCK TABLES", "SET NAMES utf8mb4", "SET sql_mode = ''", "SET TRANSACTION READ WRITE",
					} {
						if strings.HasPrefix(between, "SET TRANSACTION") && strings.HasPrefix(hold[0], "SET autocommit") {
							continue // which is an error if the statement ahead has begun a transaction
						}
						if strings.Contains(hold[0], "GET_LOCK") && (!strings.Contains(told, " one ") || strings.Contains(between, " h ")) {
							continue // what is on the other node
						}
						e.asked = append(e.asked, hold[0], "?"+told, "?"+between, "?SHOW WARNINGS", "?SELECT @@warning_count, @@error_count", hold[1], "?SHOW ERRORS")
					}
				}
			}
			e.over(t, oracle(t, kind), twoNodes(t, kind), "[1, 1]")
			t.Logf("%d statements", len(e.asked))
		})
	}
}

// TestLastInsertIDOfNull has LAST_INSERT_ID(expr) give NULL and 0, which LAST_INSERT_ID() is 0 behind.
func TestLastInsertIDOfNull(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{
				setup: []string{"CREATE TABLE u (user_id INT NOT NULL, n INT NOT NULL, id BIGINT NOT NULL AUTO_INCREMENT, a INT, PRIMARY KEY (user_id, n), KEY (id))", "INSERT INTO u (user_id, n, a) VALUES (7, 3, NULL), (7, 4, NULL), (7, 5, 7), (8, 7, 1)"},
				rules: "  - {db: exam, table: u, key: user_id, type: hash, nodes: [n1, n2], locations: %[1]s}\n" + atomic,
				look:  []string{"SELECT LAST_INSERT_ID()", "SELECT * FROM u ORDER BY user_id, n"},
			}
			for _, hold := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				e.asked = append(e.asked, hold[0])
				for _, expr := range []string{"a + 1", "NULL", "0", "5", "a + 1"} {
					for _, n := range []string{"3", "4", "5"} {
						e.asked = append(e.asked, "DO LAST_INSERT_ID(9)", "INSERT INTO u (user_id, n, a) VALUES (7, "+n+", 1) ON DUPLICATE KEY UPDATE a = LAST_INSERT_ID("+expr+")",
							"SELECT LAST_INSERT_ID(4)", "UPDATE u SET a = LAST_INSERT_ID("+expr+") WHERE user_id = 7 AND n = "+n, "UPDATE u SET a = NULL WHERE user_id = 7 AND n < 5")
					}
				}
				e.asked = append(e.asked, "DO LAST_INSERT_ID(9)", "UPDATE u SET a = LAST_INSERT_ID(a) WHERE n = 3", "UPDATE u SET a = NULL WHERE n < 5", hold[1])
			}
			e.over(t, oracle(t, kind), twoNodes(t, kind), "[1, 1]")
			t.Logf("%d statements", len(e.asked))
		})
	}
}

// TestCommentsBehindStatements ends statements in all ways: comments behind a ';' are a statement of their own.
func TestCommentsBehindStatements(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			var e exam
			for _, name := range []string{"h", "one", "loc"} {
				e.setup = append(e.setup, "CREATE TABLE "+name+" (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n INT)", "INSERT INTO "+name+" (id, n) VALUES (1, 3), (2, 3), (3, 3), (4, 3)")
			}
			for _, sql := range []string{
				"SELECT 1", "SELECT n FROM h WHERE id = 1", "SELECT SUM(n) FROM h", "SELECT n FROM one WHERE id = 1", "UPDATE h SET n = n + 1 WHERE id = 1", "UPDATE h SET n = n + 1", "INSERT INTO loc (n) VALUES (1)",
				"BEGIN", "UPDATE loc SET n = 5 WHERE id = 1", "COMMIT", "SET @x = 1", "SET autocommit = 1", "USE exam", "SELECT nothing FROM loc", "SELECT 'a' + 1", "SELECT n INTO @v FROM h WHERE id = 1", "SELECT 1; SELECT n FROM loc WHERE id = 2", "",
			} {
				for _, end := range []string{
					";", "; ", ";;", " ; ; ", "; -- x", "; # x", "; /* x */", ";/*! */", ";/*!99999 x */", "; -- x\n", "; -- x\n;", "; /* x */ ; ;", "; -- x\nSELECT 2", ";; SELECT 2", "; /* x */; SELECT 2", " -- x", "-- x", "; -- x\n; -- y",
				} {
					e.asked = append(e.asked, sql+end, "SELECT ROW_COUNT()", "SELECT FOUND_ROWS()")
				}
			}
			e.examined(t, kind)
			t.Logf("%d statements", len(e.asked))
		})
	}
}

// TestSettingsReachReadNodes sets variables in a transaction that has read from both nodes, and reads from each again.
func TestSettingsReachReadNodes(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: []string{
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, n INT, at TIMESTAMP NULL)", "CREATE TABLE one (id INT NOT NULL PRIMARY KEY, n INT, at TIMESTAMP NULL)", "CREATE TABLE loc (id INT NOT NULL PRIMARY KEY, n INT, at TIMESTAMP NULL)",
				"INSERT INTO h VALUES (0, 3, '2024-01-01 00:00:00'), (1, 3, '2024-01-01 00:00:00'), (2, 3, '2024-01-01 00:00:00'), (3, 3, '2024-01-01 00:00:00')",
				"INSERT INTO one VALUES (1, 3, '2024-01-01 00:00:00')", "INSERT INTO loc VALUES (1, 3, '2024-01-01 00:00:00')",
			}}
			reads := []string{"SELECT n, at, '1' || '1' FROM one WHERE id = 1", "SELECT n, at, '1' || '1' FROM loc WHERE id = 1", "SELECT n, at, '1' || '1' FROM h WHERE id = 0", "SELECT COUNT(*), MAX(at) FROM h"}
			for _, begin := range []string{"BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 0"} {
				for i, first := range reads {
					for _, set := range []string{"SET autocommit = 0", "SET autocommit = 1", "SET time_zone = '+03:00'", "SET sql_mode = 'PIPES_AS_CONCAT'", "START TRANSACTION", "COMMIT AND CHAIN", "SET autocommit = 0; START TRANSACTION"} {
						e.asked = append(e.asked, begin, "?"+first, "?"+reads[(i+1)%4], set)
						for _, read := range reads {
							e.asked = append(e.asked, "?"+read)
						}
						e.asked = append(e.asked, "COMMIT", "SET autocommit = 1, time_zone = '+00:00', sql_mode = ''")
					}
				}
			}
			e.examined(t, kind)
			t.Logf("%d statements", len(e.asked))
		})
	}
}

// TestVariablesOfNull compares what user variables are that have become NULL by columns of every type.
func TestVariablesOfNull(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			types := []string{"INT", "BIGINT UNSIGNED", "TINYINT", "DECIMAL(10,3)", "DOUBLE", "YEAR", "BIT(3)", "VARCHAR(10)", "DATETIME", "TIME", "BLOB", "JSON"}
			table := "CREATE TABLE h (id INT NOT NULL PRIMARY KEY"
			for k, column := range types {
				table += fmt.Sprintf(", c%d %s NULL", k, column)
			}
			e := exam{setup: []string{table + ")", "INSERT INTO h (id) VALUES (1), (2)"}}
			for k := range types {
				e.asked = append(e.asked, fmt.Sprintf("SELECT c%d INTO @v FROM h WHERE id = 1", k), "SELECT 'ab' = @v, @v IS NULL", "SELECT @v", "SELECT @v + 1",
					fmt.Sprintf("SELECT MAX(c%d) INTO @v FROM h", k), "SELECT 'ab' = @v, @v IS NULL", "SELECT @v", "SET @v = ''", "SET @v = NULL")
			}
			e.examined(t, kind)
		})
	}
}
