package proxy_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A statement that was prepared on a table with a rule is refused once a reload has taken the user's rules away, and the session goes on; so
// are those of a schema of which other rules are left. The loops ask for its plan, too.
func TestRulesGoneByReload(t *testing.T) {
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	direct := dial(t, server.Addr, rootClient())
	must(t, direct, "DROP DATABASE IF EXISTS "+database)
	must(t, direct, "CREATE DATABASE "+database)
	must(t, direct, "CREATE TABLE "+database+".gone_0000 (id INT PRIMARY KEY)")
	must(t, direct, "CREATE TABLE "+database+".gone_0001 (id INT PRIMARY KEY)")
	must(t, direct, "CREATE TABLE "+database+".stays_0000 (id INT PRIMARY KEY)")
	rule := func(table string, locations string) string {
		return "{db: " + database + ", table: " + table + ", key: id, type: hash, nodes: [n], locations: [" + locations + "]}"
	}
	plain := oneNode(server.Addr, 4)
	schema := "  - {user: root, nodes: [n], default: n}"
	ruled := func(rules ...string) string {
		return strings.Replace(plain, schema, "  - {user: root, nodes: [n], default: n, shard: ["+strings.Join(rules, ", ")+"]}", 1)
	}
	for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
		for _, left := range []string{plain, ruled(rule("stays", "1"))} {
			p := startProxy(t, ruled(rule("gone", "2"), rule("stays", "1"))+lane+"\n")
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			must(t, c, "DELETE FROM gone")
			st, err := c.Prepare("SELECT id FROM gone WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				if r, err := st.Execute(k); err != nil || r.Err != nil {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			p.reload(left + lane + "\n")
			for k := range 3 {
				if r, err := st.Execute(k); err != nil || r.Err == nil || !strings.Contains(r.Err.Message, "prepare it again") {
					t.Errorf("%s: %+v, %v", lane, r, err)
				}
			}
			must(t, c, "SELECT 1")
		}
	}
}
