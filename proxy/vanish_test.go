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

// The error of a connection that breaks under a statement names the node, of a statement on several nodes that whose connection broke.
func TestLostConnectionNamesItsNode(t *testing.T) {
	servers := map[string]*mysqltest.ScriptServer{}
	for _, name := range []string{"steady", "shaky"} {
		good := answers(name)
		servers[name] = mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			switch text := string(payload); {
			case !strings.Contains(text, "COUNT(*)"):
				good(c, cmd, payload)
			case name == "shaky":
				c.Cut()
			default:
				c.Rows([]string{"COUNT(*)"}, []any{1})
			}
		}})
	}
	p := startProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: root, password: root}]
nodes: [{name: n1, user: root, password: root, master: "%s"}, {name: n2, user: root, password: root, master: "%s"}]
schema_list:
  - {user: root, nodes: [n1, n2], default: n1, shard: [{db: d, table: t, key: id, nodes: [n1, n2], type: hash, locations: [1, 1]}]}
`, servers["steady"].Addr, servers["shaky"].Addr))
	c := p.client("")
	for _, text := range []string{"/*n2*/ SELECT COUNT(*) FROM other", "SELECT COUNT(*) FROM d.t"} {
		e := fails(t, c, text, 9003)
		if !strings.Contains(e.Message, "node n2 broke") {
			t.Errorf("%s: %v", text, e)
		}
		if got := value(t, c, "SELECT name"); got != "steady" {
			t.Errorf("after %s: %s", text, got)
		}
	}
}
