package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// A query that a rule sends to replicas is read there, and finished there, though they take no changes; not within a transaction.
func TestFinishOnReplicas(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			text := strings.ReplaceAll(wholeConfig(r.servers[0].Addr, r.servers[1].Addr), "user: root, password: root", "user: looker, password: looker")
			readOnly := "SET GLOBAL super_read_only = 1"
			for k, primary := range r.servers {
				c := dial(t, primary.Addr, rootClient())
				must(t, c, "CREATE USER looker IDENTIFIED BY 'looker'")
				must(t, c, "GRANT ALL ON *.* TO looker")
				if kind == mysqltest.MariaDB {
					must(t, c, "REVOKE SUPER, READ ONLY ADMIN ON *.* FROM looker")
					readOnly = "SET GLOBAL read_only = 1"
				}
				replica := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: primary, ServerID: 11 + k})
				if err := replica.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				must(t, dial(t, replica.Addr, rootClient()), readOnly)
				text = strings.Replace(text, `master: "`+primary.Addr+`"`, fmt.Sprintf(`master: "%s", slave: "%s", max_replica_lag: 0, roles: fixed`, primary.Addr, replica.Addr), 1)
			}
			p := startProxy(t, text+"query_rules: [{name: r, pattern: 'reported', route: replica}]\n")
			c := dial(t, p.addr, wholeClientConfig())
			must(t, c, "INSERT INTO t VALUES (1, 7, 3), (2, 7, 4), (3, 8, 4)")
			must(t, c, "INSERT INTO r VALUES (7, 5)")
			where := func(sql string) string {
				return value(t, c, strings.Replace(sql, "SELECT", "SELECT @@server_id > 10,", 1))
			}
			for sql, want := range map[string]string{
				"SELECT GROUP_CONCAT(v ORDER BY id) AS reported FROM t WHERE id > 0":                                                 "3,4,4",
				"SELECT COUNT(DISTINCT a.id, b.id) AS reported FROM t AS a JOIN t AS b ON a.v = b.v WHERE a.id > 0 AND b.id > 0":     "5",
				"SELECT SUM(a.id) AS reported FROM t AS a JOIN r ON r.client = a.client JOIN t AS b ON b.v = a.v - 1 WHERE a.id > 0": "2",
				"SELECT client, COUNT(*) AS reported FROM t WHERE client > 0 GROUP BY client HAVING COUNT(*) > 1":                    "7,2",
			} {
				mysqltest.WaitFor(t, sql, func() bool { return where(sql) == "1,"+want })
				primary := strings.Replace(sql, "AS reported", "AS counted", 1)
				if got := where(primary); got != "0,"+want {
					t.Errorf("%s: %s, not on a primary", primary, got)
				}
				must(t, c, "BEGIN")
				if got := where(sql); got != "0,"+want {
					t.Errorf("in a transaction, %s: %s", sql, got)
				}
				must(t, c, "ROLLBACK")
			}
			if r := must(t, c, "SHOW WARNINGS"); len(r.Rows) > 0 {
				t.Errorf("warnings: %v", r.Rows)
			}
		})
	}
}
