package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// connections counts the server's connections of the proxy's account, the one that asks left out.
const connections = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'root' AND id <> CONNECTION_ID()"

// Item 17: reloads leave the number of backend connections and of goroutines as they were, and transactions, prepared
// statements and sessions with state go on.
func TestReloadsKeepWhatIsThere(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE kept (id INT PRIMARY KEY)")
		text := func(n int) string { return oneNode(server.Addr, 6, fmt.Sprintf("idle_timeout: %dm", 60+n)) }
		p := startProxy(t, text(0))
		inTransaction, prepared, locked, plain := p.client(database), p.client(database), p.client(database), p.client(database)
		must(t, inTransaction, "BEGIN")
		must(t, inTransaction, "INSERT INTO kept VALUES (0)")
		st, err := prepared.Prepare("SELECT ? + 1")
		if err != nil {
			t.Fatal(err)
		}
		must(t, prepared, "SET SESSION group_concat_max_len = 77")
		must(t, locked, "SELECT GET_LOCK('ks_reload', 0)")
		use := func(n int) {
			t.Helper()
			must(t, inTransaction, fmt.Sprintf("INSERT INTO kept VALUES (%d)", n))
			r, err := st.Execute(n)
			if err != nil || r.Err != nil || fmt.Sprint(r.Rows) != fmt.Sprintf("[[%d]]", n+1) {
				t.Fatalf("prepared before reload %d: %+v, %v", n, r, err)
			}
			if got := value(t, prepared, "SELECT @@group_concat_max_len"); got != "77" {
				t.Errorf("after reload %d the variable is %s", n, got)
			}
			if got := value(t, locked, "SELECT IS_USED_LOCK('ks_reload') = CONNECTION_ID(), IS_FREE_LOCK('ks_reload')"); !strings.HasSuffix(got, ",0") {
				t.Errorf("after reload %d the lock is free", n)
			}
			must(t, plain, "SELECT 1")
		}
		use(1)
		mysqltest.WaitFor(t, "the probe", func() bool { return p.primary("n").State() == backend.Up })
		backends, goroutines := number(t, direct, connections), runtime.NumGoroutine()
		for n := 2; n <= 4; n++ {
			p.reload(text(n))
			use(n)
			// One more: an answer arrives before its connection is given back, so the next statement may have taken another.
			mysqltest.WaitFor(t, "the old pool's connections to be closed", func() bool { return number(t, direct, connections) <= backends+1 })
			mysqltest.WaitFor(t, "the old snapshot's goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
		}
		must(t, inTransaction, "COMMIT")
		if n := number(t, direct, "SELECT COUNT(*) FROM kept"); n != 5 {
			t.Errorf("%d rows of a transaction over three reloads, want 5", n)
		}
		for _, c := range []*mysqltest.RawClient{inTransaction, prepared, locked, plain} {
			c.Close()
		}
		p.quiet(0)
		if got := value(t, direct, "SELECT IS_FREE_LOCK('ks_reload')"); got != "1" {
			t.Error("the lock outlives its client")
		}
	})
}

// A reload costs no client an error, whatever it is doing at that moment.
func TestReloadUnderLoad(t *testing.T) {
	server := startScript(t, "script")
	text := func(n int) string { return oneNode(server.Addr, 3, fmt.Sprintf("idle_timeout: %dm", 60+n)) }
	p := startProxy(t, text(0))
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for k := range 8 {
		c := p.client("")
		st, err := c.Prepare("SELECT ?")
		if err != nil {
			t.Fatal(err)
		}
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				var r *mysqltest.RawResult
				var err error
				switch (k + n) % 3 {
				case 0:
					r, err = st.Execute(n)
				case 1:
					r, err = c.Query("SELECT name")
				case 2:
					r, err = c.Query("USE other") // a command that borrows a connection for itself
				}
				if err != nil || r.Err != nil {
					t.Errorf("client %d, statement %d: %v, %+v", k, n, err, r)
					return
				}
			}
		})
	}
	for n := 1; n <= 30; n++ {
		p.reload(text(n))
	}
	close(stop)
	clients.Wait()
	p.quiet(8)
	mysqltest.WaitFor(t, "the old connections to be closed", func() bool { return server.Open() <= 3+1 })
}

