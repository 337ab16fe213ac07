package session_test

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A statement is finished on the node that has most of its sub-tables, of several on the least busy one; a session's own connection, and what only one node may have,
// leave it on the first.
func TestFinishChoosesItsNode(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		ports := [2]string{}
		for k, node := range s.nodes {
			ports[k] = fmt.Sprint(must(t, node, "SELECT @@port").Rows[0][0])
		}
		login := mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"}
		addr := s.restarted(t)
		c := dial(t, addr, login)
		ends := func(sql string, on int) {
			t.Helper()
			if got := fmt.Sprint(must(t, c, sql).Rows[0][0]); got != ports[on] {
				t.Errorf("%s ends on port %s, want that of n%d, %s", sql, got, on, ports[on])
			}
		}
		whole := []string{
			"SELECT @@port, GROUP_CONCAT(name) FROM users", "SELECT @@port, COUNT(DISTINCT a.id, b.id) FROM users a JOIN users b ON a.n = b.n",
			"SELECT MAX(@@port), n FROM users GROUP BY n HAVING COUNT(*) > 1 ORDER BY n",
		}
		for _, sql := range whole {
			ends(sql, 0)
			ends(sql, 0)
		}
		on := [2]int{1, 0} // a key on each node, as one node has
		for k := range on {
			for id := 1; id <= 40; id++ {
				if r := must(t, s.nodes[k], "SELECT table_name FROM information_schema.tables WHERE table_schema = 'shop' AND table_name LIKE 'users%' ORDER BY 1 LIMIT 1"); len(must(t, s.nodes[k], fmt.Sprintf("SELECT 1 FROM %v WHERE id = %d", r.Rows[0][0], id)).Rows) > 0 {
					on[k] = id
					break
				}
			}
		}
		holders := []*mysqltest.RawClient{dial(t, addr, login), dial(t, addr, login)}
		for _, h := range holders {
			must(t, h, "BEGIN")
			must(t, h, fmt.Sprint("SELECT name FROM users WHERE id = ", on[0]))
		}
		for _, sql := range whole {
			ends(sql, 1)
		}
		st, err := c.Prepare("SELECT @@port, GROUP_CONCAT(name) FROM users WHERE id > ?")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute("0"); err != nil || r.Err != nil || fmt.Sprint(r.Rows[0][0]) != ports[1] {
			t.Errorf("prepared: %v %+v", err, r)
		}
		ends("SELECT @@port, GROUP_CONCAT(name), GET_LOCK('ks', 0), RELEASE_LOCK('ks') FROM users", 0)
		for _, sql := range []string{
			"SELECT GROUP_CONCAT(name ORDER BY id), GROUP_CONCAT(d ORDER BY id), GROUP_CONCAT(HEX(b) ORDER BY id) FROM users",
			"SELECT a.id, b.id, c.name FROM users a JOIN users b ON a.n = b.id JOIN countries c ON c.code > b.name ORDER BY 1, 2, 3",
			"SELECT n, COUNT(*), MAX(f) FROM users GROUP BY n HAVING COUNT(*) > 1 ORDER BY n",
		} {
			if got, want := must(t, c, sql).Rows, must(t, s.oracle, sql).Rows; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v, want %v", sql, got, want)
			}
		}
		must(t, c, "BEGIN")
		must(t, c, fmt.Sprint("SELECT name FROM users WHERE id = ", on[1]))
		ends(whole[0], 0)
		must(t, c, "COMMIT")
		for _, h := range holders {
			must(t, h, "COMMIT")
		}
		mysqltest.WaitFor(t, "the connections to be given back", func() bool { return fmt.Sprint(must(t, c, whole[0]).Rows[0][0]) == ports[0] })
	})
}
