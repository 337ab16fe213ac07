package proxy_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// referenced are nodes, the first of which is n, with a copy of a table on each.
func referenced(nodes ...node) string {
	return strings.Replace(configText(nodes, "max_login_delay: 0s"), "default: n}\n", "default: n, shard: [{db: shop, table: r, type: reference}]}\n", 1)
}

// A rule has no physical table twice, by two nodes that are one server: the same address is refused everywhere, another one where the server is
// asked.
func TestTableOnNodesOfOneServer(t *testing.T) {
	if testing.Short() {
		t.Skip("servers of its own")
	}
	binary := buildBinary(t)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			like := mysqltest.ServerConfig{Kind: kind, ServerID: 1}
			first, second := startOwn(t, like), startOwn(t, like)
			_, port, _ := net.SplitHostPort(first.Addr)
			n, apart := node{name: "n", master: first.Addr, conns: 4}, node{name: "m", master: second.Addr, conns: 4}
			const refusal = "table shop.r: m/shop.r is the same table as n/shop.r, a shard of table shop.r: both nodes are one server"
			check := func(text string, args ...string) (code int, said string) {
				file := filepath.Join(t.TempDir(), "ks.yaml")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command(binary, append(args, file)...)
				out, _ := cmd.CombinedOutput()
				return cmd.ProcessState.ExitCode(), string(out)
			}
			p, operator, write := loaded(t, configText([]node{n}, "max_login_delay: 0s"))
			for _, addr := range []string{first.Addr, "localhost:" + port, first.Socket} {
				m := node{name: "m", master: addr, conns: 4}
				if code, said := check(referenced(n, m), "check", "-servers"); code != 1 || !strings.Contains(said, refusal) {
					t.Errorf("%s: check -servers gives %d, %s", addr, code, said)
				}
				if code, said := check(referenced(n, m), "check"); (code == 1) != (addr == first.Addr) || strings.Contains(said, refusal) != (addr == first.Addr) {
					t.Errorf("%s: check gives %d, %s", addr, code, said)
				}
				write(referenced(n, m))
				for _, text := range []string{"KS RELOAD", "KS RELOAD CHECK"} {
					said := ""
					r, err := operator.Query(text)
					if err != nil {
						t.Fatal(err)
					}
					if said = fmt.Sprint(r.Rows); r.Err != nil {
						said = r.Err.Message
					}
					if !strings.Contains(said, refusal) {
						t.Errorf("%s: %s: %s", addr, text, said)
					}
				}
				if p.Config().Node("m") != nil {
					t.Fatal("in force")
				}
			}
			write(referenced(n, apart))
			must(t, operator, "KS RELOAD")
			if p.Config().Node("m") == nil {
				t.Error("nodes apart are not in force")
			}
			other := startProxy(t, referenced(n, node{name: "m", master: "localhost:" + port, conns: 4}))
			if !other.TellOfReplicas(context.Background()) || !strings.Contains(other.log.String(), "has a table twice") || !strings.Contains(other.log.String(), refusal) {
				t.Errorf("after the start:\n%s", other.log.String())
			}
			if p.TellOfReplicas(context.Background()); strings.Contains(p.log.String(), "has a table twice") {
				t.Error("told of nodes apart")
			}
		})
	}
}
