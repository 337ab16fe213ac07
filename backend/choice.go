package backend

import (
	"slices"
	"sync/atomic"
)

// Share is which of a node's reads a replica gets.
type Share struct {
	Weight  int
	Zone    string // "" for none
	Latency Latency
}

// choice is among which replicas of a node reads choose, and how.
type choice struct {
	byLatency bool // instead of by turns
	// circles are the replicas of the proxy's zone, where some are in it and some are not, and all of them.
	circles []circle
	next    atomic.Uint32
	// nearest are all replicas, those of the proxy's zone first.
	nearest []*Instance
}

// circle is some replicas of a node.
type circle struct {
	replicas []*Instance
	// turns lists them by weight, each as often as its weight says, spread evenly; a read takes the next turn.
	turns []*Instance
}

// offer has reads choose among the replicas; zone is the proxy's, "" for none.
func (c *choice) offer(replicas []*Instance, zone string) {
	var near, far []*Instance
	for _, r := range replicas {
		if zone != "" && r.Zone == zone {
			near = append(near, r)
		} else {
			far = append(far, r)
		}
	}
	c.circles, c.nearest = nil, slices.Concat(near, far)
	if len(near) > 0 && len(far) > 0 {
		c.circles = append(c.circles, newCircle(near))
	}
	c.circles = append(c.circles, newCircle(replicas))
}

func newCircle(replicas []*Instance) circle { return circle{replicas, takeTurns(replicas)} }

// takeTurns spreads each replica's turns evenly over a cycle: at each step the one furthest behind its share is next
// (smooth weighted round robin).
func takeTurns(replicas []*Instance) []*Instance {
	total := 0
	for _, r := range replicas {
		total += r.Weight
	}
	credit := make([]int, len(replicas))
	turns := make([]*Instance, 0, total)
	for range total {
		best := 0
		for k, r := range replicas {
			credit[k] += r.Weight
			if credit[k] > credit[best] {
				best = k
			}
		}
		credit[best] -= total
		turns = append(turns, replicas[best])
	}
	return turns
}

// fit reports whether reads may go to a replica: it is not known to be down, nor passed over for its lag or as what takes writes of others.
// While its node is paused a read waits for it.
func fit(i *Instance) bool {
	paused := i.Duty.Paused() && !i.HeldDown() && i.Health() != Down
	return (i.State() != Down || paused) && !i.PassedOver() && !i.Duty.Retired()
}

// turn returns the replica that is fit and whose turn is at start, or next behind it; nil if none is fit.
func (c *circle) turn(start uint32) *Instance {
	for k := range uint32(len(c.turns)) {
		if r := c.turns[(start+k)%uint32(len(c.turns))]; fit(r) {
			return r
		}
	}
	return nil
}

// choose returns the replica for a read; nil if none is fit. What has failed on one, of which the health checks may not know yet, is
// tried on all in turn.
func (c *choice) choose(attempt int) *Instance {
	first := 0
	if attempt > 0 {
		first = len(c.circles) - 1
	}
	for _, some := range c.circles[first:] {
		var r *Instance
		if c.byLatency && attempt == 0 {
			r = some.quick()
		} else {
			r = some.turn(c.next.Add(1))
		}
		if r != nil {
			return r
		}
	}
	return nil
}

// Reader picks the instance for the attempt-th try (from 0) of a read that may be served by a replica: replicas by
// weight or latency, those of the proxy's zone before others, those known to be down or too far behind passed over, and the primary when there is no other.
// While the primary is down that may be a replica which only lost its source with it.
func (n *Node) Reader(attempt int) *Instance {
	if attempt >= len(n.Replicas) {
		return n.Primary
	}
	if r := n.choice.choose(attempt); r != nil {
		return r
	}
	if n.Primary.State() == Down {
		for _, r := range n.Replicas {
			if r.State() != Down && r.lastResort.Load() && !r.Duty.Retired() {
				return r
			}
		}
	}
	return n.Primary
}
