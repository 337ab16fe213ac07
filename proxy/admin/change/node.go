package change

import (
	"fmt"
	"strings"

	"kingshard/config"
	"kingshard/proxy/account"
)

// AddReplica adds a replica to a node of the configuration in force. It need not answer yet, but must be no server of another node unless
// force gives a reason.
func (c *Configuration) AddReplica(w Who, node, addr string, weight uint64, force string) error {
	return c.EditForced(w, "add replica", fmt.Sprintf("%s %s weight %d", node, addr, weight), force, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return noNode(node)
		}
		entry := fmt.Sprintf("%s@%d", addr, weight)
		if added, err := (config.Node{Slave: entry}).Replicas(); err != nil {
			return Failed("%v", err)
		} else if len(added) != 1 {
			return Failed("%q: give the address of one instance", addr)
		}
		if _, found := WithoutReplica(n.Slave, addr); found {
			return Failed("node %q has a replica at %q already: REMOVE it first to change its weight", node, addr)
		}
		n.Slave = WithReplica(n.Slave, entry)
		return nil
	})
}

// RemoveReplica takes a replica out of a node of the configuration in force. Statements that run on it end there.
func (c *Configuration) RemoveReplica(w Who, node, addr string) error {
	return c.Edit(w, "remove replica", node+" "+addr, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return noNode(node)
		}
		left, found := WithoutReplica(n.Slave, addr)
		if !found {
			return Failed("node %q has no replica at %q: SHOW KS NODES lists them", node, addr)
		}
		n.Slave = left
		return nil
	})
}

// SetPrimary makes another instance, which must answer and, unless force gives a reason, let in, take writes and be no server of another
// node, the primary of a node of the configuration in force. If it was a replica it is none any more; what was the primary is no part of
// the node any more. Transactions go on where they began.
func (c *Configuration) SetPrimary(w Who, node, addr, force string) error {
	return c.EditForced(w, "set primary", node+" "+addr, force, func(cfg *config.Config) error {
		n := cfg.Node(node)
		if n == nil {
			return noNode(node)
		}
		if n.Master == addr {
			return Failed("%s is the primary of node %q already", addr, node)
		}
		n.Master = addr
		n.Slave, _ = WithoutReplica(n.Slave, addr)
		return nil
	})
}

// Follow gives the role of a node's primary to one of its replicas, as its servers say; why is their reason. What was the primary stays as a replica.
func (c *Configuration) Follow(node, addr, why string) error {
	return c.trail.Act(Itself, account.Admin, "primary followed", fmt.Sprintf("%s %s: %s", node, addr, why), func() error {
		return c.server.ChangeNode(Itself.by(), node, true, func(n *config.Node) error {
			if n.Master != addr && !n.Promote(addr) {
				return Failed("node %q has no replica at %s any more", node, addr)
			}
			return nil
		})
	})
}

// Discovered has replicas come to a node and go from it, as its servers say; one that comes must be no server of another node.
func (c *Configuration) Discovered(node string, come, gone []string) error {
	var detail []string
	for _, addr := range come {
		detail = append(detail, addr+" comes")
	}
	for _, addr := range gone {
		detail = append(detail, addr+" goes")
	}
	return c.trail.Act(Itself, account.Admin, "replicas discovered", node+": "+strings.Join(detail, ", "), func() error {
		return c.server.ChangeNode(Itself.by(), node, false, func(n *config.Node) error {
			for _, addr := range come {
				if _, found := WithoutReplica(n.Slave, addr); !found && addr != n.Master {
					n.Slave = WithReplica(n.Slave, addr)
				}
			}
			for _, addr := range gone {
				n.Slave, _ = WithoutReplica(n.Slave, addr)
			}
			return nil
		})
	})
}

func noNode(name string) error { return Failed("there is no node %q: SHOW KS NODES lists them", name) }

// WithoutReplica takes a replica out of a list as in the configuration, if it is there.
func WithoutReplica(list, addr string) (left string, found bool) {
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

// WithReplica returns a list as in the configuration with an entry more.
func WithReplica(list, entry string) string {
	if strings.TrimSpace(list) == "" {
		return entry
	}
	return list + "," + entry
}
