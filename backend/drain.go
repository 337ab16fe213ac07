package backend

import (
	"context"
	"time"
)

// drainInterval is how often a drain looks.
const drainInterval = 2 * time.Millisecond

// Lenders lists the instances from which sessions may have connections to the primary's server, or with replicas to all of the node's. They are
// those of reloads before, too: a transaction keeps its connection through a reload.
func (n *Node) Lenders(replicas bool) (list []*Instance) {
	all := n.Instances()
	for _, one := range n.retired {
		if i := one.Value(); i != nil {
			all = append(all, i)
		}
	}
	for _, i := range all {
		if replicas || i.Role == Primary && i.Addr == n.Primary.Addr {
			list = append(list, i)
		}
	}
	return list
}

// Drain waits until no session has a connection from the instances, for as long as patience or until ctx ends. It returns how many there are. The
// caller has seen to it that there will be no new ones.
func Drain(ctx context.Context, instances []*Instance, patience time.Duration) (inUse int, err error) {
	until := time.Now().Add(patience)
	tick := time.NewTicker(drainInterval)
	defer tick.Stop()
	for {
		inUse = 0
		for _, i := range instances {
			inUse += lent(i)
		}
		if inUse == 0 || time.Now().After(until) {
			return inUse, nil
		}
		select {
		case <-ctx.Done():
			return inUse, ctx.Err()
		case <-tick.C:
		}
	}
}

// EndLent breaks all connections to the servers of those instances from which sessions have some. Sessions hear of it when they use theirs next; the
// servers roll back what is open there.
func EndLent(instances []*Instance) {
	for _, i := range instances {
		if lent(i) > 0 {
			i.EndConns()
		}
	}
}

// lent is how many connections of the instance's pool are in use, or about to be.
func lent(i *Instance) int {
	st := i.pool.Stats()
	return st.InUse + st.Dialling
}
