package admin

import (
	"strings"

	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// nodeCommand needs the rights operate; what changes the configuration asks for more by itself.
var nodeCommand = command{
	verb: "node", usage: "KS NODE name UP|DOWN ['host:port'] | ADD REPLICA 'host:port' [WEIGHT n] [FORCE 'reason'] | REMOVE REPLICA 'host:port' | SET PRIMARY 'host:port' [FORCE 'reason']",
	rights: account.Operate,
	about: "Takes a node's instances out of use until they are taken up again, or the one given; or changes the node until the next reload or start, which " +
		"needs the rights admin: statements and transactions under way go on where they are",
	run: func(c *call) (*session.OwnResult, error) {
		name, ok := c.r.name()
		if !ok {
			return nil, c.r.expected("the name of a node")
		}
		switch {
		case c.r.word("add"):
			return c.addReplica(name)
		case c.r.word("remove"):
			return c.removeReplica(name)
		case c.r.word("set"):
			return c.setPrimary(name)
		}
		down := c.r.word("down")
		if !down && !c.r.word("up") {
			return nil, c.r.expected("UP, DOWN, ADD REPLICA, REMOVE REPLICA or SET PRIMARY")
		}
		addr := ""
		if !c.r.ended() {
			if addr, ok = c.r.address(); !ok {
				return nil, c.r.expected("the address of one instance, as SHOW KS NODES has it")
			}
		}
		instances, err := c.a.hold(c.who, name, addr, "", down)
		if err != nil {
			return nil, err
		}
		return rowsOf(nodesTable.columns, instanceRows(instances))
	},
}

func (c *call) addReplica(node string) (*session.OwnResult, error) {
	if !c.r.word("replica") {
		return nil, c.r.expected("REPLICA")
	}
	addr, ok := c.r.name()
	if !ok {
		return nil, c.r.expected("the address in quotes, as 'host:port'")
	}
	weight := uint64(1)
	if c.r.word("weight") {
		if weight, ok = c.r.number(); !ok {
			return nil, c.r.expected("a number from 1")
		}
	}
	force, err := c.r.force()
	if err != nil {
		return nil, err
	}
	if err := c.r.end(); err != nil {
		return nil, err
	}
	if err := c.a.addReplica(c.who, node, addr, weight, force); err != nil {
		return nil, err
	}
	return rowsOf(nodesTable.columns, c.a.nodeRows(node))
}

func (c *call) removeReplica(node string) (*session.OwnResult, error) {
	if !c.r.word("replica") {
		return nil, c.r.expected("REPLICA")
	}
	addr, ok := c.r.address()
	if !ok {
		return nil, c.r.expected("the address of the replica, as SHOW KS NODES has it")
	}
	if err := c.a.removeReplica(c.who, node, addr); err != nil {
		return nil, err
	}
	return rowsOf(nodesTable.columns, c.a.nodeRows(node))
}

func (c *call) setPrimary(node string) (*session.OwnResult, error) {
	if !c.r.word("primary") {
		return nil, c.r.expected("PRIMARY")
	}
	addr, force, err := c.r.forced()
	if err != nil {
		return nil, err
	}
	if err := c.a.setPrimary(c.who, node, addr, force); err != nil {
		return nil, err
	}
	return rowsOf(nodesTable.columns, c.a.nodeRows(node))
}

// forced reads the rest of the statement: an address, with FORCE and its reason behind it only if it is in quotes.
func (r *reader) forced() (addr, force string, err error) {
	before := *r
	addr, ok := r.name()
	if ok {
		if force, err = r.force(); force != "" || err != nil {
			if err == nil {
				err = r.end()
			}
			return addr, force, err
		}
	}
	*r = before
	if addr, ok = r.address(); !ok {
		return "", "", r.expected("the address of the new primary, as 'host:port', and perhaps FORCE 'reason'")
	}
	return addr, "", nil
}

// force reads FORCE and the reason; it gives "" where there is no FORCE.
func (r *reader) force() (reason string, err error) {
	if !r.word("force") {
		return "", nil
	}
	reason, ok := r.value()
	if !ok || strings.TrimSpace(reason) == "" {
		return "", r.expected("the reason, in quotes")
	}
	return reason, nil
}

// address reads the rest of the statement: an address in quotes, or without any.
func (r *reader) address() (addr string, ok bool) {
	before := *r
	if addr, ok = r.name(); ok && r.ended() {
		return addr, true
	}
	*r = before
	addr = r.rest()
	return addr, addr != "" && !strings.ContainsAny(addr, " \t\r\n'\"`;")
}
