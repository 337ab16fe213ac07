package backend

import (
	"testing"
	"time"

	"kingshard/config"
)

func TestTakeTurns(t *testing.T) {
	a, b, c := &Instance{Addr: "a", Share: Share{Weight: 3}}, &Instance{Addr: "b", Share: Share{Weight: 1}}, &Instance{Addr: "c", Share: Share{Weight: 1}}
	turns := takeTurns([]*Instance{a, b, c})
	count := map[string]int{}
	for k, i := range turns {
		count[i.Addr]++
		if k > 1 && turns[k-1] == i && turns[k-2] == i {
			t.Errorf("%s three times in a row", i.Addr)
		}
	}
	if len(turns) != 5 || count["a"] != 3 || count["b"] != 1 || count["c"] != 1 {
		t.Errorf("turns %v", count)
	}
}

func TestReaderPassesOverWhatIsDown(t *testing.T) {
	newOne := func(addr string) *Instance {
		return newInstance("n", Replica, 1, DialConfig{Addr: addr}, PoolConfig{Max: 1, ConnectTimeout: time.Second})
	}
	n := &Node{Fallback: newFallback("n", 1), Primary: newOne("p"), Replicas: []*Instance{newOne("a"), newOne("b")}}
	defer n.Close()
	n.choice.offer(n.Replicas, "")
	if seen := reads(n, 10); seen["a"] != 5 || seen["b"] != 5 {
		t.Errorf("both up: %v", seen)
	}
	n.Replicas[0].SetState(Down)
	for range 4 {
		if got := n.Reader(0).Addr; got != "b" {
			t.Errorf("a is down: %s", got)
		}
	}
	n.Replicas[1].SetState(Down)
	if got := n.Reader(0); got != n.Primary {
		t.Errorf("all down: %s", got.Addr)
	}
	n.Replicas[1].SetState(Up)
	if got := n.Reader(2); got != n.Primary {
		t.Errorf("after as many tries as replicas: %s", got.Addr)
	}
}

// reads counts reads by the servers that they go to.
func reads(n *Node, number int) map[string]int {
	seen := map[string]int{}
	for range number {
		seen[n.Reader(0).Addr]++
	}
	return seen
}

// openZones opens a node with two replicas in zone 1 and one in zone 2; the primary takes reads, too, in zone 1.
func openZones(t *testing.T, zone string) *Node {
	t.Helper()
	nodes, err := Open(&config.Config{Zone: zone, Nodes: []config.Node{{
		Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2@2,127.0.0.1:3@2,127.0.0.1:4@4,127.0.0.1:1", MaxConnsLimit: 1,
		Zones: config.Zones{"127.0.0.1:1": "1", "127.0.0.1:2": "1", "127.0.0.1:3": "2", "127.0.0.1:4": "1"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes["n"].Close)
	return nodes["n"]
}

// Reads go to the replicas of the proxy's zone, by weight, as long as one of them is fit to serve; else to all.
func TestReaderStaysInItsZone(t *testing.T) {
	n := openZones(t, "1")
	if seen := reads(n, 14); seen["127.0.0.1:2"] != 4 || seen["127.0.0.1:4"] != 8 || seen["127.0.0.1:1"] != 2 {
		t.Errorf("all are fit: %v", seen)
	}
	if i := n.Reader(1); i.Role != Replica {
		t.Errorf("the second try: %s", i.Addr)
	}
	n.Replicas[0].SetState(Down)
	n.Replicas[3].HoldDown(true)
	if seen := reads(n, 8); seen["127.0.0.1:4"] != 8 {
		t.Errorf("one of the zone is left: %v", seen)
	}
	tried := map[string]bool{}
	for range 12 {
		tried[n.Reader(1).Addr] = true
	}
	if !tried["127.0.0.1:3"] {
		t.Errorf("what failed in the zone is tried on %v only", tried)
	}
	n.Replicas[2].SetLag(Lag{}, true, false)
	if seen := reads(n, 8); seen["127.0.0.1:3"] != 8 {
		t.Errorf("none of the zone is fit: %v", seen)
	}
	for _, zone := range []string{"", "3"} {
		if seen := reads(openZones(t, zone), 9); len(seen) != 4 {
			t.Errorf("zone %q: %v", zone, seen)
		}
	}
}

// A read that has to find changes goes to a replica of the zone that has them before one of another, and to none that writes of others may have gone to.
func TestReaderWithStaysInItsZone(t *testing.T) {
	n := openZones(t, "2")
	n.Replicas[3].HoldDown(true) // it always has them
	for _, r := range n.Replicas[:3] {
		r.GTIDs.SetApplied(set(t, "0-1-7"))
	}
	want := set(t, "0-1-7")
	if i := n.ReaderWith(want, 0); i.Addr != "127.0.0.1:3" {
		t.Errorf("the zone's has it: %s", i.Addr)
	}
	n.Replicas[1].GTIDs.SetApplied(set(t, "0-1-6"))
	if i := n.ReaderWith(want, 0); i.Addr != "127.0.0.1:2" {
		t.Errorf("another has it: %s", i.Addr)
	}
	n.Replicas[0].Duty.Retire(true)
	if i := n.ReaderWith(want, 0); i.Addr != "127.0.0.1:4" {
		t.Errorf("one of the two that have it takes writes: %s", i.Addr)
	}
}
