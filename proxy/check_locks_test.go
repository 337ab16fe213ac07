package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// `kingshard check -servers` names the rights without which nobody tells the proxy which changes of several nodes wait for each other.
func TestCheckTellsOfHiddenLocks(t *testing.T) {
	binary := buildBinary(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, rootClient())
		for _, sql := range []string{"DROP USER IF EXISTS few", "CREATE USER few IDENTIFIED BY 'few'", "GRANT ALL ON " + database + ".* TO few"} {
			must(t, direct, sql)
		}
		t.Cleanup(func() { must(t, direct, "DROP USER few") })
		check := func(nodes string) string {
			file := filepath.Join(t.TempDir(), "ks.yaml")
			text := strings.ReplaceAll(`
addr: 127.0.0.1:9696
user_list: [{user: few, password: few}]
nodes:
- {name: a, user: few, password: few, allow_public_key_retrieval: true, master: "ADDR"}
- {name: b, user: few, password: few, allow_public_key_retrieval: true, master: "ADDR"}
schema_list:
- {user: few, nodes: [a, b], default: a, shard: [{db: `+database+`, table: users, key: id, type: hash, nodes: NODES}]}
`, "ADDR", server.Addr)
			if err := os.WriteFile(file, []byte(strings.Replace(text, "NODES", nodes, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, _ := exec.Command(binary, "check", "-servers", file).CombinedOutput()
			return string(out)
		}
		const two, one = "[a, b], locations: [1, 1]", "[a], locations: [2]"
		lacks := func(out, what string) bool {
			return strings.Contains(out, "few lacks "+what+": UPDATE and DELETE with LIMIT")
		}
		isMariaDB := server.Kind == mysqltest.MariaDB
		all := "PROCESS" // the servers of the tests have no performance_schema
		if !isMariaDB {
			all = "performance_schema = ON, PROCESS, SELECT on performance_schema.data_lock_waits"
		}
		if out := check(two); !lacks(out, all) {
			t.Errorf("%s\nlacks no %s", out, all)
		}
		if out := check(one); strings.Contains(out, "PROCESS") {
			t.Errorf("of one node: %s", out)
		}
		must(t, direct, "GRANT PROCESS ON *.* TO few")
		if out := check(two); lacks(out, "performance_schema = ON, SELECT on performance_schema.data_lock_waits") == isMariaDB || strings.Contains(out, "PROCESS") {
			t.Errorf("with PROCESS: %s", out)
		}
		if isMariaDB {
			return
		}
		must(t, direct, "GRANT SELECT ON performance_schema.data_lock_waits TO few")
		if out := check(two); strings.Contains(out, "data_lock_waits") || !lacks(out, "performance_schema = ON") {
			t.Errorf("with both: %s", out)
		}
	})
}
