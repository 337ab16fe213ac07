package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/admin/change"
	"kingshard/router"
)

// Unfit lists the servers that are new in a configuration and not fit for their places. A primary that is new, or reached otherwise than
// the one in force, must answer; one that takes the place of another must also take writes. Neither that one nor a new replica may be a
// server of another node, nor may a table of a rule be there twice since nodes are one server. It takes connect_timeout at most, less where the server stops, and nothing where no server is new.
func (s *Server) Unfit(cfg *config.Config) change.Unfits {
	if len(candidatesOf(s.Config(), cfg)) == 0 {
		return nil
	}
	next, err := backend.Open(cfg)
	if err != nil {
		return nil // which is an error of its own
	}
	defer closeNodes(next)
	return s.unfit(cfg, next)
}

// unfit lists the servers that are new in a configuration and not fit for their places; next are the configuration's nodes.
func (s *Server) unfit(cfg *config.Config, next map[string]*backend.Node) change.Unfits {
	now := s.shared.Snapshot.Load()
	candidates := candidatesOf(now.Config, cfg)
	ctx, cancel := context.WithTimeout(context.Background(), cfg.ConnectTimeout.Duration())
	var stopping sync.WaitGroup
	defer stopping.Wait()
	defer cancel()
	stopping.Go(func() {
		select {
		case <-s.stop:
			cancel()
		case <-ctx.Done():
		}
	})
	var asking sync.WaitGroup
	compared := false
	for _, c := range candidates {
		compared = compared || c.replica || c.newNode || c.moves()
		asking.Go(func() { c.found, c.err = instanceAt(next[c.node], c.addr).Inspect(ctx) })
	}
	var have []*server
	if compared {
		for _, n := range now.Nodes {
			for _, i := range n.Instances() {
				one := &server{node: i.Node, addr: i.Addr}
				have = append(have, one)
				asking.Go(func() { one.found, _ = i.Inspect(ctx) })
			}
		}
	}
	asking.Wait()
	unfit := judge(cfg, candidates, have)
	for _, c := range candidates {
		if c.err == nil && !c.replica && (c.newNode || c.moves()) && !slices.ContainsFunc(unfit, func(u *change.Unfit) bool { return u.Node == c.node && u.Addr == c.addr }) {
			if why := c.doubles(now.Config, cfg, candidates, have); why != nil {
				unfit = append(unfit, &change.Unfit{Node: c.node, Addr: c.addr, Was: c.was, Why: "would have tables twice: " + why.Error()})
			}
		}
	}
	return unfit
}

// doubles tells which physical table rules of a configuration have twice if the candidate is a node's primary: other nodes have the same server
// under other addresses. What the configuration in force has twice on it already may go on to be.
func (c *candidate) doubles(now, cfg *config.Config, candidates []*candidate, have []*server) error {
	all := slices.Clip(have)
	for _, other := range candidates {
		all = append(all, &other.server)
	}
	servers := map[string]string{}
	for _, n := range cfg.Nodes {
		if one := primaryOf(cfg, all, n.Name); one != nil && one.same(&c.server) {
			servers[n.Name] = c.addr
		}
	}
	if doubled(now, servers) != nil {
		return nil
	}
	return doubled(cfg, servers)
}

// doubled tells which physical table rules have twice, given on which servers nodes are that are not those of nodes that are missing there.
func doubled(cfg *config.Config, servers map[string]string) error {
	for _, sc := range cfg.SchemaList {
		if _, err := router.New(sc, router.Options{Zone: time.Local, Servers: servers}); err != nil {
			return err
		}
	}
	return nil
}

// instanceAt gives the instance of a node that has it.
func instanceAt(n *backend.Node, addr string) *backend.Instance {
	all := n.Instances()
	return all[slices.IndexFunc(all, func(i *backend.Instance) bool { return i.Addr == addr })]
}

// refused lists those of unfit that are not taken this way, as an error.
func (how reloading) refused(unfit change.Unfits) error {
	if how.answering {
		unfit = slices.DeleteFunc(unfit, (*change.Unfit).Answers)
	}
	if len(unfit) == 0 {
		return nil
	}
	return unfit
}

// server is an instance of a node, and what it said; what it did not say is empty.
type server struct {
	node, addr string
	found      backend.Inspection
}

