package differential

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
)

// TestPreparedTablesApart prepares statements over tables of which each is on one node alone: they are described as by one server, and answered.
func TestPreparedTablesApart(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			pair := twoNodes(t, kind)
			want := examConn(t, oracle(t, kind), "")
			defer want.Close()
			for _, addr := range pair {
				c := examConn(t, addr, "")
				examRun(t, c, "DROP DATABASE IF EXISTS "+examDB)
				examRun(t, c, "CREATE DATABASE "+examDB)
				_ = c.Close()
			}
			for _, sql := range []string{"DROP DATABASE IF EXISTS " + examDB, "CREATE DATABASE " + examDB, "USE " + examDB} {
				examRun(t, want, sql)
			}
			got := examConn(t, examProxy(t, pair, fmt.Sprintf(examRules, "[1, 1]")), examDB)
			defer got.Close()
			both := func(sql string) {
				examRun(t, want, sql)
				examRun(t, got, sql)
			}
			for _, name := range []string{"one", "loc", "h"} {
				both("CREATE TABLE " + name + " (id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(9) NOT NULL DEFAULT 'x', t TIMESTAMP NULL, e ENUM('a', 'b'), UNIQUE KEY u (n, id), KEY (s))")
				both("INSERT INTO " + name + " (id, n, e) VALUES (1, 2, 'a'), (2, 3, 'b'), (3, NULL, NULL), (4, 2, 'a')")
			}
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "ROLLBACK"}, {"SET sql_mode = 'ANSI_QUOTES'", "SET sql_mode = DEFAULT"}, {"SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"}} {
				for _, sql := range []string{
					"SELECT (SELECT MAX(x.n) FROM loc AS x WHERE x.id = t.id) AS m FROM one AS t WHERE t.id < ? ORDER BY t.id", "SELECT t.*, x.t, ? AS p FROM one AS t LEFT JOIN loc AS x ON x.n = t.n WHERE t.id < 3 ORDER BY t.id, x.id",
					"SELECT s, e, n + ? FROM loc UNION SELECT s, e, id FROM one ORDER BY 1, 2, 3", "SELECT h.*, one.e, loc.e FROM h JOIN one ON one.id = h.n JOIN loc USING (id) WHERE loc.id <> ? ORDER BY h.id", "SELECT nosuch FROM one, loc WHERE one.id = ?",
					"DELETE FROM one WHERE n IN (SELECT n FROM loc WHERE id = ?)", "UPDATE loc SET n = (SELECT MAX(n) FROM one) WHERE id = ?", "REPLACE INTO one (id, n) SELECT id, n FROM loc WHERE id < ? ORDER BY id", "SELECT id, n FROM one WHERE id > ? ORDER BY id",
				} {
					both(around[0])
					st, err := want.Prepare(sql)
					through, failed := got.Prepare(sql)
					if refused, is := errors.AsType[*mysql.SQLError](failed); is && refused.Code == 9012 && strings.HasSuffix(around[0], "READ ONLY") && err != nil {
						both(around[1])
						continue // a server would let temporary tables be changed
					}
					if fmt.Sprint(err) != fmt.Sprint(failed) {
						t.Errorf("%s; %s: %v, want %v", around[0], sql, failed, err)
					}
					if err == nil && failed == nil {
						if w, g := fmt.Sprint(st.Params, st.Columns), fmt.Sprint(through.Params, through.Columns); w != g {
							t.Errorf("%s; %s prepared\n got %s\nwant %s", around[0], sql, g, w)
						}
						for _, value := range []int{2, 4} {
							w, err := st.Execute(value)
							g, failed := through.Execute(value)
							if g.Err != nil && g.Err.Code == 9004 {
								continue // a change in a transaction that these servers cannot have on two nodes
							}
							if w, g := fmt.Sprint(w.Err, w.OK == nil, w.Rows, err), fmt.Sprint(g.Err, g.OK == nil, g.Rows, failed); w != g {
								t.Errorf("%s; %s with %d\n got %s\nwant %s", around[0], sql, value, g, w)
							}
						}
					}
					both(around[1])
				}
			}
			both("PREPARE p FROM 'SELECT COUNT(*) FROM one JOIN loc USING (id) WHERE one.n = ?'")
			both("SET @v = 2")
			w, err := want.Query("EXECUTE p USING @v")
			g, failed := got.Query("EXECUTE p USING @v")
			if fmt.Sprint(w.Rows, w.Err, err) != fmt.Sprint(g.Rows, g.Err, failed) {
				t.Errorf("EXECUTE: %v %v, want %v %v", g.Rows, g.Err, w.Rows, w.Err)
			}
		})
	}
}
