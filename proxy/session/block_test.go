package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// wholeAnswer is all that a client gets for a text, row by row in order where sorted is false.
func wholeAnswer(r *mysqltest.RawResult, sorted bool) string {
	var b strings.Builder
	for ; r != nil; r = r.Next {
		if r.Columns != nil {
			var rows []string
			for _, row := range r.Rows {
				rows = append(rows, fmt.Sprint(row))
			}
			if sorted {
				slices.Sort(rows)
			}
			for k := range r.Columns {
				d := &r.Columns[k]
				fmt.Fprintf(&b, "%s.%s %s %d, ", d.Table, d.OrgTable, d.Name, d.Type)
			}
			fmt.Fprintf(&b, "%v", rows)
		}
		if r.OK != nil {
			fmt.Fprintf(&b, "affected %d, id %d, %q ", r.OK.AffectedRows, r.OK.LastInsertID, r.OK.Info)
		}
		if r.Err != nil {
			fmt.Fprintf(&b, "%v ", r.Err)
		}
		fmt.Fprintf(&b, " warnings %d more %t\n", r.Warnings, r.Status.Has(mysql.ServerMoreResultsExists))
	}
	return b.String()
}

// bothWhole runs texts on both sides, and compares all that clients get for them.
func (s *shards) bothWhole(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		want, err := s.oracle.Query(text)
		if err != nil {
			t.Fatal(text, err)
		}
		got, err := s.subject.Query(text)
		if err != nil {
			t.Fatal(text, err)
		}
		sorted := !strings.Contains(text, "ORDER BY")
		if w, g := wholeAnswer(want, sorted), wholeAnswer(got, sorted); w != g {
			t.Errorf("%s\n got %s\nwant %s", texts, g, w)
			return
		}
	}
}

// probes are texts that ask what the statement before has left.
var probes = []string{"SHOW WARNINGS", "SELECT ROW_COUNT(), FOUND_ROWS(), LAST_INSERT_ID()", "SELECT @@warning_count, @@error_count", "SHOW COUNT(*) WARNINGS", "SHOW ERRORS"}

const idsSchema = `
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20), n INT)
CREATE TABLE orders (user_id INT, id BIGINT AUTO_INCREMENT, amount INT, PRIMARY KEY (id, user_id))
CREATE TABLE order_items (user_id INT, v INT, KEY (v))
CREATE TABLE payments (merchant_id INT PRIMARY KEY, v VARCHAR(30))
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40))`

func (s *shards) fillIDs(t *testing.T) {
	t.Helper()
	for k := 1; k <= 20; k++ {
		s.everywhere(t, fmt.Sprintf("INSERT INTO users VALUES (%d, 'n%d', %d)", k, k%7, k%5))
		s.everywhere(t, fmt.Sprintf("INSERT INTO payments VALUES (%d, 'v%d')", k, k%4))
	}
	s.everywhere(t, "INSERT INTO countries VALUES ('DE', 'Germany'), ('FR', 'France')")
}

// ruled are statements on tables with rules, of one and of all shards, that succeed and fail.
var ruled = []string{
	"SELECT id, n FROM users WHERE id < 8 ORDER BY id", "SELECT id FROM users WHERE id = 5", "SELECT COUNT(*), SUM(n) FROM users", "SELECT id FROM users WHERE id < 0",
	"SELECT u.id, p.v FROM users u JOIN payments p ON p.merchant_id = u.n ORDER BY u.id", "SELECT id, 1 / 0 FROM users WHERE id < 3 ORDER BY id", "SELECT nosuch FROM users",
	"UPDATE users SET n = n + 1", "UPDATE users SET n = 7 WHERE id = 3", "UPDATE users SET n = 7 WHERE id = 1000", "UPDATE users SET n = '1x' WHERE id < 4", "UPDATE IGNORE users SET n = '1x' WHERE id = 4",
	"INSERT INTO users VALUES (%d, 'new', 1), (%d, 'new', 2)", "INSERT INTO users VALUES (%d, 'one', 1)", "INSERT INTO users VALUES (1, 'twice', 1)", "INSERT IGNORE INTO users VALUES (1, 'twice', 1), (2, 'twice', 1)",
	"INSERT INTO orders (user_id, amount) VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO orders (user_id, amount) VALUES (1, 1)", "REPLACE INTO users VALUES (2, 'other', 3)",
	"DELETE FROM users WHERE name = 'new'", "DELETE FROM users WHERE id > 100", "INSERT INTO order_items SELECT id, n FROM users", "SELECT COUNT(*) INTO @x FROM users", "SELECT name FROM countries ORDER BY code",
	"UPDATE users SET n = n + 1 WHERE id IN (SELECT merchant_id FROM payments WHERE v = 'v1')", "DELETE FROM users ORDER BY n, id LIMIT 2",
}

