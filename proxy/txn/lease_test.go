package txn

import (
	"errors"
	"slices"
	"testing"

	"kingshard/backend"
)

// loop counts what becomes of a connection that an event loop has.
type loop struct{ puts, leaves int }

func (l *loop) Put()   { l.puts++ }
func (l *loop) Leave() { l.leaves++ }

// A lease goes back to where it came from: the loop or the pool. One that is kept stays.
func TestLeaseGoesBack(t *testing.T) {
	r := newRig(t)
	var has loop
	leases := []Lease{{Pooled: r.get(0), Node: "a"}, {Pooled: r.get(1), Node: "b", Kept: true}, {Pooled: r.get(2), Node: "c", Loop: &has}}
	if Find(leases, "b") != &leases[1] || Find(leases, "d") != nil {
		t.Error("found the wrong one")
	}
	if !GiveBack(leases) || has.puts != 1 || has.leaves != 0 {
		t.Errorf("back: %+v", has)
	}
	r.out(0, 1, 1)
	leases[2].Loop = &has
	for k := 1; k < 3; k++ {
		leases[k].Taint()
	}
	if has.puts != 1 || has.leaves != 1 || leases[2].Loop != nil {
		t.Errorf("closed: %+v", has)
	}
	r.out(0, 0, 0)
}

// Nodes are borrowed in the order of their names. After a deadlock all is given back; it begins anew, unless the session holds a connection.
func TestBorrow(t *testing.T) {
	r := newRig(t)
	nodes := []*backend.Node{r.nodes[2], r.nodes[0], r.nodes[1]}
	var asked []string
	var failures []error // of the last node, one for each try
	get := func(n *backend.Node, have []Lease) (Lease, error) {
		asked = append(asked, n.Name)
		if len(have) == 2 && len(failures) > 0 {
			err := failures[0]
			failures = failures[1:]
			return Lease{}, err
		}
		return Lease{Pooled: borrow(t, n.Primary), Node: n.Name}, nil
	}
	failures = []error{ErrDeadlock}
	leases, err := r.Borrow(nodes, get)
	if err != nil || len(leases) != 3 || !slices.Equal(asked, []string{"a", "b", "c", "a", "b", "c"}) {
		t.Fatalf("%d leases, asked %v, %v", len(leases), asked, err)
	}
	if nodes[0] != r.nodes[2] {
		t.Error("the caller's list was changed")
	}
	r.out(1, 1, 1)
	GiveBack(leases)

	other := errors.New("down")
	failures = []error{other}
	if leases, err = r.Borrow(nodes, get); err != other || len(leases) != 2 {
		t.Errorf("%d leases, %v", len(leases), err)
	}
	GiveBack(leases)

	// It holds a connection: others wait for that one.
	r.Begin = SQLBegin
	if _, err := r.join(0, true, true); err != nil {
		t.Fatal(err)
	}
	failures = []error{ErrDeadlock}
	if leases, err = r.Borrow(nodes, get); !errors.Is(err, ErrDeadlock) || len(leases) != 2 {
		t.Errorf("holding: %d leases, %v", len(leases), err)
	}
	GiveBack(leases)
	r.End(r.exec)
	r.out(0, 0, 0)
}
