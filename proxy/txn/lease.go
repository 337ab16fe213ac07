package txn

import (
	"errors"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/observe"
	"kingshard/proxy/tracing"
)

// Lease is a connection that takes part in a statement on several shards.
type Lease struct {
	backend.Pooled
	Node string
	Kept bool // it is the held connection, or another one of the open transaction
	// Hurried says that it has an innodb_lock_wait_timeout of its own, LockWait in seconds.
	Hurried  bool
	LockWait int
	// Span is that of the last statement that was sent; nil where nothing is traced.
	Span *tracing.Span
	// Loop is what an event loop has of the connection, if one carries the statement out; else nil.
	Loop Loop
	// began is when the last statement was sent, if its answer is still to come, cell the counters' that it goes to, and had what was read
	// before.
	began time.Time
	cell  uint32
	had   uint64
}

// Loop is what an event loop has of a connection. One call of either ends it.
type Loop interface {
	// Put takes the connection back into the loop, where it can be used again.
	Put()
	// Leave takes the connection out of the loop; it is the caller's then.
	Leave()
}

// Find returns the lease on a node; nil if there is none.
func Find(leases []Lease, node string) *Lease {
	for k := range leases {
		if leases[k].Node == node {
			return &leases[k]
		}
	}
	return nil
}

// Put gives back a connection that can be used again.
func (l *Lease) Put() {
	if loop := l.Loop; loop != nil {
		l.Loop = nil
		loop.Put()
		return
	}
	l.Pooled.Put()
}

// Taint closes a connection that is out of step.
func (l *Lease) Taint() {
	if loop := l.Loop; loop != nil {
		l.Loop = nil
		loop.Leave()
	}
	l.Pooled.Taint()
}

// Started notes that a statement of the client's is sent. It is counted in a cell of the instance's counters, and span, which may be nil,
// ends with it.
func (l *Lease) Started(cell uint32, span *tracing.Span) {
	l.Span = span
	l.began, l.cell, l.had = time.Now(), cell, l.Conn.Net.Received()
}

// Received returns how many bytes have come since the last statement was sent.
func (l *Lease) Received() uint64 { return l.Conn.Net.Received() - l.had }

// Ended counts the last statement that was sent and ends its span. It does nothing if that was done before.
func (l *Lease) Ended(err error) {
	if !l.began.IsZero() {
		took := time.Since(l.began)
		l.Instance.Count(l.cell, took, l.Received(), err != nil)
		if err == nil {
			l.Instance.Latency.Took(l.cell, took)
		}
		l.began = time.Time{}
	}
	if l.Span != nil {
		observe.EndSpan(l.Span, err)
		l.Span = nil
	}
}

// GiveBack ends the use of leases whose responses are through: it returns connections to where they came from that are not kept. It reports
// whether one is.
func GiveBack(leases []Lease) (kept bool) {
	for k := range leases {
		l := &leases[k]
		l.Ended(nil)
		if !l.Kept {
			faultpoint.Reach(faultpoint.BeforeReturn)
			l.Put()
			continue
		}
		kept = true
		l.Conn.Release()
	}
	return kept
}

// On returns the lease of the connection that the session has to a node already.
func (c *Connections) On(node string) (l Lease, ok bool) {
	if c.held.Pooled != nil && c.held.Instance.Node == node {
		return Lease{Pooled: c.held, Node: node, Kept: true}, true
	}
	other, ok := c.others[node]
	return Lease{Pooled: other, Node: node, Kept: true}, ok
}

// Borrow gets a lease on each node by get, in the order of their names, so that statements that wait for each other's connections do not
// exist: each waits only for nodes behind those it has. get is given the leases before. After ErrDeadlock of get all that was borrowed is
// given back: then it begins anew, unless the session holds a connection, which it has to give up itself. With another error it returns the
// leases that it got, which are the caller's to give back.
func (c *Connections) Borrow(nodes []*backend.Node, get func(n *backend.Node, have []Lease) (Lease, error)) ([]Lease, error) {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *backend.Node) int { return strings.Compare(a.Name, b.Name) })
	for {
		leases := make([]Lease, 0, len(nodes))
		var err error
		for k := 0; k < len(nodes) && err == nil; k++ {
			var l Lease
			if l, err = get(nodes[k], leases); err == nil {
				leases = append(leases, l)
			}
		}
		if !errors.Is(err, ErrDeadlock) || c.held.Pooled != nil {
			return leases, err
		}
		GiveBack(leases) // nothing has been sent: the others go first
	}
}

// Instances lists the instances of the connections that the session has, those of leases included, one for each connection: what a
// [Detector] asks for.
func (c *Connections) Instances(leases []Lease) (list []*backend.Instance) {
	if c.held.Pooled != nil {
		list = append(list, c.held.Instance)
	}
	for _, p := range c.others {
		list = append(list, p.Instance)
	}
	for k := range leases {
		if !leases[k].Kept {
			list = append(list, leases[k].Instance)
		}
	}
	return list
}
