package proxy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Threat 36: with the rights that docs/sharding.md asks for, and no others, sharded tables can be used, and kingshard check -servers is
// content; it names what is missing and what is too much.
func TestLeastGrants(t *testing.T) {
	binary := buildBinary(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, rootClient())
		for _, text := range []string{
			"DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "CREATE TABLE shop.orders_0000 (id INT PRIMARY KEY, a INT)", "CREATE TABLE shop.orders_0001 (id INT PRIMARY KEY, a INT)",
			"DROP USER IF EXISTS least", "CREATE USER least IDENTIFIED BY 'least-password'",
		} {
			must(t, direct, text)
		}
		defer must(t, direct, "DROP DATABASE shop")
		text := strings.ReplaceAll(shopText(server.Addr, server.Addr), "user: root, password: root, master", "user: least, password: least-password, master")
		text = strings.Replace(text, `slave: ""`, fmt.Sprintf(`slave: "%s", max_replica_lag: 5s`, server.Addr), 1)
		file := filepath.Join(t.TempDir(), "ks.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		check := func(wantCode int, wants ...string) {
			t.Helper()
			cmd := exec.Command(binary, "check", "-servers", file)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != wantCode || len(wants) == 0 && strings.Count(string(out), "\n") != 1+strings.Count(string(out), ": recommendation: ")+strings.Count(string(out), "least lacks performance_schema = ON: ")+
				strings.Count(string(out), " transactions over several nodes") {
				t.Errorf("exit status %d:\n%s", code, out)
			}
			for _, want := range wants {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		}
		lag := "REPLICATION CLIENT"
		if server.Kind == mysqltest.MariaDB {
			lag = "REPLICA MONITOR"
		}
		check(1, "primary "+server.Addr+" of node b: least lacks SELECT, INSERT, UPDATE, DELETE, CREATE TEMPORARY TABLES on shop",
			"replica "+server.Addr+" of node a: least lacks SELECT on shop", "least lacks "+lag+" for max_replica_lag")
		must(t, direct, "GRANT "+lag+" ON *.* TO least")
		must(t, direct, "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE TEMPORARY TABLES ON shop.* TO least")
		check(0, "warning: least lacks TRIGGER on shop", "warning: least lacks SHOW_ROUTINE, in MariaDB SELECT on mysql.proc")
		must(t, direct, "GRANT TRIGGER, SHOW VIEW ON shop.* TO least")
		if server.Kind == mysqltest.MariaDB {
			must(t, direct, "GRANT SELECT ON mysql.proc TO least")
		} else {
			must(t, direct, "GRANT SHOW_ROUTINE ON *.* TO least")
			must(t, direct, "GRANT SELECT ON performance_schema.data_lock_waits TO least")
		}
		must(t, direct, "GRANT PROCESS ON *.* TO least")
		check(0, "warning: least cannot write ks_meta.epoch (", "warning: least cannot write ks_meta.heartbeat (")
		must(t, direct, "GRANT CREATE, SELECT, INSERT, UPDATE ON ks_meta.* TO least")
		check(0)
		c := startProxy(t, text).client("")
		for _, statement := range []string{
			"INSERT INTO shop.orders VALUES (1, 1), (2, 1), (3, 2)", "UPDATE shop.orders SET a = a + 1", "DELETE FROM shop.orders WHERE id = 3",
			"SELECT a, COUNT(*) FROM shop.orders GROUP BY a", "SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM shop.orders",
			"SELECT x.id FROM shop.orders x JOIN shop.orders y ON x.a = y.a WHERE x.id <> y.id",
		} {
			must(t, c, statement)
		}
		must(t, direct, "GRANT SUPER, FILE ON *.* TO least WITH GRANT OPTION")
		check(0, "warning: least has rights that a proxy needs for nothing: SUPER, FILE, GRANT OPTION")
		must(t, direct, "ALTER USER least IDENTIFIED BY 'another'")
		check(1, "Access denied for user 'least'")
	})
}
