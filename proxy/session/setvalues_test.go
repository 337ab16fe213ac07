package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// SET timestamp holds for every statement of the session, on whichever nodes it runs, and for nobody else.
func TestTimestampHoldsEverywhere(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		queries := []string{
			"SELECT NOW(6)", "SELECT CURDATE(), @@timestamp", "SELECT id, NOW() FROM users ORDER BY id", "SELECT NOW() FROM users WHERE id = 7",
			"SELECT n, COUNT(DISTINCT NOW(), name) FROM users GROUP BY n ORDER BY n", "SELECT COUNT(*) FROM users WHERE d < NOW()", "SELECT u.id, UNIX_TIMESTAMP() FROM users u JOIN orders o ON o.amount = u.n ORDER BY u.id, o.id LIMIT 4",
			"UPDATE users SET d = NOW()", "SELECT MIN(d), MAX(d) FROM users", "INSERT INTO users (id, d) VALUES (901, NOW()), (902, CURRENT_TIMESTAMP), (903, CURDATE())", "SELECT id, d FROM users WHERE id > 900 ORDER BY id", "DELETE FROM users WHERE id > 900",
		}
		for _, set := range []string{"SET timestamp = 1577934245", "SET timestamp = UNIX_TIMESTAMP('2021-01-02 03:04:05')", "SET SESSION timestamp = 1234567890.123456, @x = 1", "SET @@timestamp = 1600000000 + 5"} {
			for _, around := range [][2]string{{"DO 0", "DO 0"}, {"BEGIN", "COMMIT"}} {
				s.everywhere(t, set)
				s.everywhere(t, around[0])
				for _, sql := range queries {
					if around[0] != "BEGIN" || strings.HasPrefix(sql, "SELECT") { // a transaction changes rows of one node
						s.both(t, sql, "")
					}
				}
				s.everywhere(t, around[1])
			}
		}
		for _, back := range []string{"SET timestamp = DEFAULT", "SET timestamp = 0"} {
			s.everywhere(t, "SET timestamp = 1577934245")
			s.everywhere(t, back)
			for _, sql := range []string{"SELECT YEAR(NOW()) > 2023", "SELECT MIN(YEAR(NOW()) > 2023) FROM users GROUP BY n", "SELECT COUNT(*) FROM users WHERE YEAR(NOW()) > 2023"} {
				s.both(t, sql, "")
			}
		}
	})
}

// What a SET has given one connection for its next statements does not silently miss those on others.
func TestHeldValuesAreNotMissed(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for set, statements := range map[string][]string{
			"SET rand_seed1 = 5, rand_seed2 = 6": {"SELECT id, RAND() FROM users", "SELECT id FROM users ORDER BY RAND() LIMIT 2"},
			"SET insert_id = 5":                  {"INSERT INTO users (id, n) VALUES (911, 1), (912, 2), (913, 3), (914, 4)"},
		} {
			c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			must(t, c, set)
			for _, sql := range statements {
				fails(t, c, sql, 9004)
			}
			must(t, c, "SELECT COUNT(*) FROM users")
			c.Close()
		}
	})
}

// Character sets that only new databases and files follow are the session's, after USE and on every connection, and nobody else's.
func TestCharacterSetServerIsKept(t *testing.T) {
	onBoth(t, 3, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		makeDatabases(t, server, "charsets_a", "charsets_b")
		const ask = "SELECT @@character_set_server, @@collation_server, @@character_set_filesystem, @@character_set_database, @@collation_database, @@collation_connection"
		cases := 0
		for _, set := range []string{"SET character_set_server = latin1", "SET collation_server = latin1_german1_ci", "SET SESSION character_set_server = 'utf8mb4'", "SET character_set_server = DEFAULT",
			"SET collation_server = DEFAULT", "SET character_set_filesystem = latin1", "SET character_set_filesystem = DEFAULT", "SET character_set_database = latin1", "SET collation_database = latin1_bin",
			"SET character_set_connection = latin1", "SET NAMES latin1", "SET character_set_server = koi8r, character_set_filesystem = utf8mb4"} {
			for _, after := range []string{"DO 0", "USE charsets_b", "BEGIN", "CREATE DATABASE charsets_made"} {
				other := dial(t, addr, accept())
				before := fmt.Sprint(must(t, other, ask).Rows)
				var answers [2]string
				for k, at := range []string{server.Addr, addr} {
					c := dial(t, at, mysqltest.ClientConfig{User: "root", Password: "root", DB: "charsets_a"})
					must(t, c, "DROP DATABASE IF EXISTS charsets_made")
					must(t, c, set)
					held := dial(t, addr, accept())
					must(t, held, "BEGIN")
					must(t, held, "SELECT * FROM information_schema.schemata LIMIT 1") // the connection that was used last is taken
					must(t, c, after)
					answers[k] = fmt.Sprint(must(t, c, ask).Rows)
					if strings.HasPrefix(after, "CREATE") {
						answers[k] += fmt.Sprint(must(t, c, "SHOW CREATE DATABASE charsets_made").Rows)
					}
					c.Close()
					held.Close()
				}
				if answers[0] != answers[1] {
					t.Errorf("%s, %s: a connection of its own has %s, the proxy's client %s", set, after, answers[0], answers[1])
				}
				if now := fmt.Sprint(must(t, other, ask).Rows); now != before {
					t.Errorf("%s, %s: another client has %s, and had %s", set, after, now, before)
				}
				other.Close()
				cases++
			}
		}
		if cases < 40 {
			t.Errorf("%d cases", cases)
		}
	})
}

// A client's wait_timeout ends its session, not others'.
func TestWaitTimeoutOfTheSession(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		patient, c := dial(t, addr, accept()), dial(t, addr, accept())
		must(t, c, "SET SESSION wait_timeout = 1")
		must(t, c, "SELECT 1")
		mysqltest.WaitFor(t, "the end of the session", func() bool {
			r := must(t, patient, fmt.Sprintf("SHOW KS SESSIONS WHERE id = %d", c.Greeting.ConnectionID))
			return len(r.Rows) == 0
		})
		if _, err := c.Query("SELECT 1"); err == nil {
			t.Error("the session goes on")
		}
		must(t, patient, "SELECT 1")
	})
}