// ruledStatement returns the k-th statement on tables with rules, inserting ids that are free in each turn.
func ruledStatement(k, turn int) string {
	if n := strings.Count(ruled[k], "%d"); n > 0 {
		return fmt.Sprintf(ruled[k], []any{1000 + 100*turn + 2*k, 1001 + 100*turn + 2*k}[:n]...)
	}
	return ruled[k]
}

func TestBlock(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			s.bothWhole(t, "BEGIN NOT ATOMIC SELECT 1; END")
			return
		}
		s.fillIDs(t)
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}, {"SET sql_select_limit = 3", "SET sql_select_limit = DEFAULT"}} {
			for k := range ruled {
				for turn, probe := range probes {
					s.everywhere(t, around[0])
					s.bothWhole(t, "BEGIN NOT ATOMIC "+ruledStatement(k, turn)+"; END", probe)
					s.everywhere(t, around[1])
				}
				s.everywhere(t, "DELETE FROM users WHERE id > 100")
			}
		}
		for turn, probe := range probes {
			for _, text := range []string{
				"BEGIN NOT ATOMIC\n SELECT id FROM users WHERE id < 5 ORDER BY id; UPDATE users SET n = 3; SELECT COUNT(*) FROM payments; END",
				"BEGIN NOT ATOMIC UPDATE users SET n = 9 WHERE id < 4; UPDATE users SET n = 3 WHERE id = 1; END",
				fmt.Sprintf("BEGIN NOT ATOMIC INSERT INTO orders (user_id, amount) VALUES (1, 1), (2, 2); UPDATE users SET n = %d WHERE id = 1; SELECT 1; END", turn),
				"BEGIN NOT ATOMIC SELECT 1 / 0 FROM users WHERE id = 2; SELECT 1; END",
				"BEGIN NOT ATOMIC INSERT IGNORE INTO users VALUES (1, 'twice', 1); SELECT LAST_INSERT_ID(), ROW_COUNT(); END",
				"BEGIN NOT ATOMIC SELECT 1 / 0; DELETE FROM users WHERE id < 0; END",
				"begin not atomic\nUPDATE users SET n = 4 WHERE id = 2;\n\nSELECT nosuch FROM users; SELECT id FROM users; end",
				"/* first */ BEGIN NOT ATOMIC /*!50000 SELECT */ id FROM users WHERE id = 7; -- here\n END;",
				"BEGIN NOT ATOMIC UPDATE users SET n = 4 WHERE id = 2; SELEC id FROM users; END",
			} {
				s.bothWhole(t, text, probe)
			}
		}
		for text, code := range map[string]uint16{
			"BEGIN NOT ATOMIC DECLARE v INT; SELECT id FROM users; END": 9013, "BEGIN NOT ATOMIC IF 1 THEN SELECT id FROM users; END IF; END": 9013,
			"BEGIN NOT ATOMIC DELETE FROM users WHERE id = 1; UPDATE users SET id = RAND(); END": 9012,
			"BEGIN NOT ATOMIC DELETE FROM users WHERE id = 1; SELECT * FROM ks_meta.x; END":      9006,
		} {
			fails(t, s.subject, text, code)
		}
		s.bothWhole(t, "SELECT id, n FROM users ORDER BY id", "SELECT user_id, amount FROM orders ORDER BY id", "SELECT COUNT(*) FROM order_items")
	}, "xa_on_unsafe_server: true")
}

