package session_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A server that finishes a statement has a limit of its own for that, a moment behind the proxy's, unless the client's is less; and none, or the client's,
// behind it.
func TestFinishHasTheServersOwnLimit(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		variable, unit := "max_statement_time", 1.0
		if !strings.Contains(fmt.Sprint(must(t, s.subject, "SELECT VERSION()").Rows), "MariaDB") {
			variable, unit = "max_execution_time", 1000
		}
		addr := s.restarted(t, "finish_timeout: 100s")
		login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
		while := func(c *mysqltest.RawClient, sql string) float64 {
			t.Helper()
			n, err := strconv.ParseFloat(fmt.Sprint(must(t, c, sql).Rows[0][0]), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n / unit
		}
		one, joined := "SELECT @@"+variable+", GROUP_CONCAT(name) FROM users", "SELECT MAX(@@"+variable+"), COUNT(DISTINCT a.id, b.n) FROM users a JOIN users b ON a.n = b.id"
		for _, own := range []float64{0, 3, 1000} {
			c := dial(t, addr, login)
			if own > 0 {
				must(t, c, fmt.Sprintf("SET %s = %.0f", variable, own*unit))
			}
			for _, sql := range []string{one, joined} {
				got := while(c, sql)
				if own == 3 && got != 3 || own != 3 && (got < 90 || got > 101) {
					t.Errorf("%s = %v: during %s it is %v", variable, own, sql, got)
				}
				if behind := while(c, "SELECT @@"+variable); behind != own {
					t.Errorf("%s = %v: behind %s it is %v", variable, own, sql, behind)
				}
			}
			st, err := c.Prepare(one + " WHERE id > ?")
			if err != nil {
				t.Fatal(err)
			}
			if r, err := st.Execute("3"); err != nil || r.Err != nil {
				t.Fatal(err, r)
			} else if got, _ := strconv.ParseFloat(fmt.Sprint(r.Rows[0][0]), 64); own == 3 && got/unit != 3 || own != 3 && got/unit < 90 {
				t.Errorf("%s = %v: during an execution it is %v", variable, own, got)
			}
			// The connections go to others.
			for range 4 {
				if other := while(dial(t, addr, login), "SELECT @@"+variable+" FROM users WHERE id = "+fmt.Sprint(4)); other != 0 {
					t.Errorf("%s = %v: another client has %v", variable, own, other)
				}
			}
			fails(t, c, "SELECT (SELECT 1 UNION SELECT 2), GROUP_CONCAT(name) FROM users", 1242)
			if behind := while(c, "SELECT @@"+variable); behind != own {
				t.Errorf("%s = %v: behind an error it is %v", variable, own, behind)
			}
		}
		isolation := "tx_isolation"
		if unit > 1 {
			isolation = "transaction_isolation"
		}
		for own, during := range map[string]string{"": "READ-COMMITTED", "SERIALIZABLE": "READ-COMMITTED", "READ UNCOMMITTED": "READ-UNCOMMITTED", "READ COMMITTED": "READ-COMMITTED"} {
			c := dial(t, addr, login)
			behind := "REPEATABLE-READ"
			if own != "" {
				must(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL "+own)
				behind = strings.ReplaceAll(own, " ", "-")
			}
			for range 2 {
				if got := must(t, c, "SELECT @@"+isolation+", GROUP_CONCAT(name) FROM users").Rows[0][0]; got != during {
					t.Errorf("of %s: during a finish it is %v", own, got)
				}
				for _, id := range []int{4, 5, 6, 7} {
					if got := must(t, c, fmt.Sprint("SELECT @@", isolation, " FROM users WHERE id = ", id)).Rows[0][0]; got != behind {
						t.Errorf("of %s: behind it %v", own, got)
					}
				}
			}
			if got := must(t, c, "SELECT @@"+isolation+", GROUP_CONCAT(name) FROM users FOR UPDATE").Rows[0][0]; got != behind {
				t.Errorf("of %s: with locks it is %v", own, got)
			}
		}
		for _, timeout := range []string{"finish_timeout: 300ms", "query_rules: [{name: short, tables: [users], timeout: 300ms}]"} {
			c := dial(t, s.restarted(t, timeout), login)
			fails(t, c, "SELECT SLEEP(100), x.n FROM (SELECT n, GROUP_CONCAT(name) FROM users GROUP BY n) x", mysql.ERQueryTimeout)
			must(t, c, joined)
		}
		if got := while(dial(t, s.restarted(t, "finish_timeout: 0s"), login), one); got != 0 {
			t.Errorf("without finish_timeout it is %v", got)
		}
	})
}
