package backend

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Cause is why nothing is sent to a node's primary, or to any of its servers.
type Cause uint8

// The causes.
const (
	Unsettled Cause = iota // nothing tells which server is the primary
	Switching              // the primary gives its role to another server
	Paused                 // an operator wants all servers of the node at rest
	causes
)

// Duty is whether an instance may do what its role in the node is. Any goroutine may use it.
type Duty struct {
	// heldDown says that an operator took the instance down: whatever the health checks find, it stays so.
	heldDown atomic.Bool
	withheld atomic.Bool // there is a reason
	mu       sync.Mutex
	why      [causes]string // "" for none
	// retired says that nobody knows what a replica has: it was the primary and takes writes of others, or it is outside of the group of the others.
	retired atomic.Bool
}

// Why says why the duty is withheld; "" if it is not.
func (d *Duty) Why() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, why := range d.why {
		if why != "" {
			list = append(list, why)
		}
	}
	return strings.Join(list, ", ")
}

// Withheld reports whether nothing is sent to the instance, and all that would be waits.
func (d *Duty) Withheld() bool { return d.withheld.Load() }

// Paused reports whether an operator has paused the node.
func (d *Duty) Paused() bool { return d.Withheld() && d.reason(Paused) != "" }

// Retired reports whether reads pass the replica over because nobody knows what it has: it takes writes though another server is the primary, or is outside
// of the group that the others are in.
func (d *Duty) Retired() bool { return d.retired.Load() }

// Retire has reads pass a replica over, or not any more. It reports whether that changed anything.
func (d *Duty) Retire(yes bool) (changed bool) { return d.retired.Swap(yes) != yes }

// withhold sets the reason of one cause, and reports whether the duty was withheld before.
func (d *Duty) withhold(c Cause, why string) (before bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.why[c] = why
	any := false
	for _, one := range d.why {
		any = any || one != ""
	}
	return d.withheld.Swap(any)
}

// Withhold has statements wait that come for the node's primary, with Paused for any of its servers, for as long as why is not "" for some cause.
func (n *Node) Withhold(c Cause, why string) {
	instances := []*Instance{n.Primary}
	if c == Paused {
		instances = n.Instances()
	}
	ends := false
	for _, i := range instances {
		before := i.Duty.withhold(c, why)
		switch now := i.Duty.Withheld(); {
		case now && !before:
			i.pool.CloseIdle()
			i.pool.Dismiss()
		case before && !now:
			ends = true
		}
	}
	switch {
	case ends && c == Paused && n.Primary.State() == Down:
		n.hold.release(n.hold.Stats().Waiting) // reads of replicas are among them, which do not need it
	case ends:
		n.hold.wake()
	}
}

// succeed takes over what is the same server's in the same role.
func (d *Duty) succeed(before *Duty) { d.withhold(Switching, before.reason(Switching)) }

// reason returns that of one cause; "" for none.
func (d *Duty) reason(c Cause) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.why[c]
}
