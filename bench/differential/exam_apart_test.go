package differential

import (
	"fmt"
	"testing"
)

// TestPreparedTablesApart prepares statements over two tables of which each is on one node alone: no server can describe
// them.
func TestPreparedTablesApart(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			pair := twoNodes(t, kind)
			for _, addr := range pair {
				c := examConn(t, addr, "")
				examRun(t, c, "DROP DATABASE IF EXISTS "+examDB)
				examRun(t, c, "CREATE DATABASE "+examDB)
				_ = c.Close()
			}
			c := examConn(t, examProxy(t, pair, fmt.Sprintf(examRules, "[1, 1]")), examDB)
			defer c.Close()
			for _, name := range []string{"one", "loc"} {
				examRun(t, c, "CREATE TABLE "+name+" (id INT NOT NULL PRIMARY KEY, n INT)")
			}
			for _, form := range []string{
				"DELETE FROM %s WHERE n IN (SELECT n FROM %s)", "UPDATE %s SET n = (SELECT MAX(n) FROM %s)", "INSERT INTO %s SELECT * FROM %s",
				"DELETE x FROM %s AS x JOIN %s AS y USING (id)", "REPLACE INTO %s (id, n) VALUES (1, (SELECT MAX(n) FROM %s))",
			} {
				for _, names := range [][2]string{{"one", "loc"}, {"loc", "one"}} {
					sql := fmt.Sprintf(form, names[0], names[1])
					if a, err := (&side{conn: c}).send(rendered{sql: sql}, true); err != nil || a.Err == nil || a.Err.Code != 9012 {
						t.Errorf("%s (prepared): %v %v", sql, a.RawResult, err)
					}
				}
			}
			// As text these are answered by what is collected of both; no server can describe them.
			for _, sql := range []string{
				"SELECT (SELECT MAX(x.n) FROM loc AS x WHERE x.id = t.id) AS m FROM one AS t", "SELECT t.n FROM one AS t LEFT JOIN loc AS x ON x.id = t.id", "SELECT n FROM loc UNION SELECT n FROM one",
			} {
				if a, err := (&side{conn: c}).send(rendered{sql: sql}, true); err != nil || a.Err == nil || a.Err.Code != 9012 {
					t.Errorf("%s (prepared): %v %v", sql, a.RawResult, err)
				}
			}
		})
	}
}
