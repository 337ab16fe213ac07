package backend

import (
	"testing"
	"time"

	"kingshard/backend/gtid"
	"kingshard/config"
	"kingshard/mysql"
)

// openReplicated opens a node with replicas of the weights 2 and 1.
func openReplicated(t *testing.T, level string) *Node {
	t.Helper()
	nodes, err := Open(&config.Config{ReplicaConsistency: level, Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2@2,127.0.0.1:3@1", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["n"].Close)
	for _, r := range nodes["n"].Replicas {
		r.passedOver.Store(false)
	}
	return nodes["n"]
}

// set reads a set of MariaDB's.
func set(t *testing.T, text string) *gtid.Set {
	t.Helper()
	s, err := gtid.Parse(text, true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A read goes to a replica that is known to have what it must find, else to one that may have it soon, else to the primary.
func TestReaderWith(t *testing.T) {
	n := openReplicated(t, config.ReplicaSession)
	want := set(t, "0-1-7")
	served := func(s *gtid.Set) map[*Instance]int {
		by := map[*Instance]int{}
		for range 30 {
			by[n.ReaderWith(s, 0)]++
		}
		return by
	}
	a, b := n.Replicas[0], n.Replicas[1]
	if by := served(nil); by[a] != 20 || by[b] != 10 {
		t.Errorf("nothing to be found: %d and %d", by[a], by[b])
	}
	if by := served(want); by[a]+by[b] != 30 || by[a] == 0 || by[b] == 0 {
		t.Errorf("nothing known: %d and %d", by[a], by[b])
	}
	a.GTIDs.SetApplied(set(t, "0-1-6"))
	b.GTIDs.SetApplied(set(t, "0-1-7"))
	if by := served(want); by[b] != 30 || Has(a, want) || !Has(b, want) || !Has(n.Primary, want) {
		t.Errorf("one has it: %d and %d", by[a], by[b])
	}
	b.CheckIdle() // it may have lost what it had
	b.GTIDs.SetLate()
	if by := served(want); by[a] != 30 {
		t.Errorf("one is late: %d and %d", by[a], by[b])
	}
	a.GTIDs.SetLate()
	if by := served(want); by[n.Primary] != 30 {
		t.Errorf("both are late: %d on the primary", by[n.Primary])
	}
	b.GTIDs.lateUntil.Store(time.Now().Add(-time.Second).UnixNano())
	if by := served(want); by[b] != 30 {
		t.Errorf("one was late: %d and %d", by[a], by[b])
	}
}

// What a server tells of its commits is collected, in either form; what cannot be read makes it known that something is missing.
func TestToldGTIDs(t *testing.T) {
	change := func(kind byte, texts ...string) []byte {
		var data []byte
		if kind == mysql.SessionTrackGTIDs {
			data = []byte{0}
		}
		for _, text := range texts {
			data = mysql.AppendLenencString(data, text)
		}
		return mysql.AppendLenencString([]byte{kind}, data)
	}
	for _, c := range []struct {
		name    string
		changes [][]byte
		want    string
		all     bool
	}{
		{"nothing", [][]byte{change(mysql.SessionTrackSchema, "d"), change(mysql.SessionTrackSystemVariables, "autocommit", "ON")}, "", true},
		{"MySQL", [][]byte{change(mysql.SessionTrackGTIDs, "3e11fa47-71ca-11e1-9e33-c80aa9429562:7"), change(mysql.SessionTrackGTIDs, "3e11fa47-71ca-11e1-9e33-c80aa9429562:9")}, "3e11fa47-71ca-11e1-9e33-c80aa9429562:7-9", true},
		{"MariaDB", [][]byte{change(mysql.SessionTrackSystemVariables, "autocommit", "ON", "last_gtid", "0-1-7"), change(mysql.SessionTrackSystemVariables, "last_gtid", "")}, "0-1-7", true},
		{"unreadable", [][]byte{change(mysql.SessionTrackGTIDs, "x")}, "", false},
	} {
		n := openReplicated(t, config.ReplicaGlobal)
		g := n.Primary.GTIDs
		if _, all := g.Committed(); all {
			t.Error("all is known of a server that nobody has asked")
		}
		g.SetLogged(true)
		for _, changes := range c.changes {
			g.Told(changes)
		}
		if got, all := g.Committed(); got.String() != c.want || all != c.all {
			t.Errorf("%s: %s, %v", c.name, got, all)
		}
	}
	if n := openReplicated(t, config.ReplicaEventual); n.Primary.GTIDs.Tracked.Load() || !n.Primary.GTIDs.Replicated.Load() {
		t.Error("servers are to tell what no level asks for")
	}
}

// A reload forgets nothing of what was committed, also where another server has become the primary.
func TestGTIDsSucceed(t *testing.T) {
	old := openReplicated(t, config.ReplicaSession)
	old.Primary.GTIDs.Follow(set(t, "0-1-7"))
	old.Replicas[0].GTIDs.SetApplied(set(t, "0-1-6"))
	same := openReplicated(t, config.ReplicaEventual)
	same.Succeed(old)
	if same.Primary.GTIDs != old.Primary.GTIDs || same.Replicas[0].GTIDs != old.Replicas[0].GTIDs || same.Primary.GTIDs.Tracked.Load() {
		t.Error("the same servers are not known to be the same")
	}
	nodes, err := Open(&config.Config{ReplicaConsistency: config.ReplicaSession, Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:2", Slave: "127.0.0.1:3", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	nodes["n"].Succeed(same)
	if s, _ := nodes["n"].Primary.GTIDs.Committed(); s.String() != "0-1-7" || !nodes["n"].Primary.GTIDs.Tracked.Load() {
		t.Errorf("on the new primary: %s", s)
	}
}
