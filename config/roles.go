package config

import "strings"

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

// KeepPrimaries has the configuration go on with the primaries of the one in force where nodes follow the roles of their servers: there the file says which
// servers a node has, and where to begin. It returns the names of the nodes whose primary the file has otherwise.
func (c *Config) KeepPrimaries(now *Config) (nodes []string) {
	for k := range c.Nodes {
		n := &c.Nodes[k]
		if was := now.Node(n.Name); was != nil && n.FollowsRoles() && n.Master != was.Master && n.Promote(was.Master) {
			nodes = append(nodes, n.Name)
		}
	}
	return nodes
}
