package session_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// withScratch is a configuration of onShards with a server as the schema's scratch node.
func (s *shards) withScratch(addr string) string {
	text := strings.Replace(s.config, "schema_list:", fmt.Sprintf("  - {name: apart, max_conns_limit: 16, user: root, password: root, master: %q}\nschema_list:", addr), 1)
	return strings.Replace(text, "    default: n0\n", "    default: n0\n    scratch: apart\n", 1)
}

// Statements whose rows are collected end on the scratch node, within transactions too, with the answers of one server.
func TestScratchNode(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		port := func(c *mysqltest.RawClient) string { return fmt.Sprint(must(t, c, "SELECT @@port").Rows[0][0]) }
		apart, nodes := port(s.oracle), []string{port(s.nodes[0]), port(s.nodes[1])}
		c := dial(t, startProxyText(t, s.withScratch("127.0.0.1:"+apart)), mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		ends := func(sql string) string { return fmt.Sprint(must(t, c, sql).Rows[0][0]) }
		there := []string{
			"SELECT @@port, GROUP_CONCAT(name) FROM users", "SELECT @@port, COUNT(DISTINCT a.id, b.id) FROM users a JOIN users b ON a.n = b.n",
			"SELECT DISTINCT @@port FROM users u JOIN countries c ON u.name > c.code JOIN users v ON v.id > u.id",
		}
		for _, sql := range there {
			if got := ends(sql); got != apart {
				t.Errorf("%s ends on port %s, not %s", sql, got, apart)
			}
			if steps := must(t, c, "EXPLAIN "+sql).Rows; !strings.Contains(fmt.Sprint(steps[len(steps)-1]), "apart") {
				t.Errorf("EXPLAIN %s: %v", sql, steps)
			}
		}
		for _, sql := range []string{
			"SELECT @@port, GROUP_CONCAT(name), GET_LOCK('ks', 0), RELEASE_LOCK('ks') FROM users",
			"SELECT @@port, GROUP_CONCAT(name) FROM users WHERE id = 3",
		} {
			if got := ends(sql); !slices.Contains(nodes, got) {
				t.Errorf("%s ends on port %s, not on one of %v", sql, got, nodes)
			}
		}
		asked := []string{
			"SELECT GROUP_CONCAT(name ORDER BY id), GROUP_CONCAT(d ORDER BY id), GROUP_CONCAT(HEX(b) ORDER BY id), GROUP_CONCAT(c ORDER BY id), GROUP_CONCAT(g ORDER BY id) FROM users",
			"SELECT a.id, b.id, c.name FROM users a JOIN users b ON a.n = b.id JOIN countries c ON c.code < b.name ORDER BY 1, 2, 3",
			"SELECT id, (SELECT COUNT(*) FROM order_items WHERE v = users.n) FROM users WHERE n IN (SELECT v FROM order_items) ORDER BY id",
			"WITH x AS (SELECT n, COUNT(*) AS k FROM users GROUP BY n) SELECT x.n, y.k FROM x JOIN x AS y ON x.n < y.n ORDER BY 1, 2",
			"SET @x = 3", "SELECT COUNT(DISTINCT a.id) + @x, @x := @x + 1 FROM users a JOIN users b ON a.n = b.n", "SELECT @x", "SELECT COUNT(DISTINCT n, name) FROM users INTO @y", "SELECT @y",
			"SELECT SQL_CALC_FOUND_ROWS a.id FROM users a JOIN users b ON a.n = b.n ORDER BY a.id, b.id LIMIT 2", "SELECT FOUND_ROWS()",
			"SELECT a.id FROM users a JOIN users b ON a.n = b.nosuch", "SELECT COUNT(DISTINCT a.n), 'a' + 1 FROM users a", "SHOW WARNINGS",
		}
		compare := func() {
			t.Helper()
			for _, sql := range asked {
				if got, want := said(t, c, sql), said(t, s.oracle, sql); got != want {
					t.Errorf("%s: %s, want %s", sql, got, want)
				}
			}
		}
		compare()
		for _, begin := range []string{"BEGIN", "SET autocommit = 0"} {
			for _, sql := range []string{begin, "UPDATE users SET n = n + 1 WHERE id = 4"} {
				must(t, c, sql)
				must(t, s.oracle, sql)
			}
			compare()
			if got := ends(there[0]); got != apart {
				t.Errorf("in a transaction it ends on port %s", got)
			}
			must(t, c, "ROLLBACK")
			must(t, s.oracle, "ROLLBACK")
			compare()
		}
		must(t, c, "SET autocommit = 1")
		must(t, s.oracle, "SET autocommit = 1")
		st, err := c.Prepare("SELECT @@port, GROUP_CONCAT(name) FROM users WHERE id > ?")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute("3"); err != nil || r.Err != nil || fmt.Sprint(r.Rows[0][0]) != apart {
			t.Errorf("prepared: %v, %+v", err, r)
		}
	})
}

// said is what a statement gives, as text.
func said(t *testing.T, c *mysqltest.RawClient, sql string) string {
	t.Helper()
	r, err := c.Query(sql)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", sql, err)
	case r.Err != nil:
		return r.Err.Error()
	}
	return fmt.Sprint(r.Rows)
}

// A scratch node that is not there, or has not the database, has statements end where they would without it.
func TestScratchNodeMissing(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		const sql = "SELECT @@port, GROUP_CONCAT(name ORDER BY id) FROM users"
		want := fmt.Sprint(must(t, s.oracle, "SELECT GROUP_CONCAT(name ORDER BY id) FROM users").Rows[0][0])
		served := func(c *mysqltest.RawClient, on *mysqltest.RawClient) bool {
			r, err := c.Query(sql)
			return err == nil && r.Err == nil && fmt.Sprint(r.Rows[0]) == fmt.Sprintf("[%v %s]", must(t, on, "SELECT @@port").Rows[0][0], want)
		}
		login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
		nobody, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		nobody.Close()
		c := dial(t, startProxyText(t, s.withScratch(nobody.Addr().String())), login)
		if !served(c, s.nodes[0]) {
			t.Error("no answer without the scratch node")
		}
		c = dial(t, startProxyText(t, s.withScratch(fmt.Sprint("127.0.0.1:", must(t, s.oracle, "SELECT @@port").Rows[0][0]))), login)
		if !served(c, s.oracle) {
			t.Error("not on the scratch node")
		}
		must(t, s.oracle, "DROP DATABASE shop")
		mysqltest.WaitFor(t, "an answer without the database on the scratch node", func() bool { return served(c, s.nodes[0]) })
	})
}
