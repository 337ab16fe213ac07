package proxy_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
)

// A server that takes no writes does not become the primary, by whichever variable, unless FORCE says so.
func TestSetPrimaryReadOnly(t *testing.T) {
	t.Parallel()
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			server := startOwn(t, mysqltest.ServerConfig{Kind: kind})
			direct := dial(t, server.Addr, rootClient())
			operator := startProxy(t, oneNode(startScript(t, "old").Addr, 2)).client("")
			set := "KS NODE n SET PRIMARY '" + server.Addr + "'"
			variables := []string{"read_only"}
			if kind != mysqltest.MariaDB {
				variables = append(variables, "super_read_only")
			}
			for _, variable := range variables {
				must(t, direct, "SET GLOBAL "+variable+" = 1")
				if e := fails(t, operator, set, 9032); !strings.Contains(e.Message, server.Addr+" takes no writes, read_only is set there") || !strings.Contains(e.Message, "say FORCE") {
					t.Errorf("%s: %v", variable, e)
				}
			}
			if got := must(t, operator, set+" FORCE 'it is made writable later'").Rows; len(got) != 1 || got[0][1] != server.Addr || got[0][2] != "primary" {
				t.Errorf("by force: %v", got)
			}
			fails(t, operator, "KS NODE n SET PRIMARY '127.0.0.1:1' FORCE 'meant'", 9032) // nobody answers there
		})
	}
}

// pair are two nodes: the users' default is n, whose primary is the first.
func pair(n, m string) string {
	return configText([]node{{name: "n", master: n, conns: 2}, {name: "m", master: m, conns: 2}}, "max_login_delay: 0s")
}

