package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// leavers leave something on their connection.
var leavers = []string{
	"SET @leak = 5", "SET SESSION sql_mode = 'ANSI_QUOTES'", "SET autocommit = 0", "SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
	"SET NAMES latin1", "SET @leak = 6, sql_mode = 'NO_BACKSLASH_ESCAPES', @@session.max_sort_length = 77", "SET max_sort_length = 78", "CREATE TEMPORARY TABLE leak (a INT)",
	"DO GET_LOCK('leak', 0)", "SELECT 7 INTO @leak", "SELECT @leak := 8", "LOCK TABLES w_t READ", "START TRANSACTION READ ONLY", "SHOW TABLES WHERE (@leak := 9) = 9", "SHOW TABLES WHERE GET_LOCK('leak', 0) > 5",
	"SET timestamp = 1000", "INSERT INTO w_t VALUES ((SELECT nothing FROM nowhere))",
}

// traces show what leavers leave.
func traces(maria bool) []string {
	isolation := "@@transaction_isolation, @@transaction_read_only"
	if maria {
		isolation = "@@tx_isolation, @@tx_read_only"
	}
	return []string{
		"SELECT @leak, @@sql_mode, @@autocommit, @@max_sort_length, @@character_set_client, " + isolation, "SELECT COUNT(*) FROM leak", "SELECT 'a\\n', NOW() < '2000-01-01'",
		`SELECT "leak"`, "SELECT IS_USED_LOCK('leak') = CONNECTION_ID()",
	}
}

// What a statement leaves behind on its connection its session has from then on, as on a server, and nobody else ever; whatever it is wrapped
// in, and though what comes behind it in a compound statement fails.
func TestWrappedState(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			list := wrappers()
			for _, f := range []string{"BEGIN NOT ATOMIC S; SELECT nothing; END", "BEGIN NOT ATOMIC S; SIGNAL SQLSTATE '45000'; END"} {
				list = append(list, wrapper{name: f, maria: true, text: format(f)})
				list = append(list, wrapper{name: "EXECUTE IMMEDIATE of " + f, maria: true, text: func(s string) string { return "EXECUTE IMMEDIATE " + quoted(format(f)(s)) }})
			}
			list = append(list, wrapper{
				name: "between variables", maria: true, mysql: true, text: func(s string) string {
					if set, ok := strings.CutPrefix(s, "SET SESSION sql_mode"); ok {
						return "SET @own = 1, SESSION sql_mode" + set + ", @@session.sort_buffer_size = 100000"
					}
					return s
				},
			})
			for _, tx := range []string{"@@tx_isolation = 'SERIALIZABLE'", "@@transaction_isolation = 'SERIALIZABLE'"} {
				list = append(list, wrapper{
					name: tx, maria: strings.Contains(tx, "tx_"), mysql: !strings.Contains(tx, "tx_"), text: func(s string) string {
						if set, ok := strings.CutPrefix(s, "SET SESSION sql_mode"); ok {
							return "SET " + tx + ", SESSION sql_mode" + set + ", @leak = 3"
						}
						return s
					},
				})
			}
			// The two take both connections that the third may have had.
			others := []*mysqltest.RawClient{w.client("plain"), w.client("dba")}
			clean := make([]string, 0, 5)
			for _, sql := range traces(w.maria) {
				clean = append(clean, answered(others[0].Query(sql)))
			}
			kept, cases := 0, 0
			for k, wr := range list {
				if w.maria && !wr.maria || !w.maria && !wr.mysql || wr.later || wr.unknown {
					continue
				}
				for n, s := range leavers {
					if !everyCase && (k+n)%2 != 0 {
						continue // every wrapper, and every statement, with every other one
					}
					if wr.name == "lower case" || strings.Contains(wr.name, "BACKSLASH") || strings.HasPrefix(wr.name, "ANSI") {
						continue // texts of their own
					}
					straight, through := dial(t, w.server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "wrapped"}), w.client("plain")
					var statements []string
					if wr.setup != nil {
						statements = wr.setup(s)
					}
					statements = append(append(append(statements, wr.text(s)), wr.run...), traces(w.maria)...)
					for k, sql := range statements {
						want, got := answered(straight.Query(sql)), answered(through.Query(sql))
						if strings.Contains(sql, "IS_USED_LOCK") {
							continue // of a server's connection
						}
						if got != want {
							t.Errorf("%s: %s: %s\n gives %s\nnot %s", wr.name, s, sql, got, want)
							break
						}
						if at := k - len(statements) + len(clean); at >= 0 && got != clean[at] {
							kept++
						}
					}
					look := func(when string) {
						for n, c := range others {
							must(t, c, "BEGIN")
							for k, sql := range traces(w.maria) {
								if strings.Contains(sql, "IS_USED_LOCK") {
									if when == "later" {
										// Connections end a little after their clients.
										mysqltest.WaitFor(t, "the lock of "+wr.name, func() bool { return must(t, c, "SELECT IS_FREE_LOCK('leak')").Rows[0][0] == "1" })
									}
									continue // whose it is does not matter
								}
								if got := answered(c.Query(sql)); got != clean[k] {
									t.Errorf("%s: %s: %s another client %d sees %s by %s, not %s", wr.name, s, when, n, got, sql, clean[k])
								}
							}
						}
						for _, c := range others {
							must(t, c, "ROLLBACK")
						}
					}
					look("at first")
					straight.Close()
					through.Close()
					look("later")
					cases++
				}
			}
			if kept < cases*3/4 {
				t.Errorf("state was kept %d times only", kept)
			}
			t.Logf("%d cases", cases)
		})
	}
}

