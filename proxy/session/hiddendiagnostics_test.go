package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestDiagnosticsOfOthers has statements within others ask for warnings on a connection that another session had before.
func TestDiagnosticsOfOthers(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: plain, password: plain}]
nodes: [{name: n, max_conns_limit: 1, user: root, password: root, master: "%s", allow_public_key_retrieval: true}]
schema_list: [{user: plain, nodes: [n], default: n}]
`, w.server.Addr))
			for _, sql := range []string{
				"CREATE PROCEDURE wrapped.p_show() SHOW WARNINGS", "CREATE PROCEDURE wrapped.p_count() SHOW COUNT(*) WARNINGS", "CREATE PROCEDURE wrapped.p_errors() SHOW ERRORS",
				"CREATE PROCEDURE wrapped.p_get() BEGIN GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT; SELECT @m; END",
				"CREATE FUNCTION wrapped.f_get() RETURNS TEXT NO SQL BEGIN DECLARE m TEXT; GET DIAGNOSTICS CONDITION 1 m = MESSAGE_TEXT; RETURN m; END",
			} {
				must(t, w.direct, sql)
			}
			attacks := []string{"CALL p_show()", "CALL p_errors()", "CALL p_count()", "CALL p_get()", "SELECT f_get()", "DO f_get()", "PREPARE s FROM 'SHOW WARNINGS'; EXECUTE s", "PREPARE s FROM 'CALL p_show()'; EXECUTE s",
				"SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS", "GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT; SELECT @m",
				"BEGIN; SELECT 1; SHOW WARNINGS", "BEGIN; DO 1; SHOW ERRORS", "PREPARE s FROM 'SELECT 1'; SHOW WARNINGS", "SELECT @a := 1; SHOW WARNINGS", "SELECT GET_LOCK('l', 0); SHOW WARNINGS", "SET @a = 1; SHOW WARNINGS",
				"BEGIN; SELECT 1; GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT; SELECT @m", "SAVEPOINT a; SHOW WARNINGS", "BEGIN; SAVEPOINT a; SHOW WARNINGS", "SET autocommit = 0; SELECT 1; SHOW WARNINGS",
				"XA START 'x'; SHOW WARNINGS", "SET sql_mode = @@sql_mode; SHOW WARNINGS", "SET TRANSACTION READ ONLY; SELECT 1; SHOW WARNINGS", "BEGIN; SET @x = 5; SHOW WARNINGS", "BEGIN; SHOW WARNINGS",
				"SET @m = f_get(); SELECT @m", "SET @m = f_get(), @n = 1; CALL p_show()", "SET @a = 1; CALL p_show()", "PREPARE s FROM f_get()", "BEGIN; SELECT 'from t'; CALL p_show()", "BEGIN; SELECT 1 FROM dual; CALL p_show()", "BEGIN; SELECT TRIM('a' FROM 'b'); CALL p_show()", "BEGIN; WITH x AS (SELECT 1) SELECT 1; CALL p_show()",
				"SELECT @a := 1; CALL p_show()", "SET autocommit = 0; SELECT 1; CALL p_show()", "SELECT GET_LOCK('l', 0); DO f_get(); CALL p_show()", "BEGIN; SELECT 1 UNION SELECT 2; CALL p_show()",
				"BEGIN; (SELECT 1); CALL p_show()", "BEGIN; SELECT (SELECT 1 FROM (SELECT 1) t); CALL p_show()", "SAVEPOINT a; CALL p_show()", "BEGIN; SAVEPOINT a; CALL p_show()",
				"BEGIN; PREPARE s FROM 'SHOW WARNINGS'; EXECUTE s", "SELECT SQL_CALC_FOUND_ROWS 1; SHOW WARNINGS", "USE wrapped; SHOW WARNINGS", "BEGIN; SHOW STATUS LIKE 'x'; SHOW WARNINGS", "KILL QUERY 1; SHOW WARNINGS"}
			if w.maria {
				attacks = append(attacks, "EXECUTE IMMEDIATE 'SHOW WARNINGS'", "SET STATEMENT max_statement_time=5 FOR SHOW WARNINGS", "EXECUTE IMMEDIATE 'SET STATEMENT max_statement_time=5 FOR SHOW ERRORS'",
					"BEGIN NOT ATOMIC SHOW WARNINGS; END", "BEGIN NOT ATOMIC GET DIAGNOSTICS CONDITION 1 @m = MESSAGE_TEXT; SELECT @m; END", "EXECUTE IMMEDIATE CONCAT('SHOW ', 'WARNINGS')",
					"IF 1 THEN SHOW WARNINGS; END IF", "EXECUTE IMMEDIATE 'SELECT f_get()'", "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; RESIGNAL; END", "BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'SHOW WARNINGS'; END")
			}
			for _, cause := range []string{"SELECT 'topsecret' + 1", "SELECT 1 FROM topsecret"} {
				for _, attack := range attacks {
					for _, prepared := range []bool{false, true} {
						victim := w.client("plain")
						if _, err := victim.Query(cause); err != nil {
							t.Fatal(err)
						}
						victim.Close()
						c := w.client("plain")
						for _, text := range strings.Split(attack, "; ") {
							if strings.HasPrefix(attack, "BEGIN NOT") || strings.HasPrefix(attack, "IF") {
								text = attack
							}
							var r *mysqltest.RawResult
							var err error
							if prepared {
								r, err = preparedAndRun(c, text)
							} else {
								r, err = c.Query(text)
							}
							if text := told(r, err); strings.Contains(text, "topsecret") && !strings.Contains(text, "SELECT 1 FROM topsecret") {
								t.Errorf("behind %s, %s (prepared: %v) tells another's: %s", cause, attack, prepared, text)
							}
						}
						c.Close()
					}
				}
			}
			// Its own, a session is told of: or hears why not.
			c := w.client("plain")
			must(t, c, "SELECT 'own' + 1")
			if r := must(t, c, "SHOW WARNINGS"); len(r.Rows) != 1 {
				t.Errorf("SHOW WARNINGS gives %v", r.Rows)
			}
			if w.maria {
				must(t, c, "SELECT 'own' + 1")
				fails(t, c, "EXECUTE IMMEDIATE 'SHOW WARNINGS'", 9006)
				must(t, c, "SELECT GET_LOCK('own', 0)")
				for _, between := range []string{"SET TRANSACTION READ WRITE", "USE wrapped"} { // which the session answers, and which leave what is there
					must(t, c, "SELECT 'own' + 1")
					must(t, c, between)
					if r := must(t, c, "SHOW WARNINGS"); len(r.Rows) != 1 {
						t.Errorf("SHOW WARNINGS behind %s gives %v", between, r.Rows)
					}
				}
				must(t, c, "DO RELEASE_LOCK('own')")
				must(t, c, "BEGIN")
				must(t, c, "SELECT 'own' + 1")
				if r := must(t, c, "EXECUTE IMMEDIATE 'SHOW WARNINGS'"); len(r.Rows) != 1 {
					t.Errorf("SHOW WARNINGS within a transaction gives %v", r.Rows)
				}
			}
		})
	}
}

// told is all that a client hears.
func told(r *mysqltest.RawResult, err error) string {
	text := fmt.Sprint(err)
	for ; r != nil; r = r.Next {
		text += fmt.Sprint(" ", r.Rows, r.Err)
	}
	return text
}

// preparedAndRun prepares and executes a text without parameters.
func preparedAndRun(c *mysqltest.RawClient, text string) (*mysqltest.RawResult, error) {
	st, err := c.Prepare(text)
	if err != nil {
		return nil, err
	}
	return st.Execute()
}

// TestDatabaseOfOthers has a session without a database enter one unseen: the next on the connection has none.
func TestDatabaseOfOthers(t *testing.T) {
	w := startWrapping(t, mysqltest.MariaDB)
	w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: plain, password: plain}]
nodes: [{name: n, max_conns_limit: 1, user: root, password: root, master: "%s"}]
schema_list: [{user: plain, nodes: [n], default: n}]
`, w.server.Addr))
	must(t, w.direct, "CREATE PROCEDURE wrapped.p_use() EXECUTE IMMEDIATE 'USE wrapped'")
	for _, enter := range []string{"EXECUTE IMMEDIATE 'USE wrapped'", "BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'USE wrapped'; END", "EXECUTE IMMEDIATE CONCAT('USE ', 'wrapped')", "CALL wrapped.p_use()"} {
		for _, blind := range []string{"SET session_track_schema = 0", "SET session_track_schema = OFF, session_track_state_change = OFF"} {
			c := dial(t, w.addr, mysqltest.ClientConfig{User: "plain", Password: "plain"})
			for _, sql := range []string{blind, enter} {
				if _, err := c.Query(sql); err != nil {
					t.Fatal(err)
				}
			}
			c.Close()
			next := dial(t, w.addr, mysqltest.ClientConfig{User: "plain", Password: "plain"})
			must(t, next, "BEGIN") // on the connection
			if r := must(t, next, "SELECT COALESCE(DATABASE(), '')"); r.Rows[0][0] != "" {
				t.Errorf("behind %s, %s another session is in the database", blind, enter)
			}
			if r, err := next.Query("SELECT * FROM w_t"); err != nil || r.Err == nil || r.Err.Code != mysql.ERNoDB {
				t.Errorf("behind %s, %s another session reads without a database: %v %v", blind, enter, r, err)
			}
			next.Close()
		}
	}
}

