package health

import (
	"context"
	"errors"
	"slices"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
	"kingshard/mysql"
)

const (
	// discoverInterval is how often a primary is asked for its replicas.
	discoverInterval = time.Second
	// goneLooks is how many looks in a row must have found a server to be no replica until it counts as gone.
	goneLooks = 10
)

// replicasWatch is what the watcher of a node's replicas keeps.
type replicasWatch struct {
	conn    *backend.Conn  // to the primary; nil: none
	absent  map[string]int // for how many looks, by address
	refused bool
	// unfit are those that were logged as such.
	unfit map[string]bool
}

// watchReplicas asks a node's primary for its replicas, and the members of its group, until ctx ends, and tells of those that the node has not, and of those it has that are none any more.
func (m *Monitor) watchReplicas(ctx context.Context, n *backend.Node) {
	w := replicasWatch{absent: map[string]int{}, unfit: map[string]bool{}}
	defer w.close()
	tick := time.NewTicker(discoverInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if n.Roles.Settled() && n.Primary.State() == backend.Up {
			m.lookForReplicas(ctx, n, &w)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (w *replicasWatch) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

func (m *Monitor) lookForReplicas(ctx context.Context, n *backend.Node, w *replicasWatch) {
	told, err := m.toldReplicas(ctx, n, w)
	if ctx.Err() != nil {
		return
	}
	var refused *mysql.SQLError
	switch {
	case errors.As(err, &refused):
		if !w.refused {
			m.cfg.Log.Warn("the primary does not tell its replicas: does the account have REPLICATION SLAVE, in MariaDB REPLICATION MASTER ADMIN?", "node", n.Name, "instance", n.Primary.Addr, "error", err)
		}
		w.refused = true
		return
	case err != nil:
		w.close()
		return
	}
	w.refused = false
	var come, gone []string
	for _, r := range told {
		if !slices.ContainsFunc(n.Instances(), func(i *backend.Instance) bool { return i.Addr == r.Addr }) {
			switch why := m.unfitReplica(ctx, n, r); {
			case why == "":
				come = append(come, r.Addr)
			case !w.unfit[r.Addr] && ctx.Err() == nil:
				w.unfit[r.Addr] = true
				m.cfg.Log.Warn("a replica that the primary tells of cannot be used", "node", n.Name, "instance", r.Addr, "reason", why)
			}
		}
	}
	for _, i := range n.Replicas {
		listed := slices.ContainsFunc(told, func(r backend.ReplicaTold) bool { return r.Addr == i.Addr })
		if i.IsSource || listed && i.State() != backend.Down || replicates(n, i.Addr) {
			delete(w.absent, i.Addr)
		} else if w.absent[i.Addr]++; w.absent[i.Addr] >= goneLooks {
			gone = append(gone, i.Addr)
		}
	}
	if len(come)+len(gone) > 0 && m.cfg.Replicas != nil {
		m.cfg.Replicas(n, come, gone)
	}
}

// replicates reports whether a server of the node answers, and is configured to replicate from one of them, or in step with their group: it may only have lost
// its source.
func replicates(n *backend.Node, addr string) bool {
	o, _ := n.Roles.Seen(addr)
	if !o.Told || o.Failures > 0 {
		return false
	}
	if o.InGroup() {
		return true
	}
	return slices.ContainsFunc(n.Instances(), func(i *backend.Instance) bool {
		source, _ := n.Roles.Seen(i.Addr)
		return i.Addr != addr && o.ReplicaOf(&source)
	})
}

// toldReplicas are those that the primary tells of.
func (m *Monitor) toldReplicas(ctx context.Context, n *backend.Node, w *replicasWatch) (told []backend.ReplicaTold, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	if w.conn == nil {
		if w.conn, err = n.Primary.Own(ctx); err != nil {
			w.conn = nil
			return nil, err
		}
	}
	defer bound(ctx, w.conn)()
	told, err = backend.Replicas(w.conn)
	if primary, _ := n.Roles.Seen(n.Primary.Addr); err == nil && primary.InGroup() {
		var members []backend.ReplicaTold
		members, err = backend.Members(w.conn)
		told = append(told, members...)
	}
	return told, err
}

// bound has what is done on a connection end with ctx, which has a deadline, until the function is called that it returns.
func bound(ctx context.Context, c *backend.Conn) (stop func() bool) {
	deadline, _ := ctx.Deadline()
	c.Net.SetDeadline(deadline)
	return context.AfterFunc(ctx, func() { c.Net.SetDeadline(time.Unix(1, 0)) })
}

// unfitReplica logs in at a server that is none of the node's, by both accounts, and gives the reason why it is not the replica of the node's primary that it
// was told to be, or no member of its group; "" if it is.
func (m *Monitor) unfitReplica(ctx context.Context, n *backend.Node, r backend.ReplicaTold) (why string) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	conn, err := n.LogInAt(ctx, r.Addr)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	defer bound(ctx, conn)()
	w, o := rolesWatch{conn: conn}, roles.Observation{Addr: r.Addr}
	group, err := backend.Group(conn)
	if err := errors.Join(err, w.askServer(&o), w.askSources(&o), w.askGroup(&o), w.askGalera(&o)); err != nil {
		return err.Error()
	}
	primary, _ := n.Roles.Seen(n.Primary.Addr)
	switch {
	case r.Server != "" && !o.Calls(r.Server), r.Group != "" && r.Group != group:
		return "another server is there"
	case r.Group != "" && !o.InGroup():
		return "it is not in step with the group"
	case r.Group == "" && !o.ReplicaOf(&primary):
		return "it is no replica of the primary"
	}
	for _, i := range n.Instances() {
		if seen, _ := n.Roles.Seen(i.Addr); seen.Server == o.Server {
			return "the node has it as " + i.Addr
		}
	}
	return ""
}
