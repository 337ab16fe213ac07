package session_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// killedIDs are expressions of ids that no session has, and texts that are no KILL.
var killedIDs = []string{
	"@v", "1 + 99999999", "'x'", "NULL", "'99999999'", "99999999.4", "99999999.5", "1e9", "0x7fffffff", "IF(1, 99999999, 5)", "ABS(-99999999)", "(99999999)", "COALESCE(NULL, @v)", "@v DIV 1", "- -99999999", "CAST('99999999' AS SIGNED)", "99999999 -- c", "99999999;", "/* c */ @v /* d */",
	"DEFAULT", "5, 6", "(5, 6", "5) + (6", "", "5 6", "1 +", "SELECT 5", "5 FROM u",
}

var serverName = regexp.MustCompile(`(MariaDB|MySQL) server version`)

// TestKillExpressions: KILL takes expressions of literals, variables and CONNECTION_ID(), as text and prepared, with the errors of one server.
func TestKillExpressions(t *testing.T) {
	onBoth(t, 4, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		one, c := dial(t, server.Addr, accept()), dial(t, addr, accept())
		for _, x := range []*mysqltest.RawClient{one, c} {
			must(t, x, "SET @v = 99999999")
		}
		for _, held := range []bool{false, true} {
			if held {
				must(t, c, "SELECT @w := 99999999") // a value that its connection alone knows
				must(t, one, "SELECT @w := 99999999")
			}
			for _, kill := range []string{"KILL ", "KILL QUERY ", "KILL CONNECTION "} {
				for _, id := range append([]string{"@v + @w"}, killedIDs...) {
					sql := kill + id
					want, err := one.Query(sql)
					if err != nil {
						t.Fatal(err)
					}
					got, err := c.Query(sql)
					if err != nil {
						t.Fatal(sql, err)
					}
					if w, g := metadataShown(want), metadataShown(got); w != g && !(got.Err != nil && got.Err.Code == 9006 && serverName.MatchString(w)) {
						t.Errorf("%s: %s instead of %s", sql, g, w)
					}
					ws, werr := one.Prepare(sql)
					gs, gerr := c.Prepare(sql)
					if werr != nil || gerr != nil {
						if werr == nil || gerr == nil {
							t.Errorf("prepare %s: %v instead of %v", sql, gerr, werr)
						}
						continue
					}
					if want, err = ws.Execute(); err != nil {
						t.Fatal(err)
					}
					if got, err = gs.Execute(); err != nil {
						t.Fatal(err)
					}
					if w, g := metadataShown(want), metadataShown(got); w != g {
						t.Errorf("execute %s: %s instead of %s", sql, g, w)
					}
				}
			}
		}
		for _, sql := range []string{"KILL QUERY CONNECTION_ID()", "KILL QUERY @@pseudo_thread_id"} {
			fails(t, c, sql, 1317)
		}
		// Sessions that there are.
		kills := 0
		for _, prepared := range []bool{false, true} {
			for _, form := range []string{"KILL @id", "KILL %d + 0", "KILL ?", "KILL '%d'", "KILL (SELECT %d)"} {
				victim := dial(t, addr, accept())
				id := int(victim.Greeting.ConnectionID)
				must(t, c, fmt.Sprintf("SET @id = %d", id))
				sql := form
				if form != "KILL ?" && form != "KILL @id" {
					sql = fmt.Sprintf(form, id)
				}
				if form == "KILL ?" && prepared && strings.HasSuffix(t.Name(), "mysql9") {
					if _, err := c.Prepare(sql); err == nil || !strings.Contains(err.Error(), "6413") {
						t.Error(err) // the server takes parameters in DML only
					}
					continue
				}
				if form == "KILL (SELECT %d)" {
					fails(t, c, sql, 9006)
					must(t, victim, "SELECT 1")
					continue
				}
				if !prepared {
					if form == "KILL ?" {
						continue
					}
					must(t, c, sql)
				} else {
					st, err := c.Prepare(sql)
					if err != nil {
						t.Fatal(sql, err)
					}
					var args []any
					if form == "KILL ?" {
						args = []any{id}
					}
					if r, err := st.Execute(args...); err != nil || r.Err != nil {
						t.Fatal(sql, err, r)
					}
				}
				if _, err := victim.Query("SELECT 1"); err == nil {
					t.Errorf("%s: the session goes on", sql)
				}
				kills++
			}
		}
		if kills < 6 {
			t.Error(kills, "kills")
		}
	})
}

// TestKillLeaves: a KILL of an expression, which a server computes, leaves what a client has under way: a BEGIN goes to the node of the statement
// behind it, SET TRANSACTION is for that, too, and FOUND_ROWS() is what it was.
func TestKillLeaves(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		cases := 0
		for _, before := range []string{"DO 0", "SET @a := (SELECT 5)"} {
			for id := 1; id <= 4; id++ {
				for _, way := range []string{
					"BEGIN; %; UPDATE users SET n = 77 WHERE id = #; %; SELECT n FROM users WHERE id = #; ROLLBACK; SELECT n FROM users WHERE id = #",
					"SET TRANSACTION READ ONLY; %; UPDATE users SET n = 77 WHERE id = #; UPDATE users SET n = n + 1; ROLLBACK", "SET TRANSACTION READ ONLY; %; BEGIN; SELECT n FROM users WHERE id = #; %; UPDATE users SET n = 5 WHERE id = #; COMMIT",
					"SELECT id FROM users WHERE id = #; %; SELECT FOUND_ROWS()", "BEGIN; SELECT SQL_CALC_FOUND_ROWS id FROM users WHERE id = # LIMIT 0; %; SELECT FOUND_ROWS(); %; SELECT FOUND_ROWS(); COMMIT",
					"SET @x = (SELECT COUNT(*) FROM countries); %; DELETE FROM countries WHERE code = 'xx'; SELECT FOUND_ROWS()", "BEGIN; SELECT id FROM users WHERE id = #; %; SHOW WARNINGS; COMMIT",
				} {
					clients := s.clients(t)
					for _, sql := range strings.Split(before+"; "+strings.NewReplacer("%", "KILL QUERY @kv + 99999999", "#", fmt.Sprint(id)).Replace(way), "; ") {
						want, got := shownBy(t, clients[0], sql, false), shownBy(t, clients[1], sql, false)
						if strings.Contains(got, "9004") && (before != "DO 0" || strings.HasPrefix(way, "SET TRANS")) || strings.Contains(got, "9012") || strings.Contains(got, "9006") {
							break
						}
						if want != got {
							t.Errorf("%s; %s, row %d\n%s:\n got %s\nwant %s", before, way, id, sql, got, want)
						}
						cases++
					}
					for _, c := range clients {
						c.Close()
					}
				}
			}
		}
		if cases < 200 {
			t.Errorf("only %d statements", cases)
		}
	})
}
