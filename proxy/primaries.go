package proxy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/admin"
)

// Unfit lists the primaries of a configuration that are new, or reached otherwise than those in force, and do not answer. One that takes
// the place of another must also take writes and be no server of another node. It takes connect_timeout at most, and nothing
// where no primary changes.
func (s *Server) Unfit(cfg *config.Config) admin.Unfits {
	next, err := backend.Open(cfg)
	if err != nil {
		return nil // which is an error of its own
	}
	defer closeNodes(next)
	return s.unfit(cfg, next)
}

// refused lists those that are not taken this way, as an error; next are the configuration's nodes.
func (s *Server) refused(cfg *config.Config, next map[string]*backend.Node, how reloading) error {
	if how.anyPrimary {
		return nil
	}
	unfit := s.unfit(cfg, next)
	if how.answering {
		unfit = slices.DeleteFunc(unfit, func(u *admin.Unfit) bool { return u.Err == nil })
	}
	if len(unfit) == 0 {
		return nil
	}
	return unfit
}

func (s *Server) unfit(cfg *config.Config, next map[string]*backend.Node) admin.Unfits {
	now := s.shared.Snapshot.Load()
	var candidates []*candidate
	moved := false
	for _, nc := range cfg.Nodes {
		old := now.Config.Node(nc.Name)
		if old != nil && old.LogsInAs(nc) {
			continue
		}
		c := &candidate{server: server{node: nc.Name, addr: nc.Master}}
		if old != nil {
			c.was = old.Master
		}
		moved = moved || c.moves()
		candidates = append(candidates, c)
	}
	if len(candidates) == 0 {
		return nil
	}
	deadline := time.Now().Add(cfg.ConnectTimeout.Duration())
	var asking sync.WaitGroup
	for _, c := range candidates {
		asking.Go(func() { c.found, c.err = next[c.node].Primary.Inspect(deadline) })
	}
	var have []*server
	if moved {
		for _, n := range now.Nodes {
			for _, i := range n.Instances() {
				one := &server{node: i.Node, addr: i.Addr}
				have = append(have, one)
				asking.Go(func() { one.found, _ = i.Inspect(deadline) })
			}
		}
	}
	asking.Wait()
	return judge(candidates, have)
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

// candidate is a server that is to be a node's primary.
type candidate struct {
	server
	was string // the address of the primary in force; "" of a new node
	err error  // why it cannot be reached
}

// moves tells whether the node has another primary now.
func (c *candidate) moves() bool { return c.was != "" && c.was != c.addr }

// judge tells which of the candidates are not fit, by the servers that nodes have. Nodes that share a server already may go on to.
func judge(candidates []*candidate, have []*server) (unfit admin.Unfits) {
	all := slices.Clip(have)
	for _, c := range candidates {
		all = append(all, &c.server)
	}
	for _, c := range candidates {
		u := &admin.Unfit{Node: c.node, Addr: c.addr, Was: c.was, Err: c.err}
		other := c.otherNode(all, have)
		switch {
		case c.err != nil:
			u.Why = "cannot be reached"
		case !c.moves():
			continue
		case other != nil:
			u.Why = fmt.Sprintf("is a server of node %q, which has it as %s", other.node, other.addr)
			if other.addr != c.addr {
				u.Why += " (" + c.found.Server + ")"
			}
		case len(c.found.ReadOnly) > 0:
			u.Why = "takes no writes, " + strings.Join(c.found.ReadOnly, " and ") + " is set there"
		default:
			continue
		}
		unfit = append(unfit, u)
	}
	return unfit
}

// otherNode gives the same server in a node that has none in common with the candidate's so far; nil without one.
func (c *candidate) otherNode(all, have []*server) *server {
	for _, other := range all {
		if other.node != c.node && other.same(&c.server) && !share(have, c.node, other.node) {
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