func TestSetStatement(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			s.bothWhole(t, "SET STATEMENT sort_buffer_size = 100000 FOR SELECT 1")
			return
		}
		s.fillIDs(t)
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}, {"SET sql_select_limit = 3, sort_buffer_size = 50000", "SET sql_select_limit = DEFAULT"}} {
			for k := range ruled {
				for turn, probe := range probes {
					s.everywhere(t, around[0])
					set := []string{"max_statement_time = 100", "sql_select_limit = 5", "sort_buffer_size = 100000, div_precision_increment = 9", "sql_select_limit = DEFAULT", "foreign_key_checks = OFF"}[turn]
					s.bothWhole(t, "SET STATEMENT "+set+" FOR "+ruledStatement(k, turn), probe, "SELECT @@sort_buffer_size, @@div_precision_increment, @@sql_select_limit, @@foreign_key_checks")
					s.everywhere(t, around[1])
				}
				s.everywhere(t, "DELETE FROM users WHERE id > 100")
			}
		}
		for _, set := range []string{
			"nosuch = 1", "sort_buffer_size = 'x'", "autocommit = 1", "character_set_client = utf8", "tx_isolation = 'SERIALIZABLE'", "wait_timeout = 5", "@a = 1",
			"sql_select_limit = 2", "sql_select_limit = 1, sql_select_limit = 4", "group_concat_max_len = 4", "lc_time_names = 'de_DE'", "div_precision_increment = 7", "time_zone = '+03:00'",
		} {
			for _, text := range []string{"SELECT id, id / 7, MONTHNAME(FROM_UNIXTIME(id * 86400)) FROM users ORDER BY id", "SELECT GROUP_CONCAT(id ORDER BY id) FROM users", "SELECT id FROM users WHERE id = 5"} {
				s.bothWhole(t, "SET STATEMENT "+set+" FOR "+text, "SHOW WARNINGS")
			}
		}
		s.bothWhole(t, "SET STATEMENT sql_select_limit = 3 FOR SET STATEMENT div_precision_increment = 2 FOR SELECT id / 7 FROM users ORDER BY id", "SELECT @@sql_select_limit, @@div_precision_increment")
		s.bothWhole(t, "SET STATEMENT sql_select_limit = 1 FOR BEGIN NOT ATOMIC SELECT id FROM users; END", "SHOW WARNINGS")
		// What the held connection has got unseen, it has behind it.
		for _, text := range []string{
			"EXECUTE IMMEDIATE 'SET div_precision_increment = 6'", "SET STATEMENT sql_select_limit = 3, div_precision_increment = 2 FOR SELECT id / 7 FROM users ORDER BY id", "SELECT @@sql_select_limit, @@div_precision_increment",
			"SELECT id / 7 FROM users ORDER BY id LIMIT 5",
		} {
			s.bothWhole(t, text)
		}
		for text, code := range map[string]uint16{
			"SET STATEMENT max_statement_time = 1 + 1 FOR SELECT id FROM users": 9013,
			"SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT id FROM users":   9013, "SET STATEMENT sql_log_bin = 0 FOR SELECT id FROM users": 9005,
			"SET STATEMENT GLOBAL sort_buffer_size = 100000 FOR SELECT id FROM users": 9005, "SET STATEMENT max_connections = 5 FOR SELECT id FROM users": 1229,
		} {
			fails(t, s.subject, text, code)
		}
	}, "xa_on_unsafe_server: true")
}

