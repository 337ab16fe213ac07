package predecessor

import (
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

// addSlave adds a replica, address@weight, to a node of the configuration in force. It is used once a probe has reached it.
func (a *Admin) addSlave(w change.Who, node, entry string) error {
	return a.o.Configuration.Edit(w, "add slave", node+" "+entry, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return change.Failed("invalid node %s", node)
		}
		added, err := config.Node{Slave: entry}.Replicas()
		if err != nil {
			return change.Failed("%v", err)
		}
		if len(added) != 1 {
			return change.Failed("%q: give the address of one instance", entry)
		}
		have, err := n.Replicas()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(have, func(r config.Replica) bool { return r.Addr == added[0].Addr }) {
			return change.Failed("slave has exist")
		}
		n.Slave = change.WithReplica(n.Slave, strings.TrimSpace(entry))
		return nil
	})
}

// deleteSlave takes a replica out of a node of the configuration in force.
func (a *Admin) deleteSlave(w change.Who, node, addr string) error {
	return a.o.Configuration.Edit(w, "del slave", node+" "+addr, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return change.Failed("invalid node %s", node)
		}
		left, found := change.WithoutReplica(n.Slave, addr)
		if !found {
			return change.Failed("slave has not exist")
		}
		n.Slave = left
		return nil
	})
}

func (a *Admin) downSlave(w change.Who, node, addr string) error {
	return a.hold(w, node, addr, "replica", true)
}

func (a *Admin) downMaster(w change.Who, node, addr string) error {
	return a.hold(w, node, addr, "primary", true)
}

// hold takes one instance down or up; its errors are the predecessor's.
func (a *Admin) hold(w change.Who, node, addr, role string, down bool) error {
	n := a.o.Shared.Snapshot.Load().Nodes[node]
	switch {
	case w.Rights < account.Operate: // the error is that of hold
	case n == nil:
		return change.Failed("invalid node %s", node)
	case role == "primary" && n.Primary.Addr != addr:
		return change.Failed("no master database")
	case role == "replica" && !hasReplica(n, addr):
		return change.Failed("slave has not exist")
	}
	_, err := a.o.Instances.Hold(w, node, addr, role, down)
	return err
}

func hasReplica(n *backend.Node, addr string) bool {
	return slices.ContainsFunc(n.Replicas, func(i *backend.Instance) bool { return i.Addr == addr })
}

// upSlave takes a replica up, or adds one that is not there. One that cannot be reached stays as it is.
func (a *Admin) upSlave(w change.Who, node, addr string) error {
	n := a.o.Shared.Snapshot.Load().Nodes[node]
	switch {
	case n == nil:
		return change.Failed("invalid node %s", node)
	case !hasReplica(n, addr):
		return a.addSlave(w, node, addr)
	}
	return a.upReached(w, n, addr, "replica")
}

// upMaster takes the primary up; another address becomes the node's primary in the configuration in force.
func (a *Admin) upMaster(w change.Who, node, addr string) error {
	n := a.o.Shared.Snapshot.Load().Nodes[node]
	switch {
	case n == nil:
		return change.Failed("invalid node %s", node)
	case n.Primary.Addr == addr:
		return a.upReached(w, n, addr, "primary")
	}
	return a.o.Configuration.Edit(w, "change master", node+" "+n.Primary.Addr+" to "+addr, func(cfg *config.Config) error {
		c := cfg.Node(node)
		if c == nil {
			return change.Failed("invalid node %s", node)
		}
		c.Master = addr
		return nil
	})
}

// upReached takes an instance up that answers.
func (a *Admin) upReached(w change.Who, n *backend.Node, addr, role string) error {
	if err := w.Need(account.Operate, "node up"); err != nil {
		return err
	}
	timeout := a.o.Shared.Snapshot.Load().Config.ConnectTimeout.Duration()
	for _, i := range n.Instances() {
		if i.Addr != addr || i.Role.String() != role {
			continue
		}
		if err := i.Reach(time.Now().Add(timeout)); err != nil {
			return change.Failed("%s %s of node %s cannot be reached, it stays as it is: %v", role, addr, n.Name, err)
		}
	}
	return a.hold(w, n.Name, addr, role, false)
}
