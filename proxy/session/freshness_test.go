package session

import (
	"net"
	"slices"
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/backend/gtid"
	"kingshard/config"
	"kingshard/proxy/txn"
)

// A session that moves to another process finds what it has changed, also where nobody knows what that was.
func TestLastChangesMove(t *testing.T) {
	shared := emptyShared(t)
	shared.Snapshot.Load().Schemas["root"] = &Schema{Nodes: map[string]*backend.Node{"a": {Name: "a"}, "b": {Name: "b"}, "c": {Name: "c"}}}
	for _, text := range []string{"", "a=0-1-7", "a=0-1-7,1-1-2;b=3e11fa47-71ca-11e1-9e33-c80aa9429562:1-3;c=?"} {
		near, far := net.Pipe()
		defer far.Close()
		s := New(near, shared, false)
		s.client.entry.SetUser("root")
		s.rejoin()
		fr := freshness{&s.client}
		if !fr.take(text) || fr.text() != text {
			t.Fatalf("%q is %q", text, fr.text())
		}
		d := s.description()
		d.ID += 100
		near, far = net.Pipe()
		defer far.Close()
		moved, err := Adopt(near, d.Append(nil), shared)
		if err != nil {
			t.Fatal(err)
		}
		if got := (freshness{&moved.client}).text(); got != text {
			t.Errorf("%q has become %q", text, got)
		}
	}
}

// What a read must find follows from the level and from what is known of the session's changes on the node.
func TestBoundReads(t *testing.T) {
	nodes, err := backend.Open(&config.Config{ReplicaConsistency: config.ReplicaSession, Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	n := nodes["n"]
	defer n.Close()
	shared := emptyShared(t)
	shared.Snapshot.Load().Schemas["root"] = &Schema{Nodes: nodes, Default: n}
	parse := func(text string) *gtid.Set {
		s, err := gtid.Parse(text, true)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	log := n.Primary.GTIDs
	log.Follow(parse("0-1-9"))
	long := strings.Repeat("x", largeText)
	for _, c := range []struct {
		name, level string
		change      lastChange
		logged      bool
		text        string
		want        txn.Target
	}{
		{name: "nothing changed", level: "session", logged: true, want: txn.Target{Replica: true}},
		{name: "changed", level: "session", change: lastChange{node: "n", has: parse("0-1-7")}, logged: true, want: txn.Target{Replica: true, Bound: true, After: parse("0-1-7")}},
		{name: "a long text", level: "session", change: lastChange{node: "n", has: parse("0-1-7")}, logged: true, text: long, want: txn.Target{Bound: true, After: parse("0-1-7")}},
		{name: "a long text, nothing changed", level: "session", logged: true, text: long, want: txn.Target{Replica: true}},
		{name: "just changed", level: "session", change: lastChange{node: "n", log: log}, logged: true, want: txn.Target{Replica: true, Bound: true, After: parse("0-1-9")}},
		{name: "just changed without GTIDs", level: "session", change: lastChange{node: "n", log: log}, want: txn.Target{Bound: true}},
		{name: "another node changed", level: "session", change: lastChange{node: "m", unknown: true}, logged: true, want: txn.Target{Replica: true}},
		{name: "unknown", level: "session", change: lastChange{node: "n", unknown: true}, logged: true, want: txn.Target{Bound: true, Asks: true}},
		{name: "unfinished", level: "session", change: lastChange{node: "n", unfinished: true}, logged: true, want: txn.Target{Bound: true}},
		{name: "global", level: "global", change: lastChange{node: "n", has: parse("1-1-1")}, logged: true, want: txn.Target{Replica: true, Bound: true, After: parse("0-1-9,1-1-1")}},
		{name: "global without GTIDs", level: "global", want: txn.Target{Bound: true, After: parse("0-1-9")}},
		{name: "eventual", level: "eventual", change: lastChange{node: "n", unknown: true}, logged: true, want: txn.Target{Replica: true}},
		{name: "primary", level: "primary", logged: true},
	} {
		log.SetLogged(c.logged)
		near, far := net.Pipe()
		s := New(near, shared, false)
		s.client.entry.SetUser("root")
		s.rejoin()
		s.client.replicaConsistency = choice(1 + slices.Index(config.ReplicaConsistencies, c.level))
		s.client.lastChanges = &[]lastChange{c.change}
		got := txn.Target{Node: n, Replica: true}
		freshness{&s.client}.bound(&got, c.text)
		if got.Replica != c.want.Replica || got.Bound != c.want.Bound || got.Asks != c.want.Asks || got.After.String() != c.want.After.String() {
			t.Errorf("%s: %+v with %s, not %+v with %s", c.name, got, got.After, c.want, c.want.After)
		}
		far.Close()
		near.Close()
	}
}
