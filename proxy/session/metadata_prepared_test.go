package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// preparedAnswer prepares a statement and runs it.
func preparedAnswer(t *testing.T, c *mysqltest.RawClient, sql string, args ...any) string {
	t.Helper()
	st, err := c.Prepare(sql)
	if err != nil {
		return err.Error()
	}
	columns := definitionsShown(st.Columns)
	r, err := st.Execute(args...)
	if err != nil {
		t.Fatal(sql, err)
	}
	if r.Err == nil && r.OK == nil && definitionsShown(r.Columns) != columns && len(columns) > 0 {
		t.Errorf("%s: the columns of the execution are not those of the preparation:\n%s\n%s", sql, definitionsShown(r.Columns), columns)
	}
	if r.OK != nil {
		return fmt.Sprintf("ok %d", r.OK.AffectedRows)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return metadataShown(r)
}

// TestPreparedDefinitions runs DDL on tables of every kind of place by the binary protocol.
func TestPreparedDefinitions(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := metadataRig(t, kind, nil)
			for _, sql := range []string{
				"DROP TABLE f", "DROP TABLE IF EXISTS f", "CREATE TABLE f (id INT, u_id INT PRIMARY KEY)", "CREATE TABLE f (id INT)", "CREATE TABLE IF NOT EXISTS f (id INT)",
				"ALTER TABLE u ADD extra INT DEFAULT 3", "ALTER TABLE u DROP nothing", "CREATE INDEX e ON u (extra)", "DROP INDEX e ON u", "ALTER TABLE s ADD x INT, ADD KEY (x)",
				"ALTER TABLE v COMMENT 'v'", "ALTER TABLE r ADD y INT", "TRUNCATE TABLE u", "TRUNCATE s", "TRUNCATE TABLE r", "TRUNCATE nothing", "DROP TABLE v", "CREATE TABLE v (id INT, w INT)", "DROP TABLE r, s",
				"CREATE TABLE r (id INT)", "CREATE TABLE s (id INT)", "CREATE TABLE u u", "DROP TABLE u, f",
			} {
				if w, g := preparedAnswer(t, one, sql), preparedAnswer(t, c, sql); w != g {
					t.Errorf("%s: %s\ninstead of %s", sql, g, w)
				}
				for _, table := range []string{"u", "v", "s", "r", "f"} {
					w, err := one.Query("SHOW COLUMNS FROM " + table)
					if err != nil {
						t.Fatal(err)
					}
					g, err := c.Query("SHOW COLUMNS FROM " + table)
					if err != nil {
						t.Fatal(err)
					}
					if w.Err != nil && g.Err != nil && w.Err.Code == g.Err.Code {
						continue
					}
					if w, g := metadataShown(w), metadataShown(g); w != g {
						t.Errorf("%s, then %s:\n%s\ninstead of\n%s", sql, table, g, w)
					}
				}
			}
		})
	}
}

// A prepared text may end with ';' and blanks, as often as servers let it.
func TestPreparedEndings(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := metadataRig(t, kind, nil)
			for _, sql := range []string{
				"SELECT id FROM u ORDER BY id", "SELECT id FROM u WHERE id = 3", "SELECT COUNT(*), MAX(id) FROM u", "SELECT COUNT(DISTINCT id) FROM u",
				"SELECT id FROM s", "SELECT id FROM r", "SELECT 1", "DELETE FROM u WHERE id = 77",
			} {
				for _, end := range []string{";", " ;", ";;", " ;; ", ";\n;", ";\t;\r\n", "; /* over */", ";; /* over */", "; SELECT 1"} {
					if w, g := preparedAnswer(t, one, sql+end), preparedAnswer(t, c, sql+end); w != g {
						t.Errorf("%s%q: %s\ninstead of %s", sql, end, g, w)
					}
				}
			}
		})
	}
}

// TestPreparedOwn prepares what the proxy answers by itself.
func TestPreparedOwn(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := metadataRig(t, kind, nil)
			text := must(t, c, "EXPLAIN SELECT * FROM u WHERE id = 3")
			if got := preparedAnswer(t, c, "EXPLAIN SELECT * FROM u WHERE id = ?", 3); got != metadataShown(text) {
				t.Errorf("EXPLAIN:\n%s\ninstead of\n%s", got, metadataShown(text))
			}
			text = must(t, c, "EXPLAIN SELECT name, COUNT(*) FROM u GROUP BY name")
			if got := preparedAnswer(t, c, "EXPLAIN SELECT name, COUNT(*) FROM u GROUP BY name"); got != metadataShown(text) || len(text.Rows) == 0 {
				t.Errorf("EXPLAIN:\n%s\ninstead of\n%s", got, metadataShown(text))
			}
			if got := preparedAnswer(t, c, "SHOW PROCESSLIST"); strings.Count(got, "SHOW PROCESSLIST") != 1 {
				t.Errorf("SHOW PROCESSLIST:\n%s", got)
			}
			if got := preparedAnswer(t, c, "SHOW KS NODES"); strings.Count(got, "\"n") != 2 {
				t.Errorf("SHOW KS NODES:\n%s", got)
			}
			if w, g := preparedAnswer(t, one, "KILL 4000000000"), preparedAnswer(t, c, "KILL 4000000000"); w != g {
				t.Errorf("KILL:\n%s\ninstead of\n%s", g, w)
			}
			for _, client := range []*mysqltest.RawClient{one, c} {
				must(t, client, "SET sql_mode = ''")
			}
			if kind == mysqltest.MySQL9 {
				_, werr := one.Prepare("SHOW WARNINGS")
				_, gerr := c.Prepare("SHOW WARNINGS")
				if werr == nil || fmt.Sprint(werr) != fmt.Sprint(gerr) {
					t.Errorf("SHOW WARNINGS: %v instead of %v", gerr, werr)
				}
				return
			}
			var shown []string
			for _, client := range []*mysqltest.RawClient{one, c} {
				st, err := client.Prepare("SHOW WARNINGS")
				if err != nil {
					t.Fatal(err)
				}
				must(t, client, "INSERT INTO u (id, name) VALUES (77, REPEAT('x', 50))")
				r, err := st.Execute()
				if err != nil {
					t.Fatal(err)
				}
				shown = append(shown, rowsShown(r))
			}
			if shown[0] != shown[1] || !strings.Contains(shown[0], "truncated") {
				t.Errorf("SHOW WARNINGS:\n%s\ninstead of\n%s", shown[1], shown[0])
			}
		})
	}
}
