package config

import (
	"fmt"
	"slices"
	"strings"
)

// The values of roles and on_diverged of a node.
const (
	rolesAuto     = "auto"
	rolesFixed    = "fixed"
	divergedHold  = "hold"
	divergedServe = "serve"
)

// FollowsRoles reports whether the node's primary is the server that has the role, whatever the configuration names.
func (n Node) FollowsRoles() bool {
	return n.Roles != rolesFixed && strings.TrimSpace(n.Slave) != ""
}

// ServesDiverged reports whether a new primary serves that lacks transactions of the one before.
func (n Node) ServesDiverged() bool { return n.OnDiverged == divergedServe }

// Promote makes a replica the primary. What was the primary takes the place of the replica, with its weight. It reports whether there was such
// a replica.
func (n *Node) Promote(addr string) bool {
	var list []string
	found, listed := false, false
	for entry := range strings.SplitSeq(n.Slave, ",") {
		if strings.TrimSpace(entry) == discover {
			list = append(list, discover)
			continue
		}
		one, err := Node{Slave: entry}.Replicas()
		if err != nil || len(one) != 1 {
			continue
		}
		listed = listed || one[0].Addr == n.Master
		if one[0].Addr == addr {
			found = true
			entry = strings.Replace(entry, addr, n.Master, 1)
		}
		list = append(list, strings.TrimSpace(entry))
	}
	if !found {
		return false
	}
	if !listed { // else both have their shares of reads already
		n.Slave = strings.Join(list, ",")
	}
	n.Master = addr
	return true
}

// keepReplicas adds the servers of the node in force that the node lacks: they have been discovered, or the file has dropped them, and they go as they are not
// replicas any more.
func (n *Node) keepReplicas(now *Node) {
	have, err := n.Replicas()
	if err != nil {
		return
	}
	was, _ := now.Replicas()
	for _, r := range append(was, Replica{now.Master, 1}) {
		if r.Addr != n.Master && !slices.ContainsFunc(have, func(one Replica) bool { return one.Addr == r.Addr }) {
			n.Slave += fmt.Sprintf(",%s@%d", r.Addr, r.Weight)
		}
	}
}

// KeepPrimaries has the configuration go on with the primaries of the one in force where nodes follow the roles of their servers: there the file says which
// servers a node has, beside those that were discovered, and where to begin. It returns the names of the nodes whose primary the file has otherwise.
func (c *Config) KeepPrimaries(now *Config) (nodes []string) {
	for k := range c.Nodes {
		n := &c.Nodes[k]
		was := now.Node(n.Name)
		if was != nil && n.Discovers() && was.Discovers() {
			n.keepReplicas(was)
		}
		if was != nil && n.FollowsRoles() && n.Master != was.Master && n.Promote(was.Master) {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}
