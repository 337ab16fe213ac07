package proxy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// `kingshard check -servers` says what a scratch node lacks for statements to end there.
func TestCheckScratch(t *testing.T) {
	binary := buildBinary(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, rootClient())
		for _, sql := range []string{"DROP USER IF EXISTS ends", "DROP DATABASE IF EXISTS elsewhere", "CREATE USER ends IDENTIFIED BY 'ends'", "GRANT ALL ON " + database + ".* TO ends"} {
			must(t, direct, sql)
		}
		t.Cleanup(func() { must(t, direct, "DROP USER ends"); must(t, direct, "DROP DATABASE IF EXISTS elsewhere") })
		check := func() string {
			file := filepath.Join(t.TempDir(), "ks.yaml")
			text := strings.ReplaceAll(`
addr: 127.0.0.1:9696
user_list: [{user: ends, password: ends}]
nodes:
- {name: a, user: ends, password: ends, allow_public_key_retrieval: true, master: "ADDR"}
- {name: apart, user: ends, password: ends, allow_public_key_retrieval: true, master: "ADDR"}
schema_list:
- user: ends
  nodes: [a]
  default: a
  scratch: apart
  shard:
  - {db: `+database+`, table: users, key: id, type: hash, nodes: [a], locations: [2]}
  - {db: elsewhere, table: orders, key: id, type: hash, nodes: [a], locations: [2], sub_db: `+database+`}
`, "ADDR", server.Addr)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, _ := exec.Command(binary, "check", "-servers", file).CombinedOutput()
			return string(out)
		}
		const node = " of node apart: "
		if out := check(); !strings.Contains(out, node+"ends lacks CREATE TEMPORARY TABLES on elsewhere") || strings.Contains(out, "TABLES on "+database) {
			t.Errorf("without the right: %s", out)
		}
		must(t, direct, "GRANT SELECT, CREATE TEMPORARY TABLES ON elsewhere.* TO ends")
		if out := check(); !strings.Contains(out, node+"the database elsewhere is not there") {
			t.Errorf("without the database: %s", out)
		}
		must(t, direct, "CREATE DATABASE elsewhere")
		if out := check(); strings.Contains(out, node+"ends lacks") || strings.Contains(out, node+"the database") {
			t.Errorf("with both: %s", out)
		}
	})
}