// A value that the server takes as another one is the one that it takes; the warning of that is the statement's, ahead of its own.
func TestSetStatementRounds(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			return
		}
		s.fillIDs(t)
		for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}, {"SET sort_buffer_size = 50000, @x = 1", "SET @x = NULL"}, {"CREATE TEMPORARY TABLE IF NOT EXISTS kept (a INT)", "DO 0"}} {
			for k, text := range []string{
				"SELECT id FROM users WHERE id = 5", "SELECT id FROM users ORDER BY id", "SELECT @@warning_count, id FROM users WHERE id < 3 ORDER BY id", "SELECT id / 0 FROM users WHERE id < 4 ORDER BY id",
				"SELECT id, @@warning_count FROM users WHERE id = 5", "SELECT 'x' + id FROM users WHERE id = 5",
				"SELECT n, COUNT(*), 'x' + 1 FROM users GROUP BY n HAVING COUNT(*) > 0 ORDER BY n", "SELECT COUNT(DISTINCT n) FROM users", "SELECT SQL_CALC_FOUND_ROWS id FROM users ORDER BY id LIMIT 2",
				"SELECT COUNT(*) FROM users INTO @x", "SELECT id FROM users WHERE id = 77777 INTO @x", "SELECT nosuch FROM users", "SELECT id FROM users WHERE id = (SELECT id FROM users)",
				"UPDATE users SET n = n + 1 WHERE id > 2", "UPDATE users SET n = n + 1 WHERE id = 2", "UPDATE IGNORE users SET n = 'x' WHERE id < 4", "UPDATE users SET n = 'x' WHERE id < 4",
				"INSERT INTO users (id, n) VALUES (101, 1), (102, 2), (103, 3)", "INSERT INTO users (id, n) VALUES (101, 1), (104, 2), (105, 3)", "INSERT IGNORE INTO users (id, n) VALUES (101, 1), (106, 'x'), (107, 3)",
				"REPLACE INTO users (id, n) VALUES (101, 1)", "DELETE FROM users WHERE id = 102 RETURNING id", "DELETE FROM users WHERE id > 102 RETURNING id", "DELETE FROM users WHERE id > 100 ORDER BY id LIMIT 1",
				"UPDATE users SET n = (SELECT MAX(n) FROM users AS u) WHERE id > 3", "INSERT INTO users (id, n) SELECT id + 200, n FROM users WHERE id < 4", "DELETE FROM users WHERE id > 200",
				"INSERT INTO users (id, n) SELECT id + 200, id / 0 FROM users WHERE id < 4", "ALTER TABLE users COMMENT 'x'", "CREATE TABLE IF NOT EXISTS users (id INT)",
				"UPDATE users AS a JOIN orders AS b ON b.user_id = a.id SET a.n = 3", "UPDATE users SET n = (SELECT COUNT(*) FROM payments) WHERE id < 4", "UPDATE users SET n = (SELECT COUNT(*) FROM countries) WHERE id = 4",
			} {
				s.everywhere(t, around[0])
				set := []string{"sort_buffer_size = 1", "join_buffer_size = 200000, tmp_table_size = 1000000", "sql_select_limit = 3, join_buffer_size = 5"}[k%3]
				probes := []string{"SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SELECT @@warning_count", "SELECT @@sort_buffer_size, @@join_buffer_size, @@tmp_table_size, @@sql_select_limit, @x"}
				s.bothWhole(t, "SET STATEMENT "+set+" FOR "+text, probes[k%2], probes[2], probes[3])
				s.everywhere(t, around[1])
			}
			s.everywhere(t, "DELETE FROM users WHERE id > 100")
		}
		fails(t, s.subject, "SET STATEMENT sort_buffer_size = 2 FOR ANALYZE TABLE users", 9012)
		s.bothWhole(t, "SET STATEMENT sort_buffer_size = 2 FOR SELECT @@sort_buffer_size, id FROM users ORDER BY id", "SELECT id FROM users WHERE id = 2", "SHOW WARNINGS")
	}, "xa_on_unsafe_server: true")
}

// The executions of a prepared SET STATEMENT set what it says, each time.
func TestPreparedSetStatement(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		if !strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			return
		}
		s.fillIDs(t)
		for _, text := range []string{
			"SET STATEMENT sql_select_limit = 3 FOR SELECT id, n FROM users WHERE id > ? ORDER BY id", "SET STATEMENT div_precision_increment = 9 FOR SELECT SUM(n) / ? FROM users",
			"SET STATEMENT max_statement_time = 100 FOR UPDATE users SET n = n + 1 WHERE id > ?", "SET STATEMENT sql_select_limit = 1 FOR SELECT id FROM users WHERE id = ?",
			"SET STATEMENT sort_buffer_size = 1 FOR SELECT id / 0 FROM users WHERE id > ?", "SET STATEMENT sort_buffer_size = 1 FOR UPDATE users SET n = n + 1 WHERE id > ?", "SET STATEMENT nosuch = 3 FOR SELECT id FROM users WHERE id > ?", "SET STATEMENT sql_select_limit = 3 FOR SELECT nosuch FROM users WHERE id > ?",
		} {
			want, wantErr := s.oracle.Prepare(text)
			got, gotErr := s.subject.Prepare(text)
			if fmt.Sprint(wantErr) != fmt.Sprint(gotErr) {
				t.Errorf("%s: %v, want %v", text, gotErr, wantErr)
			}
			if wantErr != nil || gotErr != nil {
				continue
			}
			if len(got.Columns) != len(want.Columns) || got.StmtPrepareOK.Params != want.StmtPrepareOK.Params {
				t.Errorf("%s: %d columns and %d parameters, want %d and %d", text, len(got.Columns), got.StmtPrepareOK.Params, len(want.Columns), want.StmtPrepareOK.Params)
			}
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				for _, v := range []int{2, 5, 2} {
					s.everywhere(t, around[0])
					w, err := want.Execute(v)
					if err != nil {
						t.Fatal(err)
					}
					g, err := got.Execute(v)
					if err != nil {
						t.Fatal(err)
					}
					if w, g := wholeAnswer(w, false), wholeAnswer(g, false); w != g {
						t.Errorf("%s, %d\n got %s\nwant %s", text, v, g, w)
					}
					s.bothWhole(t, "SELECT @@sql_select_limit, @@div_precision_increment", "SELECT id / 7 FROM users ORDER BY id")
					s.everywhere(t, around[1])
				}
			}
		}
	}, "xa_on_unsafe_server: true")
}