// TestClockOfOthers has hints set the clock of a statement: it goes on for everybody else.
func TestClockOfOthers(t *testing.T) {
	w := startWrapping(t, mysqltest.MySQL9)
	w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: plain, password: plain}]
nodes: [{name: n, max_conns_limit: 1, user: root, password: root, master: "%s", allow_public_key_retrieval: true}]
schema_list: [{user: plain, nodes: [n], default: n}]
`, w.server.Addr))
	for _, text := range []string{
		"SELECT /*+ SET_VAR(timestamp = 1000) */ 1", "SELECT /*+ set_var(`timestamp` = 1000) */ nosuch FROM w_t", "INSERT /*+ MAX_EXECUTION_TIME(5) SET_VAR(TIMESTAMP=5) */ INTO w_t VALUES (1)",
		"PREPARE s FROM 'SELECT /*+ SET_VAR(timestamp = 1000) */ 1'; EXECUTE s", "PREPARE s FROM 'SELECT /*+ SET_VAR(timestamp = 1000) */ 1'; DEALLOCATE PREPARE s", "SELECT (SELECT /*+ SET_VAR(timestamp = 1000) */ 1)",
		"UPDATE /*+ SET_VAR(timestamp=7)*/ w_t SET a = 1", "SELECT /*+ SET_VAR(tímestamp = 1000) */ 1", "WITH x AS (SELECT 1) SELECT /*+ SET_VAR(timestamp=7)*/ * FROM x",
	} {
		for _, prepared := range []bool{false, true} {
			c := w.client("plain")
			for _, sql := range strings.Split(text, "; ") {
				if prepared {
					_, _ = preparedAndRun(c, sql)
				} else if _, err := c.Query(sql); err != nil {
					t.Fatal(err)
				}
			}
			c.Close()
			next := w.client("plain")
			before := must(t, next, "SELECT NOW(6)").Rows[0][0]
			time.Sleep(2 * time.Millisecond)
			if after := must(t, next, "SELECT NOW(6)").Rows[0][0]; after == before {
				t.Errorf("behind %s (prepared: %v) the clock stands still", text, prepared)
			}
			next.Close()
		}
	}
}

// TestHintsLeaveNothing sets every variable of a session by a hint: none is another behind the statement, but for the clock.
func TestHintsLeaveNothing(t *testing.T) {
	w := startWrapping(t, mysqltest.MySQL9)
	names := must(t, w.direct, "SELECT variable_name FROM performance_schema.session_variables")
	all := func() (list []string) {
		for _, row := range must(t, w.direct, "SELECT variable_name, variable_value FROM performance_schema.session_variables WHERE variable_name NOT IN ('timestamp', 'gtid_executed', 'rand_seed1', 'rand_seed2', 'statement_id')").Rows {
			list = append(list, fmt.Sprint(row))
		}
		return list
	}
	want, hinted := fmt.Sprint(all()), 0
	for _, row := range names.Rows {
		name := row[0].(string)
		if name == "timestamp" {
			continue
		}
		for _, value := range []string{"1", "0", "'ON'", "'OFF'", "77", "''", "'latin1'"} {
			r, err := w.direct.Query(fmt.Sprintf("SELECT /*+ SET_VAR(%s = %s) */ 1", name, value))
			if err != nil {
				t.Fatal(err)
			}
			if r.Err == nil && r.Warnings == 0 {
				hinted++
			}
		}
		if got := fmt.Sprint(all()); got != want {
			t.Errorf("a hint for %s leaves\n%s\nnot\n%s", name, got, want)
			want = got
		}
		before := must(t, w.direct, "SELECT NOW(6)").Rows[0][0]
		if after := must(t, w.direct, "SELECT NOW(6)").Rows[0][0]; after == before {
			t.Errorf("behind a hint for %s the clock stands still", name)
		}
	}
	if hinted < 100 {
		t.Errorf("%d hints were taken, want 100", hinted)
	}
}

// TestLongDataOfOthers has an execution fail behind long data of a parameter: the next one of the text, another session's, has its own value.
func TestLongDataOfOthers(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: plain, password: plain}]
nodes: [{name: n, max_conns_limit: 1, user: root, password: root, master: "%s", allow_public_key_retrieval: true}]
schema_list: [{user: plain, nodes: [n], default: n}]
`, w.server.Addr))
			const text = "SELECT CONCAT('<', ?, '>')"
			for _, odd := range []mysql.ColumnType{mysql.TypeLongLong, mysql.TypeDate, mysql.TypeDouble, mysql.TypeNull, 200} {
				victim, c := w.client("plain"), w.client("plain")
				own, err := victim.Prepare(text)
				if err != nil {
					t.Fatal(err)
				}
				st, err := c.Prepare(text)
				if err != nil {
					t.Fatal(err)
				}
				id := string(mysql.AppendUint32(nil, st.StatementID))
				if err := c.Send(mysql.ComStmtSendLongData, id+"\x00\x00evil"); err != nil {
					t.Fatal(err)
				}
				// No flags, one iteration, nothing NULL, and the type that follows.
				if _, err := c.Command(mysql.ComStmtExecute, id+"\x00\x01\x00\x00\x00\x00\x01"+string([]byte{byte(odd), 0})); err != nil {
					t.Fatal(err)
				}
				c.Close()
				r, err := own.Execute("own")
				if err != nil || r.Err != nil || len(r.Rows) != 1 || r.Rows[0][0] != "<own>" {
					t.Errorf("behind type %d: %v", odd, told(r, err))
				}
				victim.Close()
			}
		})
	}
}

