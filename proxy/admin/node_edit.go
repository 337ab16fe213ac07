package admin

import (
	"fmt"
	"strings"

	"kingshard/backend"
	"kingshard/config"
)

// addReplica adds a replica to a node of the configuration in force. It need not answer yet, but must be no server of another node unless
// force gives a reason.
func (a *Admin) addReplica(w who, node, addr string, weight uint64, force string) error {
	return a.editForced(w, "add replica", fmt.Sprintf("%s %s weight %d", node, addr, weight), force, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return noNode(node)
		}
		entry := fmt.Sprintf("%s@%d", addr, weight)
		if added, err := (config.Node{Slave: entry}).Replicas(); err != nil {
			return failed("%v", err)
		} else if len(added) != 1 {
			return failed("%q: give the address of one instance", addr)
		}
		if _, found := withoutReplica(n.Slave, addr); found {
			return failed("node %q has a replica at %q already: REMOVE it first to change its weight", node, addr)
		}
		n.Slave = joined(n.Slave, entry)
		return nil
	})
}

// removeReplica takes a replica out of a node of the configuration in force. Statements that run on it end there.
func (a *Admin) removeReplica(w who, node, addr string) error {
	return a.edit(w, "remove replica", node+" "+addr, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return noNode(node)
		}
		left, found := withoutReplica(n.Slave, addr)
		if !found {
			return failed("node %q has no replica at %q: SHOW KS NODES lists them", node, addr)
		}
		n.Slave = left
		return nil
	})
}

// setPrimary makes another instance, which must answer and, unless force gives a reason, let in, take writes and be no server of another
// node, the primary of a node of the configuration in force. If it was a replica it is none any more; what was the primary is no part of
// the node any more. Transactions go on where they began.
func (a *Admin) setPrimary(w who, node, addr, force string) error {
	return a.editForced(w, "set primary", node+" "+addr, force, func(cfg *config.Config) error {
		c := cfg.Node(node)
		if c == nil {
			return noNode(node)
		}
		if c.Master == addr {
			return failed("%s is the primary of node %q already", addr, node)
		}
		c.Master = addr
		c.Slave, _ = withoutReplica(c.Slave, addr)
		return nil
	})
}

func noNode(name string) error { return failed("there is no node %q: SHOW KS NODES lists them", name) }

// withoutReplica takes a replica out of a list as in the configuration, if it is there.
func withoutReplica(list, addr string) (left string, found bool) {
	var kept []string
	for entry := range strings.SplitSeq(list, ",") {
		one, err := config.Node{Slave: entry}.Replicas()
		if err == nil && len(one) == 1 && one[0].Addr == addr {
			found = true
			continue
		}
		kept = append(kept, strings.TrimSpace(entry))
	}
	return strings.Join(kept, ","), found
}

// nodeRows are those of SHOW KS NODES for one node.
func (a *Admin) nodeRows(node string) [][]any {
	if n := a.shared.Snapshot.Load().Nodes[node]; n != nil {
		return instanceRows(n.Instances())
	}
	return nil
}

func instanceRows(instances []*backend.Instance) (rows [][]any) {
	for _, i := range instances {
		rows = append(rows, instanceRow(i))
	}
	return rows
}
