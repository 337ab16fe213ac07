package txn

import (
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// open opens nodes a, b, … whose primaries have so many connections each, to a scripted server that answers OK to everything or as script
// says. Nothing is dialled before somebody asks.
func open(t *testing.T, script mysqltest.ScriptConfig, max ...int) []*backend.Node {
	t.Helper()
	server := mysqltest.StartScript(t, script)
	cfg := &config.Config{AuthPlugin: "mysql_native_password", ConnectTimeout: config.Duration(5 * time.Second), MaxAllowedPacket: 1 << 20}
	for k, n := range max {
		cfg.Nodes = append(cfg.Nodes, config.Node{Name: string(rune('a' + k)), User: "root", Master: server.Addr, MaxConnsLimit: n})
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var list []*backend.Node
	for _, n := range cfg.Nodes {
		t.Cleanup(nodes[n.Name].Close)
		list = append(list, nodes[n.Name])
	}
	return list
}

// borrow takes a connection.
func borrow(t *testing.T, i *backend.Instance) backend.Pooled {
	t.Helper()
	p, err := i.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rig is the connections of a session to nodes a, b and c, of two connections each, and what was sent on them.
type rig struct {
	Connections
	t     *testing.T
	nodes []*backend.Node

	counts PinCounts
	sent   []string // by exec, as "node: statement"

	mu   sync.Mutex
	open map[uint32]bool   // by connection: a transaction is
	cut  string            // a statement at which a server closes the connection
	no   map[string]uint16 // statements that are answered with an error
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, open: map[uint32]bool{}, no: map[string]uint16{}}
	r.nodes = open(t, mysqltest.ScriptConfig{Handler: r.handle}, 2, 2, 2)
	r.Init(&r.counts)
	return r
}

// handle is a server that knows whether a transaction is open.
func (r *rig) handle(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(payload)
	switch {
	case cmd != mysql.ComQuery:
	case r.cut != "" && text == r.cut:
		c.Cut()
		return
	case r.no[text] != 0:
		c.Error(r.no[text], "no")
		return
	case strings.HasPrefix(text, "START"):
		r.open[c.ID] = true
	case strings.HasPrefix(text, "COMMIT"), strings.HasPrefix(text, "ROLLBACK"):
		r.open[c.ID] = false
	}
	var ok mysql.OKPacket
	if r.open[c.ID] {
		ok.Status = mysql.ServerStatusInTrans
	}
	c.OKPacket(ok)
}

// cutAt has servers close the connection at a statement; "" for none.
func (r *rig) cutAt(sql string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = sql
}

// exec carries out a statement of the proxy's own.
func (r *rig) exec(p backend.Pooled, sql string) error {
	r.sent = append(r.sent, p.Instance.Node+": "+sql)
	return p.Conn.Exec(sql)
}

// expect fails unless these were sent since the last call.
func (r *rig) expect(sent ...string) {
	r.t.Helper()
	if got, want := strings.Join(r.sent, "; "), strings.Join(sent, "; "); got != want {
		r.t.Errorf("sent %q, not %q", got, want)
	}
	r.sent = nil
}

// get borrows a connection to node k.
func (r *rig) get(k int) backend.Pooled {
	r.t.Helper()
	return borrow(r.t, r.nodes[k].Primary)
}

// join borrows a connection to node k and has it join the transaction.
func (r *rig) join(k int, readOnly, autocommit bool) (Lease, error) {
	r.t.Helper()
	return r.Join(r.get(k), r.nodes[k].Name, Joining{Reads: readOnly, Autocommit: autocommit, Exec: r.exec})
}

// statement runs a statement of a session on node k, which is not held, as a driver does.
func (r *rig) statement(k int, sql string) (p backend.Pooled, stays bool) {
	r.t.Helper()
	p = r.get(k)
	if err := p.Conn.Exec(sql); err != nil {
		r.t.Fatal(err)
	}
	return p, r.release(p)
}

// release ends the use of a connection as a driver does.
func (r *rig) release(p backend.Pooled) (stays bool) {
	if r.Release(p, r.Keep(p), true, r.exec) {
		p.Put()
		return false
	}
	return true
}

// out fails unless so many connections are on loan, of each node.
func (r *rig) out(want ...int) {
	r.t.Helper()
	for k, n := range r.nodes {
		s := n.Primary.Stats()
		if got := s.InUse; got != want[k] {
			r.t.Errorf("%d connections to %s are on loan, not %d", got, n.Name, want[k])
		}
	}
}
