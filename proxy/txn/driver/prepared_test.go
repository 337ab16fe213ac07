package driver

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// A look finds what is prepared on a server although the connection of the look before is gone, as it is when the server has started again.
func TestLookOnANewConnection(t *testing.T) {
	s, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: mysqltest.MariaDB})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop() }()
	cfg, faults := config.Parse(fmt.Appendf(nil, "addr: 127.0.0.1:9696\nuser_list: [{user: u, password: p}]\nnodes: [{name: a, user: root, password: root, master: '%s', max_conns_limit: 4}]\n"+
		"schema_list: [{user: u, nodes: [a], default: a}]\n", s.Addr), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n := nodes["a"]
	defer n.Close()
	d := New(slog.New(slog.DiscardHandler), true, func() map[string]*backend.Node { return nodes })
	r := newResolving(d)
	r.resolver = twophase.NewResolver(d.timing, nil)
	defer r.close()
	r.resolve(n)
	root, err := mysqltest.DialRaw(s.Addr, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	xid := twophase.XID{GTRID: twophase.GTRID{Anchor: 7, Start: uint32(time.Now().Unix()), Sequence: 1}, Node: twophase.NodeIDOf("a")}
	for _, sql := range []string{
		fmt.Sprintf("KILL %d", r.admins[n.Primary.Addr].conn.ThreadID), "CREATE TABLE test.t (id INT PRIMARY KEY)", "XA START " + xid.String(), "INSERT INTO test.t VALUES (1)",
		"XA END " + xid.String(), "XA PREPARE " + xid.String(),
	} {
		if _, err := root.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	r.resolve(n)
	if found, _ := r.resolver.InDoubt(r.now()); found != 1 {
		t.Errorf("%d branches were found", found)
	}
	const left = 100 * time.Millisecond
	r.began = r.began.Add(left - d.timing.ResolveAfter) // as if it had been found so long ago
	if after := r.pause(); after > left {
		t.Errorf("the next look at what was found is in %v", after)
	}
	if _, err := root.Exec("XA ROLLBACK " + xid.String()); err != nil {
		t.Error(err)
	}
}
