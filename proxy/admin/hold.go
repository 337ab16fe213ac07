package admin

import (
	"fmt"

	"kingshard/backend"
	"kingshard/proxy/account"
)

// hold takes instances of a node down until they are taken up again, or up: all, or those at addr; all roles, or the one
// given as primary or replica. It gives the instances.
func (a *Admin) hold(w who, node, addr, role string, down bool) (instances []*backend.Instance, err error) {
	what, detail := "node up", node
	if down {
		what = "node down"
	}
	if addr != "" {
		detail = node + " " + addr
	}
	err = a.act(w, account.Operate, what, detail, func() (err error) {
		a.server.Steady(func() {
			if instances, err = a.instances(node, addr, role); err != nil {
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

// instances finds those of a node, at addr and of the role if these are given.
func (a *Admin) instances(node, addr, role string) (found []*backend.Instance, err error) {
	n := a.shared.Snapshot.Load().Nodes[node]
	if n == nil {
		return nil, noNode(node)
	}
	for _, i := range n.Instances() {
		if (addr == "" || i.Addr == addr) && (role == "" || i.Role.String() == role) {
			found = append(found, i)
		}
	}
	if found == nil {
		return nil, failed("node %q has no %sat %q: SHOW KS NODES lists them", node, roleWord(role), addr)
	}
	return found, nil
}

func roleWord(role string) string {
	if role == "" {
		return "instance "
	}
	return fmt.Sprintf("%s ", role)
}