// A reload is all or nothing: whatever is wrong with the new configuration, none of it comes into force and nothing of
// it is left behind.
func TestReloadAllOrNothing(t *testing.T) {
	first, second := startScript(t, "first"), startScript(t, "second")
	dir := t.TempDir()
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(dir, "tls"))
	if err != nil {
		t.Fatal(err)
	}
	garbage, broken := filepath.Join(dir, "garbage.pem"), filepath.Join(dir, "broken.pem")
	if err := os.WriteFile(garbage, []byte("no certificate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startProxy(t, oneNode(first.Addr, 1)) // one connection, as the scripted server has a goroutine for each
	c := p.client("")
	must(t, c, "SELECT name")
	mysqltest.WaitFor(t, "the probe", func() bool { return p.primary("n").State() == backend.Up })
	goroutines, before := runtime.NumGoroutine(), p.Config()
	// The second server and another password of ks are in all of them.
	changed := func(more string) string {
		return strings.Replace(oneNode(second.Addr, 2, more), "{user: ks, password: ks}", "{user: ks, password: changed}", 1)
	}
	read := func(text string) *config.Config {
		cfg, faults := config.Parse([]byte(text), dir, config.Options{})
		if cfg == nil {
			t.Fatal(faults)
		}
		return cfg
	}
	for name, cfg := range map[string]func() *config.Config{
		"a listener": func() *config.Config { return read(changed("socket: " + filepath.Join(dir, "ks.sock"))) },
		"tls: a file that goes away": func() *config.Config {
			data, err := os.ReadFile(cert)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(broken, data, 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := read(changed(fmt.Sprintf("tls: {cert: %s, key: %s}", broken, key)))
			if err := os.Remove(broken); err != nil {
				t.Fatal(err)
			}
			return cfg
		},
		"tls: no certificate": func() *config.Config {
			cfg := read(changed(fmt.Sprintf("tls: {cert: %s, key: %s}", cert, key)))
			cfg.TLS.Cert = garbage
			return cfg
		},
		"auth_rsa_key": func() *config.Config {
			cfg := read(changed(""))
			cfg.AuthRSAKey = garbage
			return cfg
		},
		"a node's authorities": func() *config.Config {
			cfg := read(changed(""))
			cfg.Nodes[0].TLS.Mode, cfg.Nodes[0].TLS.CA = "verify_ca", garbage
			return cfg
		},
		"a user's networks": func() *config.Config {
			cfg := read(changed(""))
			cfg.UserList[1].Hosts = "300.0.0.1"
			return cfg
		},
	} {
		if err := p.Reload(querylog.By{}, cfg(), false); err == nil {
			t.Errorf("%s: taken", name)
		}
		if p.Config() != before {
			t.Errorf("%s: the configuration changed", name)
		}
		if got := value(t, c, "SELECT name"); got != "first" {
			t.Errorf("%s: served by %s", name, got)
		}
		old := dial(t, p.addr, mysqltest.ClientConfig{User: "ks", Password: "ks"})
		must(t, old, "SELECT name")
		old.Close()
	}
	if n := second.Accepted(); n != 0 {
		t.Errorf("%d connections to a server that is in no configuration in force", n)
	}
	p.quiet(1)
	mysqltest.WaitFor(t, "what was built for the refused ones to be gone", func() bool { return runtime.NumGoroutine() <= goroutines })
	p.reload(changed(""))
	if got := value(t, c, "SELECT name"); got != "second" {
		t.Errorf("after a good reload: served by %s", got)
	}
}

// A session whose node has gone with a reload still has the values of its variables for KILL.
func TestKillOnNodeThatIsGone(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		text := oneNode(server.Addr, 6)
		p := startProxy(t, text)
		c := p.client(database)
		must(t, c, "SET @w := (SELECT 99999999)")
		other := strings.NewReplacer("name: n,", "name: m,", "[n]", "[m]", "default: n", "default: m").Replace(text)
		if !strings.Contains(other, "name: m,") {
			t.Fatal(other)
		}
		p.reload(other)
		for range 2 {
			if r, err := c.Query("KILL QUERY @w"); err != nil || r.Err == nil || r.Err.Code != 1094 || !strings.Contains(r.Err.Message, "99999999") {
				t.Fatalf("%v, %v", r, err)
			}
		}
	})
}
