package backend

import "sync/atomic"

// Duty is whether an instance may do what its role in the node is.
type Duty struct {
	// withheld says that a primary is to do nothing: it is not known to be the primary, or gives the role up.
	withheld atomic.Bool
	why      atomic.Pointer[string]
	// retired says that a replica takes writes of others: it was the primary, and nobody knows what it has.
	retired atomic.Bool
}

// Why says why the duty is withheld.
func (d *Duty) Why() string {
	if why := d.why.Load(); why != nil {
		return *why
	}
	return ""
}

// Withheld reports whether nothing is sent to the primary, and nothing to be sent waits for it.
func (d *Duty) Withheld() bool { return d.withheld.Load() }

// Retired reports whether reads pass the replica over because it still takes writes.
func (d *Duty) Retired() bool { return d.retired.Load() }

// Retire has reads pass a replica over, or not any more. It reports whether that changed anything.
func (d *Duty) Retire(yes bool) (changed bool) { return d.retired.Swap(yes) != yes }

// Withhold has statements wait that come for the node's primary, for as long as why is not "".
func (n *Node) Withhold(why string) {
	d := &n.Primary.Duty
	d.why.Store(&why)
	if d.withheld.Swap(why != "") == (why != "") {
		return
	}
	if why != "" {
		n.Primary.pool.Dismiss()
	} else {
		n.hold.wake()
	}
}