// TestIDsOfOthers has hints set the next generated id: it is none of another session's.
func TestIDsOfOthers(t *testing.T) {
	w := startWrapping(t, mysqltest.MySQL9)
	w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: plain, password: plain}]
nodes: [{name: n, max_conns_limit: 1, user: root, password: root, master: "%s", allow_public_key_retrieval: true}]
schema_list: [{user: plain, nodes: [n], default: n}]
`, w.server.Addr))
	must(t, w.direct, "CREATE TABLE ids (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	for k, text := range []string{"SELECT /*+ SET_VAR(insert_id = 77) */ 1", "SELECT /*+ SET_VAR(`insert_id` = 77) */ nosuch FROM w_t", "DELETE /*+ SET_VAR(insert_id=77) */ FROM w_t"} {
		c := w.client("plain")
		if _, err := c.Query(text); err != nil {
			t.Fatal(err)
		}
		c.Close()
		next := w.client("plain")
		must(t, next, "INSERT INTO ids (v) VALUES (1)")
		if id := must(t, next, "SELECT MAX(id) FROM ids").Rows[0][0]; id != fmt.Sprint(k+1) {
			t.Errorf("behind %s the next id is %v", text, id)
		}
		next.Close()
	}
}

// TestExpressionsThatArePrepared has PREPARE and EXECUTE IMMEDIATE compute a text: the expression is judged as a statement is, and what it
// leaves is no other session's.
func TestExpressionsThatArePrepared(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			for _, text := range []string{
				"PREPARE s FROM EXP(IF((TABLE information_schema.processlist ORDER BY id LIMIT 1) > (7,'','','','',0,'',''), 1000, 1))", "PREPARE s FROM SLEEP(30)",
				"PREPARE s FROM (SELECT info FROM information_schema.processlist LIMIT 1)", "PREPARE s FROM LOAD_FILE('/etc/passwd')",
			} {
				if w.maria && strings.Contains(text, "SLEEP") {
					continue
				}
				c := w.client("plain")
				began := time.Now()
				r, err := c.Query(text)
				if err != nil || r.Err == nil || r.Err.Code == 1690 || time.Since(began) > 20*time.Second {
					t.Errorf("%s: %s", text, told(r, err))
				}
				c.Close()
			}
			for _, text := range []string{"PREPARE s FROM CONCAT('SELECT 1', LEFT(GET_LOCK('l', 0), 0))", "PREPARE s FROM CONCAT('SELECT ', @left := 77)"} {
				c := w.client("plain")
				for _, sql := range []string{text, "PREPARE t FROM 'SELECT 1'", "DEALLOCATE PREPARE t", "DEALLOCATE PREPARE s"} {
					if _, err := c.Query(sql); err != nil {
						t.Fatal(err)
					}
				}
				c.Close()
				mysqltest.WaitFor(t, "the lock to be free behind "+text, func() bool { return must(t, w.direct, "SELECT IS_FREE_LOCK('l')").Rows[0][0] == "1" })
				next := w.client("plain")
				must(t, next, "BEGIN")
				if r := must(t, next, "SELECT @left"); r.Rows[0][0] != nil {
					t.Errorf("behind %s another session reads %v", text, r.Rows)
				}
				next.Close()
			}
		})
	}
}

// TestRowOfOthers has sql_auto_is_null find the row with the last generated id: of the session's own ids.
func TestRowOfOthers(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: plain, password: plain}]
nodes: [{name: n, max_conns_limit: 1, user: root, password: root, master: "%s", allow_public_key_retrieval: true}]
schema_list: [{user: plain, nodes: [n], default: n}]
`, w.server.Addr))
			must(t, w.direct, "CREATE TABLE rows_of (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
			ways := []string{"SET sql_auto_is_null = 1; SELECT v FROM rows_of WHERE id IS NULL"}
			if !w.maria {
				ways = append(ways, "SELECT /*+ SET_VAR(sql_auto_is_null = 1) */ v FROM rows_of WHERE id IS NULL")
			}
			for _, way := range ways {
				other := w.client("plain")
				must(t, other, "INSERT INTO rows_of (v) VALUES (4711)")
				other.Close()
				c := w.client("plain")
				var r *mysqltest.RawResult
				for _, sql := range strings.Split(way, "; ") {
					r = must(t, c, sql)
				}
				if len(r.Rows) != 0 {
					t.Errorf("%s finds another session's row: %v", way, r.Rows)
				}
				if must(t, c, "INSERT INTO rows_of (v) VALUES (7)"); !strings.HasPrefix(way, "SET") {
					c.Close()
					continue
				}
				if r = must(t, c, "SELECT v FROM rows_of WHERE id IS NULL"); len(r.Rows) != 1 || r.Rows[0][0] != "7" {
					t.Errorf("the session's own row is %v", r.Rows)
				}
				c.Close()
			}
		})
	}
}

// TestLocksOfDefinitions has DDL compute values: what that leaves is no other session's.
func TestLocksOfDefinitions(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			for k, text := range []string{
				"CREATE EVENT e%d ON SCHEDULE AT NOW() + INTERVAL 1 + GET_LOCK('l', 0) DAY DO DO 1", "CREATE EVENT e%d ON SCHEDULE EVERY (@left := 5) DAY DO DO 1",
				"CREATE EVENT e%d ON SCHEDULE EVERY 1 DAY STARTS NOW() + INTERVAL GET_LOCK('l', 0) HOUR DO DO 1",
			} {
				c := w.client("plain")
				if _, err := c.Query(fmt.Sprintf(text, k)); err != nil {
					t.Fatal(err)
				}
				mysqltest.WaitFor(t, "the lock to be free behind "+text, func() bool { return must(t, w.direct, "SELECT IS_FREE_LOCK('l')").Rows[0][0] == "1" })
				c.Close()
				next := w.client("plain")
				must(t, next, "BEGIN")
				if r := must(t, next, "SELECT @left"); r.Rows[0][0] != nil {
					t.Errorf("behind %s another session reads %v", text, r.Rows)
				}
				next.Close()
			}
		})
	}
}
