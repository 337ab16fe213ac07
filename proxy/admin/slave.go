package admin

import (
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/account"
)

// addSlave adds a replica, address@weight, to a node of the configuration in force. It is used once a probe has reached it.
func (a *Admin) addSlave(w who, node, entry string) error {
	return a.edit(w, "add slave", node+" "+entry, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return failed("invalid node %s", node)
		}
		added, err := config.Node{Slave: entry}.Replicas()
		if err != nil {
			return failed("%v", err)
		}
		if len(added) != 1 {
			return failed("%q: give the address of one instance", entry)
		}
		have, err := n.Replicas()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(have, func(r config.Replica) bool { return r.Addr == added[0].Addr }) {
			return failed("slave has exist")
		}
		n.Slave = joined(n.Slave, strings.TrimSpace(entry))
		return nil
	})
}

func joined(list, entry string) string {
	if strings.TrimSpace(list) == "" {
		return entry
	}
	return list + "," + entry
}

// deleteSlave takes a replica out of a node of the configuration in force.
func (a *Admin) deleteSlave(w who, node, addr string) error {
	return a.edit(w, "del slave", node+" "+addr, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return failed("invalid node %s", node)
		}
		left, found := withoutReplica(n.Slave, addr)
		if !found {
			return failed("slave has not exist")
		}
		n.Slave = left
		return nil
	})
}

func (a *Admin) downSlave(w who, node, addr string) error {
	return a.oldHold(w, node, addr, "replica", true)
}

func (a *Admin) downMaster(w who, node, addr string) error {
	return a.oldHold(w, node, addr, "primary", true)
}

// oldHold takes one instance down or up; its errors are the predecessor's.
func (a *Admin) oldHold(w who, node, addr, role string, down bool) error {
	n := a.shared.Snapshot.Load().Nodes[node]
	switch {
	case w.rights < account.Operate: // the error is that of hold
	case n == nil:
		return failed("invalid node %s", node)
	case role == "primary" && n.Primary.Addr != addr:
		return failed("no master database")
	case role == "replica" && !hasReplica(n, addr):
		return failed("slave has not exist")
	}
	_, err := a.hold(w, node, addr, role, down)
	return err
}

func hasReplica(n *backend.Node, addr string) bool {
	return slices.ContainsFunc(n.Replicas, func(i *backend.Instance) bool { return i.Addr == addr })
}

// upSlave takes a replica up, or adds one that is not there. One that cannot be reached stays as it is.
func (a *Admin) upSlave(w who, node, addr string) error {
	n := a.shared.Snapshot.Load().Nodes[node]
	switch {
	case n == nil:
		return failed("invalid node %s", node)
	case !hasReplica(n, addr):
		return a.addSlave(w, node, addr)
	}
	return a.upReached(w, n, addr, "replica")
}

// upMaster takes the primary up; another address becomes the node's primary in the configuration in force.
func (a *Admin) upMaster(w who, node, addr string) error {
	n := a.shared.Snapshot.Load().Nodes[node]
	switch {
	case n == nil:
		return failed("invalid node %s", node)
	case n.Primary.Addr == addr:
		return a.upReached(w, n, addr, "primary")
	}
	return a.edit(w, "change master", node+" "+n.Primary.Addr+" to "+addr, func(cfg *config.Config) error {
		c := cfg.Node(node)
		if c == nil {
			return failed("invalid node %s", node)
		}
		c.Master = addr
		return nil
	})
}

// upReached takes an instance up that answers.
func (a *Admin) upReached(w who, n *backend.Node, addr, role string) error {
	if err := w.need(account.Operate, "node up"); err != nil {
		return err
	}
	timeout := a.shared.Snapshot.Load().Config.ConnectTimeout.Duration()
	for _, i := range n.Instances() {
		if i.Addr != addr || i.Role.String() != role {
			continue
		}
		if err := i.Reach(time.Now().Add(timeout)); err != nil {
			return failed("%s %s of node %s cannot be reached, it stays as it is: %v", role, addr, n.Name, err)
		}
	}
	return a.oldHold(w, n.Name, addr, role, false)
}
