package driver

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// TestMain stops the shared servers and fails the package if goroutines are left.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := mysqltest.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// onServers runs a test on a server of each kind, with nodes a, b and c on it.
func onServers(t *testing.T, f func(t *testing.T, r *rig)) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) { f(t, newRig(t, mysqltest.Shared(t, kind))) })
	}
}

// rig is nodes a, b and c, each behind a relay, that are one server: node a's row is the one with the id 0 of d.t, and so on.
type rig struct {
	t      *testing.T
	root   *mysqltest.RawClient
	nodes  map[string]*backend.Node
	relays map[string]*relay
	driver *Driver // of the process whose transactions these are
	other  *Driver // of another one
	log    strings.Builder
}

var names = []string{"a", "b", "c"}

func newRig(t *testing.T, s *mysqltest.RealServer) *rig {
	t.Helper()
	c, err := mysqltest.DialRaw(s.Addr, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r := &rig{t: t, root: c, relays: map[string]*relay{}}
	for _, row := range r.must("XA RECOVER") {
		t.Fatalf("%s is prepared", row)
	}
	for _, sql := range []string{"DROP DATABASE IF EXISTS ks_meta", "DROP DATABASE IF EXISTS d", "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT NOT NULL)", "INSERT INTO d.t VALUES (0, 0), (1, 0), (2, 0)"} {
		r.must(sql)
	}
	text := ""
	for _, name := range names {
		r.relays[name] = startRelay(t, s.Addr)
		text += fmt.Sprintf("- {name: %s, user: root, password: root, master: '%s', max_conns_limit: 20, allow_public_key_retrieval: true}\n", name, r.relays[name].listener.Addr())
	}
	cfg, faults := config.Parse([]byte("addr: 127.0.0.1:9696\nconnect_timeout: 2s\nuser_list: [{user: u, password: p}]\nnodes:\n"+text+"schema_list: [{user: u, nodes: [a, b, c], default: a}]\n"), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	if r.nodes, err = backend.Open(cfg); err != nil {
		t.Fatal(err)
	}
	r.driver, r.other = r.process(), r.process()
	all := maps.Clone(r.nodes) // a test may take one away
	t.Cleanup(func() {
		for _, d := range []*Driver{r.driver, r.other} {
			d.Wait()
		}
		for _, n := range all {
			n.Close()
		}
	})
	return r
}

// process returns a driver that does not wait for long.
func (r *rig) process() *Driver {
	d := New(slog.New(slog.NewTextHandler(&r.log, nil)), true, func() map[string]*backend.Node { return r.nodes })
	d.timing.Prepare, d.timing.DecideAnswer, d.timing.Decide, d.timing.Complete = 700*time.Millisecond, 700*time.Millisecond, 2*time.Second, 700*time.Millisecond
	d.timing.ResolveAfter, d.timing.Settle = 0, 1500*time.Millisecond
	d.timing.Spread = time.Second
	if err := d.timing.Validate(); err != nil {
		r.t.Fatal(err)
	}
	return d
}

// must runs a statement as root, past the relays, and returns its rows as texts.
func (r *rig) must(sql string) (rows []string) {
	r.t.Helper()
	result, err := r.root.Exec(sql)
	if err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
	for _, row := range result.Rows {
		rows = append(rows, fmt.Sprint(row...))
	}
	return rows
}

// values are those of the nodes' rows.
func (r *rig) values() string { return strings.Join(r.must("SELECT v FROM d.t ORDER BY id"), " ") }

// begin begins a transaction that adds one to the rows of nodes.
func (r *rig) begin(nodes ...string) (*Transaction, []backend.Pooled) {
	r.t.Helper()
	var list []*backend.Node
	for _, name := range nodes {
		list = append(list, r.nodes[name])
	}
	x, err := r.driver.Begin(list, time.Now().Add(20*time.Second))
	if err != nil {
		r.t.Fatal(err)
	}
	var loans []backend.Pooled
	for _, n := range list {
		p, err := n.Primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
		if err != nil {
			r.t.Fatal(err)
		}
		loans = append(loans, p)
		for _, sql := range []string{x.Join(p), fmt.Sprintf("UPDATE d.t SET v = v + 1 WHERE id = %d", slices.Index(names, n.Name))} {
			if err := p.Conn.Exec(sql); err != nil {
				r.t.Fatalf("%s: %v", sql, err)
			}
		}
		x.Changed(p)
	}
	return x, loans
}

// commit ends a transaction as a session does.
func (r *rig) commit(x *Transaction, loans []backend.Pooled) twophase.Outcome {
	r.t.Helper()
	o := x.Commit()
	for _, p := range loans {
		if x.Usable(p) {
			if err := p.Conn.Exec("DO 0"); err != nil {
				r.t.Errorf("the connection to %s: %v", p.Instance.Node, err)
			}
			p.Put()
		}
	}
	return o
}

// settle has another process look for what was left, until nothing is prepared.
func (r *rig) settle() {
	r.t.Helper()
	r.driver.Wait()
	looking := newResolving(r.other)
	defer looking.close()
	looking.audited, looking.sought = time.Now().Add(time.Hour), time.Now().Add(time.Hour)
	mysqltest.WaitFor(r.t, "nothing is prepared", func() bool {
		looking.look(nil)
		return len(r.must("XA RECOVER")) == 0
	})
}

// rows are those of ks_meta.dtx about a transaction: the state on the anchor, and how many branches have one.
func (r *rig) rows(gtrid string) string {
	return strings.Join(r.must("SELECT state, COUNT(*) FROM ks_meta.dtx WHERE SUBSTR(gtrid, 12) = SUBSTR('"+gtrid+"', 12) GROUP BY state ORDER BY FIELD(state, 'C', 'A', 'D', 'B')"), ", ")
}

// ownNode starts a MariaDB for the test alone and returns a node on it, and what connects to it.
func ownNode(t *testing.T) (n *backend.Node, dial func() *mysqltest.RawClient) {
	t.Helper()
	s, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: mysqltest.MariaDB})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	cfg, faults := config.Parse(fmt.Appendf(nil, "addr: 127.0.0.1:9696\nuser_list: [{user: u, password: p}]\nnodes: [{name: a, user: root, password: root, master: '%s', max_conns_limit: 4}]\n"+
		"schema_list: [{user: u, nodes: [a], default: a}]\n", s.Addr), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["a"].Close)
	return nodes["a"], func() *mysqltest.RawClient {
		c, err := mysqltest.DialRaw(s.Addr, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}
