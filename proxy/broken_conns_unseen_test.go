package proxy_test

import (
	"testing"

	"kingshard/mysql/mysqltest"
)

// A connection that breaks while the proxy asks what a statement has set unseen takes its session with it: what comes next would run
// outside of the client's transaction, and under variables that nobody knows.
func TestBrokenBehindWhatIsSetUnseen(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE learnt (id INT PRIMARY KEY)")
		for _, mark := range []string{"@@session.sql_mode", "@@session.timestamp"} {
			for _, how := range []string{closedUnread, closedLost, closedCarried, resetCarried} {
				b := startBreaker(t, server.Addr)
				p := startProxy(t, configText([]node{{name: "n", master: b.addr, conns: 4}}, "fast_lane: true"), "health_interval: 1h")
				c := p.client(database)
				for _, sql := range []string{"PREPARE s FROM 'SET time_zone = ''+05:00'''", "BEGIN", "INSERT INTO learnt VALUES (1)"} {
					must(t, c, sql)
				}
				b.set(how, mark)
				must(t, c, "EXECUTE s")
				if r, err := c.Query("INSERT INTO learnt VALUES (2)"); err == nil && r.Err == nil {
					t.Errorf("%s, %s: the transaction goes on", mark, how)
				}
				if !b.hasActed() {
					t.Errorf("%s, %s: nothing broke", mark, how)
				}
				if r, err := c.Query("COMMIT"); err == nil && r.Err == nil {
					t.Errorf("%s, %s: COMMIT has an OK", mark, how)
				}
				c.Close()
				if got := value(t, direct, "SELECT COUNT(*) FROM learnt"); got != "0" {
					t.Errorf("%s, %s: %s rows", mark, how, got)
				}
				must(t, direct, "DELETE FROM learnt")
			}
		}
	})
}
