package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A client that vanishes while a statement of its transaction waits for a lock keeps nothing from others: not for as long as the
// server would let the statement wait.
func TestClientVanishesInAStatement(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startProxy(t, oneNode(server.Addr, 4))
		holder, other := p.client(database), p.client(database)
		must(t, holder, "CREATE TABLE locked (id INT PRIMARY KEY, n INT)")
		must(t, holder, "INSERT INTO locked VALUES (1, 0), (2, 0)")
		must(t, holder, "BEGIN")
		must(t, holder, "UPDATE locked SET n = 1 WHERE id = 1")
		victim := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, victim, "BEGIN")
		must(t, victim, "UPDATE locked SET n = 2 WHERE id = 2")
		if err := victim.Send(mysql.ComQuery, "UPDATE locked SET n = 2 WHERE id = 1"); err != nil {
			t.Fatal(err)
		}
		mysqltest.WaitFor(t, "the victim to wait", func() bool {
			return strings.Contains(fmt.Sprint(must(t, other, "SHOW PROCESSLIST").Rows), "SET n = 2 WHERE id = 1")
		})
		_ = victim.Conn.Close()
		must(t, other, "SET innodb_lock_wait_timeout = 20")
		must(t, other, "UPDATE locked SET n = 3 WHERE id = 2")
		must(t, holder, "COMMIT")
		if got := fmt.Sprint(must(t, other, "SELECT n FROM locked ORDER BY id").Rows); got != "[[1] [3]]" {
			t.Errorf("rows %s", got)
		}
	})
}
