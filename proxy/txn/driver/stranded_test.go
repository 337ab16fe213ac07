package driver

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// A branch that a replica keeps and its primary has not is told of with what ends it there; one that the primary has, or that the replica has yet to end, is none.
func TestStranded(t *testing.T) {
	start := func(of *mysqltest.RealServer) *mysqltest.RealServer {
		s, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Binlog: true, ReplicaOf: of})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	source := start(nil)
	replica := start(source)
	dial := func(s *mysqltest.RealServer) *mysqltest.RawClient {
		c, err := mysqltest.DialRaw(s.Addr, mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	must := func(c *mysqltest.RawClient, sql string) *mysqltest.RawResult {
		t.Helper()
		r, err := c.Exec(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return r
	}
	root, behind := dial(source), dial(replica)
	must(root, "CREATE DATABASE d")
	must(root, "CREATE TABLE d.t (id INT PRIMARY KEY)")

	text := fmt.Sprintf("- {name: a, user: root, password: root, master: '%[1]s'}\n- {name: b, user: root, password: root, master: '%[1]s', slave: '%[2]s'}\n", source.Addr, replica.Addr)
	cfg, faults := config.Parse([]byte("addr: 127.0.0.1:9696\nuser_list: [{user: u, password: p}]\nnodes:\n"+text+"schema_list: [{user: u, nodes: [a, b], default: a}]\n"), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	nodes, err := backend.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		t.Cleanup(n.Close)
	}
	d := New(slog.New(slog.DiscardHandler), true, func() map[string]*backend.Node { return nodes })
	r := newResolving(d)
	t.Cleanup(r.close)
	r.look(make(chan struct{}))
	if r.secret == nil {
		t.Fatal(d.Reason())
	}

	list := func(c *mysqltest.RawClient) int { return len(must(c, "XA RECOVER").Rows) }
	prepare := func(sequence uint64) twophase.XID {
		t.Helper()
		xid := twophase.XID{GTRID: twophase.GTRID{Anchor: twophase.NodeIDOf("a"), Proxy: 1, Start: uint32(time.Now().Unix()), Sequence: sequence}, Node: twophase.NodeIDOf("b")}
		c := dial(source)
		for _, sql := range []string{"XA START " + xid.String(), fmt.Sprintf("INSERT INTO d.t VALUES (%d)", sequence), "XA END " + xid.String(), "XA PREPARE " + xid.String()} {
			must(c, sql)
		}
		c.Close()
		mysqltest.WaitFor(t, "the replica to have the branch", func() bool { return list(behind) == 1 })
		return xid
	}
	end := func(sql string) { // as soon as the server has noticed that the branch's connection is gone
		t.Helper()
		mysqltest.WaitFor(t, sql, func() bool {
			_, err := root.Exec(sql)
			return err == nil
		})
	}
	looks := func() string {
		for range 3 {
			r.strandings(nodes["b"])
		}
		found := ""
		for _, i := range d.Incidents.List() {
			found += i.Kind.Name() + " " + i.Text + "; "
		}
		return found
	}

	xid := prepare(1)
	if got := looks(); got != "" {
		t.Errorf("the primary has it: %s", got)
	}
	must(behind, "STOP SLAVE SQL_THREAD")
	end("XA COMMIT " + xid.String())
	if got := looks(); got != "" {
		t.Errorf("the replica has yet to end it: %s", got)
	}
	must(behind, "START SLAVE SQL_THREAD")
	mysqltest.WaitFor(t, "the replica to end the branch", func() bool { return list(behind) == 0 })
	if got := looks(); got != "" || len(r.stranded) != 0 {
		t.Errorf("it has ended: %s, %v", got, r.stranded)
	}

	for sequence, decided := range map[uint64]bool{2: false, 3: true} {
		xid := prepare(sequence)
		do := "XA ROLLBACK "
		if decided {
			do = "XA COMMIT "
			row := r.decision(t, xid)
			must(root, fmt.Sprintf("INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('%s', '%c', '%s', '%s', '%s')", row.Key, row.State, row.Parts, row.Conns, row.MAC))
		}
		must(root, "SET SESSION sql_log_bin = 0")
		end("XA ROLLBACK " + xid.String())
		must(root, "SET SESSION sql_log_bin = 1")
		var want string
		mysqltest.WaitFor(t, "the incident", func() bool { // behind the row of the decision
			want = looks()
			return want != ""
		})
		if !strings.Contains(want, "stranded on the replica "+replica.Addr) || !strings.Contains(want, "sql_log_bin = 0; "+do+xid.String()+"; ") {
			t.Error(want)
		}
		d.Incidents.ForgetAll()
		must(behind, "SET SESSION sql_log_bin = 0")
		must(behind, do+xid.String())
	}
}

// decision returns the row by which a transaction with a branch is committed.
func (r *resolving) decision(t *testing.T, xid twophase.XID) twophase.Row {
	t.Helper()
	x := twophase.Begin(xid.GTRID, "s:1")
	x.Enlist(twophase.Branch{Node: xid.Node, Holder: "s:2"})
	x.Change(xid.Anchor)
	x.Change(xid.Node)
	x.Deadline = "2100-01-01"
	c := twophase.NewCoordinator(x, twophase.DefaultTiming(), r.secret, false)
	for _, prepare := range c.Commit() {
		for _, decide := range c.Answered(twophase.Answer{Do: prepare.Do, Node: prepare.Node, Key: prepare.Row.Key, Result: twophase.OK}) {
			if decide.Do == twophase.DoDecide {
				return decide.Row
			}
		}
	}
	t.Fatal("nothing is decided")
	return twophase.Row{}
}