// Rules, the black list and read_only hold for a statement within others.
func TestWrappedRules(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			for name, one := range map[string]struct {
				s     string
				codes []uint16
			}{
				"ruled":  {"DELETE FROM w_t WHERE a = 1", []uint16{kserror.QueryRule}},
				"worded": {"UPDATE w_t SET a = 4711 WHERE a = 4712", []uint16{kserror.QueryRule}},
				"black":  {"UPDATE w_t SET a = 4713 WHERE a = 4714 OR a IS NULL", []uint16{mysql.ERUnknown}},
				"reader": {"DELETE FROM w_t WHERE a = 1", []uint16{mysql.ERTableaccessDenied, kserror.RefusedStatement}},
			} {
				c := w.client(name)
				cases := 0
				for _, wr := range wrappers() {
					if w.maria && !wr.maria || !w.maria && !wr.mysql || name == "reader" && wr.setup != nil && wr.later || strings.Contains(wr.name, "unseen") {
						continue
					}
					codes := one.codes
					if wr.unknown {
						codes = append(codes[:len(codes):len(codes)], kserror.RefusedStatement)
					}
					blocked := false
					if wr.setup != nil {
						for _, sql := range wr.setup(one.s) {
							r, err := c.Query(sql)
							if err != nil {
								t.Fatal(err)
							}
							if r.Err != nil && name != "reader" && r.Err.Code != codes[0] {
								t.Fatalf("%s: %s: %v", wr.name, sql, r.Err)
							}
							blocked = blocked || r.Err != nil
						}
					}
					if blocked {
						continue // its text is in the variable's
					}
					text := wr.text(one.s)
					r, err := c.Query(text)
					if err != nil {
						t.Fatal(err)
					}
					if r.Err == nil || !oneOf(codes, r.Err.Code) {
						t.Errorf("%s: %s: %s", name, wr.name, answered(r, nil))
					}
					if _, err := c.Prepare(text); !refusedBy(err, append(codes[:len(codes):len(codes)], mysql.ERUnsupportedPS, kserror.RefusedStatement)) {
						t.Errorf("%s: %s: prepared: %v", name, wr.name, err)
					}
					for _, sql := range wr.undo {
						if r, err := c.Query(sql); err != nil || r.Err != nil && strings.Contains(sql, "sql_mode") {
							t.Fatalf("%s: %v %v", sql, r, err)
						}
					}
					cases++
				}
				t.Logf("%s: %d cases", name, cases)
			}
		})
	}
}

func oneOf(codes []uint16, code uint16) bool {
	for _, c := range codes {
		if c == code {
			return true
		}
	}
	return false
}

func refusedBy(err error, codes []uint16) bool {
	e, ok := err.(*mysql.SQLError)
	return ok && oneOf(codes, e.Code)
}

// SHOW GRANTS tells rights, not passwords; the tables of accounts are for nobody, other users' statements for those with the right process.
func TestGrantsWithoutPasswords(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			for _, user := range []string{"plain", "dba"} {
				c := w.client(user)
				for _, sql := range []string{"SHOW GRANTS", "SHOW /*!40101 GRANTS */ FOR pool_w@'%'", "show grants for other_w@'%'"} {
					got := answered(c.Query(sql))
					if !strings.Contains(got, "GRANT ") || strings.Contains(got, "IDENTIFIED") || strings.Contains(got, "BY PASSWORD") {
						t.Errorf("%s: %s", sql, got)
					}
				}
				if got := answered(c.Query("SHOW GRANTS FOR nobody@nowhere")); !strings.HasPrefix(got, "error 1141") {
					t.Error(got)
				}
				if got := answered(c.Query("SELECT * FROM mysql.user")); !strings.HasPrefix(got, fmt.Sprint("error ", kserror.RefusedStatement)) {
					t.Error(got)
				}
				must(t, c, "SELECT user, host FROM w_t, (SELECT 1 AS user, 2 AS host) d")
				must(t, c, "SELECT * FROM mysql.time_zone_name LIMIT 1")
				must(t, c, "SELECT COUNT(*) FROM performance_schema.global_status")
			}
			dba := w.client("dba")
			for _, sql := range []string{"SELECT * FROM information_schema.processlist", "SHOW ENGINE INNODB STATUS", "SELECT * FROM performance_schema.threads LIMIT 1", "PREPARE p FROM 'SHOW PROCESSLIST'"} {
				must(t, dba, sql)
			}
			// Without the schema's name in the text.
			c := w.client("plain")
			for _, db := range []string{"information_schema", "performance_schema", "sys", "mysql"} {
				must(t, c, "USE "+db)
				for _, sql := range []string{"SELECT * FROM processlist", "SELECT * FROM session", "SELECT * FROM threads t", "SELECT * FROM .user"} {
					table := strings.Fields(strings.ReplaceAll(sql, ".", ""))[3]
					exists := map[string]string{"information_schema": "processlist", "performance_schema": "threads", "sys": "processlist session", "mysql": "user"}[db]
					if !strings.Contains(exists, table) {
						continue
					}
					for range 2 { // the second may run in a loop
						if why := refused(c.Query(sql)); why != "" {
							t.Errorf("%s: %s: %s", db, sql, why)
						}
					}
					if _, err := c.Prepare(sql); refused(nil, err) != "" {
						t.Errorf("%s: %s: prepared: %v", db, sql, err)
					}
				}
			}
		})
	}
}
