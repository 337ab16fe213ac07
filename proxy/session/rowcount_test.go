package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestRowCountAfterCommands asks after commands that are no statement what ROW_COUNT() and @@warning_count are: some leave them as they were.
// Those that a transaction's connection is not told of are asked for outside of one only.
func TestRowCountAfterCommands(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		commands := map[string]func(c *mysqltest.RawClient) error{
			"COM_PING":         func(c *mysqltest.RawClient) error { _, err := c.Command(mysql.ComPing, ""); return err },
			"COM_INIT_DB":      func(c *mysqltest.RawClient) error { _, err := c.Command(mysql.ComInitDB, "shop"); return err },
			"COM_STATISTICS":   func(c *mysqltest.RawClient) error { _, err := c.Command(mysql.ComStatistics, ""); return err },
			"COM_SET_OPTION":   func(c *mysqltest.RawClient) error { _, err := c.Command(mysql.ComSetOption, "\x00\x00"); return err },
			"COM_STMT_PREPARE": func(c *mysqltest.RawClient) error { _, err := c.Prepare("SELECT 1"); return err },
			"of shards": func(c *mysqltest.RawClient) error {
				_, err := c.Prepare("SELECT n FROM users WHERE id = ?")
				return err
			},
			"of no statement": func(c *mysqltest.RawClient) error { _, _ = c.Prepare("SELEC 1"); return nil },
			"COM_STMT_CLOSE": func(c *mysqltest.RawClient) error {
				st, err := c.Prepare("DO 1")
				if err == nil {
					err = st.Close()
				}
				return err
			},
			"COM_STMT_RESET": func(c *mysqltest.RawClient) error {
				st, err := c.Prepare("DO 1")
				if err == nil {
					_, err = c.Command(mysql.ComStmtReset, string(mysql.AppendUint32(nil, st.StatementID)))
				}
				return err
			},
			"none": func(*mysqltest.RawClient) error { return nil },
		}
		for _, begin := range []string{"DO 1", "BEGIN"} {
			for _, ahead := range []string{"UPDATE users SET n = n + 1 WHERE id = 4", "SELECT CAST('x' AS SIGNED)", "SELEC"} {
				for name, command := range commands {
					if untold := name == "COM_PING" || name == "COM_SET_OPTION" || name == "COM_STMT_RESET"; begin == "BEGIN" && untold {
						continue
					}
					var got [2]string
					for k, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
						must(t, c, begin)
						if _, err := c.Query(ahead); err != nil {
							t.Fatal(err)
						}
						if err := command(c); err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						r := must(t, c, "SELECT ROW_COUNT(), @@warning_count, @@error_count")
						got[k] = fmt.Sprint(r.Rows)
						must(t, c, "ROLLBACK")
					}
					if got[0] != got[1] {
						t.Errorf("%s; %s; %s: %s, want %s", begin, ahead, name, got[0], got[1])
					}
				}
			}
		}
	})
}

// TestPreparedTellsAnew executes statements that ask for what the one before them has left, again and again, and has a change ask for it that
// is of another node than the statement before.
func TestPreparedTellsAnew(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, begin := range []string{"SELECT 1", "BEGIN"} {
			for _, sql := range []string{"SELECT FOUND_ROWS()", "SELECT ROW_COUNT()", "SELECT ROW_COUNT() + MAX(?) FROM users"} {
				var st [2]*mysqltest.RawStmt
				for k, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
					var err error
					if st[k], err = c.Prepare(sql); err != nil {
						t.Fatal(err)
					}
					must(t, c, begin)
				}
				for _, ahead := range []string{
					"UPDATE users SET n = n + 1 WHERE id = 3", "SELECT SQL_CALC_FOUND_ROWS 1 FROM users WHERE id < 9 LIMIT 1", "DO 1", "SELECT 1 UNION SELECT 2", "SELEC",
				} {
					var got [2]string
					for k, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
						if r, err := c.Query(ahead); err != nil || (r.Err != nil) != (ahead == "SELEC") {
							t.Fatalf("%s: %v %v", ahead, err, r)
						}
						r, err := st[k].Execute([]any{int64(5)}[:len(st[k].Params)]...)
						if err != nil || r.Err != nil {
							t.Fatalf("%s: %v %v", sql, err, r)
						}
						got[k] = fmt.Sprint(r.Rows)
					}
					if got[0] != got[1] {
						t.Errorf("%s; %s; %s: %s, want %s", begin, ahead, sql, got[0], got[1])
					}
				}
				for _, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
					must(t, c, "ROLLBACK")
				}
			}
		}
		for _, id := range []int{101, 102, 103, 104} {
			for _, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
				must(t, c, "SET autocommit = 0")
				if r, err := c.Query("ROLLBACK TO nowhere"); err != nil || r.Err == nil {
					t.Fatalf("%v %v", err, r)
				}
				st, err := c.Prepare(fmt.Sprintf("INSERT INTO users (id, n) VALUES (%d, ROW_COUNT())", id))
				if err != nil {
					t.Fatal(err)
				}
				if r, err := st.Execute(); err != nil || r.Err != nil {
					t.Fatalf("%v %v", err, r)
				}
				if r := must(t, c, fmt.Sprintf("SELECT n FROM users WHERE id = %d", id)); fmt.Sprint(r.Rows) != "[[-1]]" {
					t.Errorf("row %d has %v", id, r.Rows)
				}
				must(t, c, "COMMIT")
				must(t, c, "SET autocommit = 1")
			}
		}
	})
}
