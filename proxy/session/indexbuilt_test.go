package session_test

import (
	"testing"

	"kingshard/mysql/mysqltest"
)

// A row that goes while an index is built takes no other row's entry along.
func TestIndexBuiltWhileDuplicatesGo(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			must(t, s.subject, "KS INDEX DROP people email")
			must(t, s.subject, "INSERT INTO people (id, email) VALUES (1, 'a@x'), (2, 'A@x')")
			if r, err := s.subject.Query("KS INDEX BUILD people email"); err != nil || r.Err == nil {
				t.Fatalf("the index of a value that is there twice was built: %v", err)
			}
			must(t, s.subject, "DELETE FROM people WHERE id = "+column(must(t, s.subject, "SELECT 3 - id FROM ks_people_email")))
			must(t, s.subject, "KS INDEX BUILD people email")
			s.keptIndexes(t, "the build")
			fails(t, s.subject, "INSERT INTO people (id, email) VALUES (1, 'a@X'), (2, 'a@X')", 1062)
		})
	}
}

// A statement that has waited while the build of an index began keeps it.
func TestIndexBuiltWhileAStatementWaits(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startIndexed(t, kind)
			must(t, s.subject, "INSERT INTO people (id, dept) VALUES (2, 1)")
			must(t, s.subject, "KS INDEX DROP people dept")
			const row = "SELECT * FROM people_0002 WHERE id = 2 FOR UPDATE"
			must(t, s.nodes[1], "BEGIN")
			must(t, s.nodes[1], row)
			run := func(sql string) (id string, done chan error) {
				c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
				id, done = column(must(t, c, "SELECT CONNECTION_ID()")), make(chan error, 1)
				go func() {
					r, err := c.Query(sql)
					if err == nil && r.Err != nil {
						err = r.Err
					}
					done <- err
				}()
				return id, done
			}
			_, updated := run("UPDATE people SET dept = 7 WHERE id = 2")
			mysqltest.WaitFor(t, "the row to be waited for", func() bool {
				return len(must(t, s.nodes[1], "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE '%people_0002%' AND ID <> CONNECTION_ID()").Rows) > 0
			})
			builder, built := run("KS INDEX BUILD people dept")
			mysqltest.WaitFor(t, "the build to begin", func() bool {
				return column(must(t, s.nodes[0], "SELECT state FROM ks_meta.indexes WHERE key_name = 'dept'")) == "building"
			})
			must(t, s.subject, "KILL QUERY "+builder)
			if err := <-built; err == nil {
				t.Fatal("the build went on")
			}
			must(t, s.nodes[1], "ROLLBACK")
			if err := <-updated; err != nil {
				t.Fatal(err)
			}
			if got := column(must(t, s.subject, "SELECT CONCAT(dept, ' ', id) FROM ks_people_dept")); got != "7 2" {
				t.Errorf("the entries are %q", got)
			}
			must(t, s.subject, "KS INDEX BUILD people dept")
			s.keptIndexes(t, "the build")
		})
	}
}
