package admin_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Two hundred reloads that change users, nodes, rules and limits cost 64 busy clients no error, and leave neither
// connections nor goroutines behind.
func TestReloadsUnderLoad(t *testing.T) {
	reloads := 200
	if testing.Short() {
		reloads = 20
	}
	// A machine that has other work may keep a login waiting.
	p := start(t, func(text string) string {
		return strings.Replace(text, "connect_timeout: 1s", "connect_timeout: 20s", 1)
	})
	root := p.client("root")
	goroutines := runtime.NumGoroutine()
	texts := []string{
		p.text,
		strings.Replace(p.text, "- {user: look,", "- {user: more, password: more, rights: read, max_conns: 3}\n- {user: look,", 1) + "- {user: more, nodes: [n2], default: n2}\n",
		strings.Replace(p.text, "schema_list:", "- {name: n3, max_conns_limit: 2, user: root, password: root, master: \""+p.r1.Addr+"\"}\nschema_list:", 1),
		strings.Replace(p.text, "locations: [2, 2]", "locations: [2, 3]", 1),
		strings.Replace(p.text, "max_conns_limit: 4", "max_conns_limit: 6", 2) + "max_prepared_stmts: 100\nidle_timeout: 1h\n",
	}
	stop := make(chan struct{})
	var load sync.WaitGroup
	var clients []*mysqltest.RawClient
	for k := range 64 {
		c := p.client("root")
		clients = append(clients, c)
		load.Go(func() {
			for n := k; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := []string{"SELECT name", "INSERT INTO t VALUES (1)", "INSERT INTO shop.orders (id) VALUES (1)", "BEGIN", "UPDATE t SET a = 1", "COMMIT"}[n%6]
				if r, err := c.Query(text); err != nil || r.Err != nil {
					t.Errorf("client %d, %s: %v, %+v", k, text, err, r)
					return
				}
			}
		})
	}
	for n := range reloads {
		p.write(texts[(n+1)%len(texts)])
		if got := rows(t, root, "KS RELOAD FORCE 'a test'"); len(got) == 0 {
			t.Fatalf("reload %d changed nothing", n)
		}
	}
	close(stop)
	load.Wait()
	for _, c := range clients {
		c.Close()
	}
	if got := rows(t, root, "SHOW KS STATUS LIKE 'Config_generation'")[0][1]; got != fmt.Sprint(reloads+1) {
		t.Errorf("generation %s after %d reloads", got, reloads)
	}
	mysqltest.WaitFor(t, "the old connections to be closed", func() bool {
		return p.n1.Open() <= 4+1 && p.n2.Open() <= 4+1 && p.r1.Open() <= 4+1
	})
	// A few more than before are those of connections that the pools keep, one for each in a scripted server.
	mysqltest.WaitFor(t, "the old goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines+12 })
}
