package change

import (
	"fmt"
	"sync/atomic"

	"kingshard/backend"
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// Instances are those of the nodes, as an operator takes them out of use. Any goroutine may use it.
type Instances struct {
	snapshot *atomic.Pointer[session.Snapshot]
	server   Server
	trail    *Trail
}

// NewInstances returns the instances of a server.
func NewInstances(snapshot *atomic.Pointer[session.Snapshot], server Server, trail *Trail) *Instances {
	return &Instances{snapshot: snapshot, server: server, trail: trail}
}

// Hold takes instances of a node down until they are taken up again, or up: all, or those at addr; all roles, or the one
// given as primary or replica. It gives the instances.
func (c *Instances) Hold(w Who, node, addr, role string, down bool) (instances []*backend.Instance, err error) {
	what, detail := "node up", node
	if down {
		what = "node down"
	}
	if addr != "" {
		detail = node + " " + addr
	}
	err = c.trail.Act(w, account.Operate, what, detail, func() (err error) {
		c.server.Steady(func() {
			if instances, err = c.find(node, addr, role); err != nil {
				return
			}
			for _, i := range instances {
				i.HoldDown(down)
			}
		})
		return err
	})
	return instances, err
}

// find returns those of a node, at addr and of the role if these are given.
func (c *Instances) find(node, addr, role string) (found []*backend.Instance, err error) {
	n := c.snapshot.Load().Nodes[node]
	if n == nil {
		return nil, noNode(node)
	}
	for _, i := range n.Instances() {
		if (addr == "" || i.Addr == addr) && (role == "" || i.Role.String() == role) {
			found = append(found, i)
		}
	}
	if found == nil {
		return nil, Failed("node %q has no %sat %q: SHOW KS NODES lists them", node, roleWord(role), addr)
	}
	return found, nil
}

func roleWord(role string) string {
	if role == "" {
		return "instance "
	}
	return fmt.Sprintf("%s ", role)
}