// same tells whether two instances are one server.
func (s *server) same(other *server) bool {
	return s.addr == other.addr || s.found.Server != "" && s.found.Server == other.found.Server
}

// candidate is a server that is to be a node's primary, or a replica that it has not had.
type candidate struct {
	server
	replica bool
	newNode bool   // the node is in the next configuration only
	was     string // the address of the primary in force; "" of a new node
	err     error  // why it cannot be reached
}

// moves tells whether the node has another primary now.
func (c *candidate) moves() bool { return !c.replica && c.was != "" && c.was != c.addr }

// candidatesOf lists the servers of the next configuration that have to be asked. Where there is one node only its replicas are not.
func candidatesOf(now, next *config.Config) (all []*candidate) {
	for _, nc := range next.Nodes {
		old := now.Node(nc.Name)
		was := ""
		if old != nil {
			was = old.Master
		}
		if old == nil || !old.LogsInAs(nc) {
			all = append(all, &candidate{server: server{node: nc.Name, addr: nc.Master}, newNode: old == nil, was: was})
		}
		if len(next.Nodes) == 1 {
			continue
		}
		had := []string{was, nc.Master}
		if old != nil {
			had = append(had, addresses(*old)...)
		}
		for _, addr := range addresses(nc) {
			if !slices.Contains(had, addr) {
				all = append(all, &candidate{server: server{node: nc.Name, addr: addr}, replica: true, newNode: old == nil, was: was})
			}
		}
	}
	return all
}

// addresses are those of a node's replicas.
func addresses(n config.Node) (addrs []string) {
	replicas, _ := n.Replicas()
	for _, r := range replicas {
		addrs = append(addrs, r.Addr)
	}
	return addrs
}

// judge tells which of the candidates for the next configuration are not fit, by the servers that nodes have. Nodes that share a server
// already may go on to.
func judge(next *config.Config, candidates []*candidate, have []*server) (unfit change.Unfits) {
	all := slices.Clip(have)
	for _, c := range candidates {
		all = append(all, &c.server)
	}
	for _, c := range candidates {
		u := &change.Unfit{Node: c.node, Addr: c.addr, Was: c.was, Replica: c.replica, Err: c.err}
		other := c.otherNode(next, all, have)
		switch {
		case c.replica:
			if other == nil {
				continue // it need not answer yet
			}
			u.Err = nil
		case c.err != nil:
			u.Why = "cannot be reached"
		case !c.moves():
			continue
		}
		switch {
		case u.Why != "":
		case other != nil:
			u.Why = fmt.Sprintf("is a server of node %q, which has it as %s", other.node, other.addr)
			if other.addr != c.addr {
				u.Why += " (" + c.found.Server + ")"
			}
		case c.found.Refused != nil:
			u.Why, u.Err = "does not tell whether it takes writes", c.found.Refused
		case len(c.found.ReadOnly) > 0:
			u.Why = "takes no writes, " + strings.Join(c.found.ReadOnly, " and ") + " is set there"
		default:
			continue
		}
		unfit = append(unfit, u)
	}
	return unfit
}

// otherNode gives the same server in a node that has none in common with the candidate's; nil without one. For a new node those count that
// go on to be, and a replica may be shared where primaries are.
func (c *candidate) otherNode(next *config.Config, all, have []*server) *server {
	for _, other := range all {
		switch {
		case other.node == c.node || !other.same(&c.server) || share(have, c.node, other.node):
		case c.newNode && next.Node(other.node) == nil:
		case c.replica && onePrimary(next, all, c.node, other.node):
		default:
			return other
		}
	}
	return nil
}

// share tells whether two nodes have a server in common.
func share(have []*server, a, b string) bool {
	for _, x := range have {
		for _, y := range have {
			if x.node == a && y.node == b && x.same(y) {
				return true
			}
		}
	}
	return false
}

// onePrimary tells whether two nodes of a configuration have the same server as their primary.
func onePrimary(next *config.Config, all []*server, a, b string) bool {
	x, y := primaryOf(next, all, a), primaryOf(next, all, b)
	return x != nil && y != nil && x.same(y)
}

// primaryOf finds a node's primary; nil where it is not among all.
func primaryOf(next *config.Config, all []*server, node string) *server {
	n := next.Node(node)
	if n == nil {
		return nil
	}
	for _, one := range all {
		if one.node == node && one.addr == n.Master {
			return one
		}
	}
	return nil
}
