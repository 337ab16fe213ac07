package driver

import (
	"fmt"
	"time"

	"kingshard/proxy/txn/twophase"
)

// InDoubt is a branch that is prepared on a server.
type InDoubt struct {
	GTRID string
	XID   string // as XA COMMIT and XA ROLLBACK take it
	Node  string
	// Decides is the node that has the decision.
	Decides string
	// Proxy is the process that began the transaction, and Own says that it is this one.
	Proxy string
	Own   bool
	Began time.Time     // by that process's clock
	Seen  time.Duration // for how long this process has found it prepared
	// WaitsFor is what is needed to end it.
	WaitsFor string
}

// doubtful are the branches that were prepared on the servers when they were asked last.
type doubtful struct {
	list    []twophase.Doubt
	unready string // why this process can end none of them, "" where it can
}

// doubts returns those that Run found when it looked last.
func (d *Driver) doubts() doubtful {
	if seen := d.doubtful.Load(); seen != nil {
		return *seen
	}
	return doubtful{}
}

// InDoubt lists the branches that were prepared on the servers when they were asked last, by any process, in the order of their transactions' names.
func (d *Driver) InDoubt() []InDoubt {
	doubts := d.doubts()
	list := make([]InDoubt, 0, len(doubts.list))
	for _, one := range doubts.list {
		x := one.XID
		waits := doubts.unready
		if waits == "" {
			waits = d.waitsFor(one)
		}
		list = append(list, InDoubt{
			GTRID: x.GTRID.String(), XID: x.String(), Node: d.NodeName(x.Node), Decides: d.NodeName(x.Anchor), Proxy: proxyName(x.Proxy), Own: x.Proxy == d.proxy,
			Began: time.Unix(int64(x.Start), 0), Seen: one.Seen, WaitsFor: waits,
		})
	}
	return list
}

// proxyName returns how a process is called in the names of its transactions.
func proxyName(id uint32) string { return fmt.Sprintf("%08x", id) }

// Proxy returns how this process is called in the names of its transactions.
func (d *Driver) Proxy() string { return proxyName(d.proxy) }

// waitsFor says what a branch in doubt waits for.
func (d *Driver) waitsFor(one twophase.Doubt) string {
	switch one.Waits {
	case twophase.WaitCoordinator:
		return "its proxy, for " + d.timing.ResolveAfter.String()
	case twophase.WaitAnchor:
		return "the decision of " + d.NodeName(one.XID.Anchor)
	case twophase.WaitHolder:
		return "the end of the connection to " + d.NodeName(one.XID.Node) + " that holds it"
	case twophase.WaitOperator:
		return "KS RESOLVE: there is no decision any more"
	}
	return "an answer of " + d.NodeName(one.XID.Node)
}

// NodeName returns the name of a node, or its id where it is not of the configuration in force; "" for 0.
func (d *Driver) NodeName(id twophase.NodeID) string {
	if id == 0 {
		return ""
	}
	if n := d.node(id); n != nil {
		return n.Name
	}
	return "id " + id.String()
}