// loaded starts a proxy from a file, and gives what writes that anew.
func loaded(t *testing.T, text string) (p *testProxy, operator *mysqltest.RawClient, write func(text string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ks.yaml")
	write = func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	p = startProxy(t, text)
	f := config.File{Path: file}
	if cfg, faults := f.Load(); cfg == nil {
		t.Fatal(faults)
	}
	p.SetFile(f)
	return p, p.client(""), write
}

// A server of another node does not become the primary, by whichever name and statement, unless FORCE says so; a reload, and the start of
// another process, take no new primary that does not answer.
func TestPrimaryOfAnotherNode(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("servers of its own")
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			like := mysqltest.ServerConfig{Kind: kind, ServerID: 1}
			first, second, third := startOwn(t, like), startOwn(t, like), startOwn(t, like)
			p, operator, write := loaded(t, pair(first.Addr, second.Addr))
			primary := func(name string) string { return p.Config().Node(name).Master }
			_, port, _ := net.SplitHostPort(second.Addr)
			names := []string{second.Addr, "localhost:" + port, second.Socket}
			for _, name := range names {
				refusal := name + ` is a server of node "m", which has it as ` + second.Addr
				for _, text := range []string{"KS NODE n SET PRIMARY '" + name + "'", "admin node(opt,node,k,v) values('up','n','master','" + name + "')"} {
					code := uint16(9032)
					if strings.HasPrefix(text, "admin") {
						code = 1105
					}
					if e := fails(t, operator, text, code); !strings.Contains(e.Message, refusal) || !strings.Contains(e.Message, "KS NODE n SET PRIMARY '"+name+"' FORCE") {
						t.Errorf("%s: %v", text, e)
					}
				}
				write(pair(name, second.Addr))
				for _, text := range []string{"KS RELOAD", "KS UPGRADE"} {
					if e := fails(t, operator, text, 9032); !strings.Contains(e.Message, refusal) || !strings.Contains(e.Message, "KS RELOAD FORCE 'reason'") {
						t.Errorf("%s of %s: %v", text, name, e)
					}
				}
				if got := value(t, operator, "KS RELOAD CHECK"); !strings.Contains(got, refusal) {
					t.Errorf("KS RELOAD CHECK of %s: %s", name, got)
				}
				if err := p.ReloadFile(); err == nil || !strings.Contains(err.Error(), refusal) {
					t.Errorf("by a signal: %v", err)
				}
			}
			if primary("n") != first.Addr {
				t.Fatalf("after refusals the primary is %s", primary("n"))
			}
			write(pair(second.Addr, first.Addr)) // the two exchanged
			if e := fails(t, operator, "KS RELOAD", 9032); strings.Count(e.Message, "is a server of node") != 2 {
				t.Errorf("exchanged: %v", e)
			}
			write(pair(third.Addr, third.Addr))
			if e := fails(t, operator, "KS RELOAD", 9032); strings.Count(e.Message, "is a server of node") != 2 {
				t.Errorf("two nodes to one server: %v", e)
			}
			dead := closedAddr(t)
			for _, c := range []struct{ text, words string }{
				{pair(dead, second.Addr), dead + ` cannot be reached, the primary of node "n" stays ` + first.Addr},
				{strings.Replace(pair(first.Addr, second.Addr), "user: root, password: root, master", "user: root, password: not-the-one, master", 1), first.Addr + `, the primary of node "n", cannot be reached with what is new of it`},
				{configText([]node{{name: "n", master: first.Addr, conns: 2}, {name: "m", master: second.Addr, conns: 2}, {name: "new", master: dead, conns: 2}}), dead + `, the primary of the new node "new", cannot be reached`},
			} {
				write(c.text)
				for _, text := range []string{"KS RELOAD", "KS UPGRADE"} {
					if e := fails(t, operator, text, 9032); !strings.Contains(e.Message, c.words) || !strings.Contains(e.Message, "KS RELOAD FORCE 'reason'") || strings.Contains(e.Message, "not-the-one") {
						t.Errorf("%s: %v, want %s", text, e, c.words)
					}
				}
			}
			if e := fails(t, operator, "KS NODE n SET PRIMARY '"+dead+"'", 9032); !strings.Contains(e.Message, "cannot be reached") || !strings.Contains(e.Message, "KS RELOAD FORCE 'reason'") {
				t.Error(e)
			}
			promoted := dial(t, third.Addr, rootClient())
			must(t, promoted, "SET GLOBAL read_only = 1")
			write(pair(third.Addr, second.Addr))
			if e := fails(t, operator, "KS RELOAD", 9032); !strings.Contains(e.Message, third.Addr+" takes no writes, read_only is set there") {
				t.Error(e)
			}
			must(t, promoted, "SET GLOBAL read_only = 0")

			// What is fit is taken by all of them.
			for k, text := range []string{"KS RELOAD", "KS NODE n SET PRIMARY '" + first.Addr + "'", "admin node(opt,node,k,v) values('up','n','master','" + third.Addr + "')"} {
				must(t, operator, text)
				if want := []string{third.Addr, first.Addr, third.Addr}[k]; primary("n") != want {
					t.Errorf("after %s the primary is %s, want %s", text, primary("n"), want)
				}
			}
			// FORCE takes the rest, and the reason is kept.
			must(t, operator, "KS NODE n SET PRIMARY '"+names[1]+"' FORCE 'they are one'")
			if got := fmt.Sprint(must(t, operator, "SHOW KS EVENTS WHERE what = 'set primary' AND outcome = 'ok'").Rows); !strings.Contains(got, "FORCE: they are one") {
				t.Errorf("events: %s", got)
			}
			if primary("n") != names[1] {
				t.Errorf("by force: %s", primary("n"))
			}
			// The two share a server now, and may go on to.
			must(t, operator, "KS NODE n SET PRIMARY '"+second.Addr+"'")
			write(pair(third.Addr, third.Addr))
			must(t, operator, "KS RELOAD")
			write(pair(dead, third.Addr))
			must(t, operator, "KS RELOAD FORCE 'it comes up later'")
			if primary("n") != dead {
				t.Errorf("by force: %s", primary("n"))
			}
			if got := fmt.Sprint(must(t, operator, "SHOW KS EVENTS WHERE what = 'reload' AND outcome = 'ok'").Rows); !strings.Contains(got, "FORCE: it comes up later") {
				t.Errorf("events: %s", got)
			}
			write(strings.Replace(pair(dead, third.Addr), "max_conns_limit: 2", "max_conns_limit: 3", 1)) // it does not answer, but is no new one
			must(t, operator, "KS RELOAD")
		})
	}
}
