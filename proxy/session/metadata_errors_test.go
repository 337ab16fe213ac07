package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestServersOwnSyntaxErrors: what no server reads is told in the server's words, as text and prepared, though the proxy cannot read it
// either; and nothing of it is carried out.
func TestServersOwnSyntaxErrors(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, _ := metadataRig(t, kind, nil)
			for _, sql := range []string{
				"SELEC * FROM u", "SELECT * FORM u", "SELECT id FROM u WHER id = 1", "INSERT u INTO VALUES (1)", "UPDATE u SET", "DELETE u WHERE", "u", "SELECT * FROM u WHERE id = 'x",
				"CREATE TABLE u (id INT,)", "ALTER TABLE u ADD", "DROP TABLE u u", "EXPLAIN SELEC 1 FROM u", "SHOW COLUMNS OF u", "TRUNCATE u u", "(SELECT 1 FROM u", "SELECT 1 FROM u)",
				"SELECT * FROM u ORDER id", "SELECT * FROM u, , v", "INSERT INTO u VALUES (1", "SELECT /* u", "DESCRIBE u, v", "WITH x AS SELECT 1 FROM u", "SELECT * FROM u LIMIT 1, 2, 3",
				"REPAIR TABLE", "SELECT `u", "SET x FROM u", "DO FROM u", "SELECT 1 FROM information_schema.TABLES FROM u",
			} {
				want, err := one.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.Query(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				if want.Err == nil || want.Err.Code != 1064 {
					t.Fatalf("%s: one server says %v", sql, want.Err)
				}
				if fmt.Sprint(got.Err) != fmt.Sprint(want.Err) {
					t.Errorf("%s:\n%v\ninstead of\n%v", sql, got.Err, want.Err)
				}
				_, werr := one.Prepare(sql)
				_, gerr := c.Prepare(sql)
				if fmt.Sprint(gerr) != fmt.Sprint(werr) {
					t.Errorf("prepare %s:\n%v\ninstead of\n%v", sql, gerr, werr)
				}
			}
			// What a server can read and the proxy cannot stays refused, and is not carried out.
			fails(t, c, "SELECT * FROM u PROCEDURE ANALYSE(1)", map[mysqltest.Kind]uint16{mysqltest.MariaDB: 9013, mysqltest.MySQL9: 1064}[kind])
			if n := mustInt(t, c, "SELECT COUNT(*) FROM u"); n != 5 {
				t.Errorf("u has %d rows", n)
			}
		})
	}
}

// TestMissingSubTable: the error of a sub-table that is not there names it and its node, whatever the statement, in the log too.
func TestMissingSubTable(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			log := new(safeLog)
			_, c, nodes := metadataRig(t, kind, log)
			must(t, nodes[1], "SET foreign_key_checks = 0")
			must(t, nodes[1], "DROP TABLE f_0003, u_0003")
			for _, sql := range []string{
				"SELECT * FROM u", "SELECT COUNT(*) FROM u", "SELECT id FROM u ORDER BY name LIMIT 1", "SELECT * FROM u a JOIN u b ON a.name = b.name", "SELECT u.id FROM u WHERE id = 3",
				"UPDATE u SET name = 'y'", "UPDATE u SET name = 'y' WHERE id = 3", "DELETE FROM u", "DELETE FROM u WHERE id = 3", "INSERT INTO u (id, name) VALUES (3, 'z')",
				"INSERT INTO u (id, name) VALUES (8, 'a'), (9, 'b'), (10, 'c'), (11, 'd')", "UPDATE u SET name = 'y' ORDER BY name LIMIT 2",
			} {
				const want = "Table 'shop.u' doesn't exist: its sub-table shop.u_0003 is missing on node n1"
				r, err := c.Query(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				if r.Err == nil || r.Err.Code != 1146 || r.Err.Message != want {
					t.Errorf("%s: %v", sql, r.Err)
				}
				st, err := c.Prepare(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				if r, err = st.Execute(); err != nil {
					t.Fatal(sql, err)
				}
				if r.Err == nil || r.Err.Code != 1146 || r.Err.Message != want {
					t.Errorf("execute %s: %v", sql, r.Err)
				}
			}
			if n := strings.Count(log.String(), "its sub-table shop.u_0003 is missing on node n1"); n < 24 {
				t.Errorf("the log says so %d times:\n%s", n, log.String())
			}
		})
	}
}
