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
		name, ok := c.r.Name()
		if !ok {
			return nil, c.r.Expected("the name of a node")
		}
		switch {
		case c.r.Word("add"):
			return c.addReplica(name)
		case c.r.Word("remove"):
			return c.removeReplica(name)
		case c.r.Word("set"):
			return c.setPrimary(name)
		}
		down := c.r.Word("down")
		if !down && !c.r.Word("up") {
			return nil, c.r.Expected("UP, DOWN, ADD REPLICA, REMOVE REPLICA or SET PRIMARY")
		}
		addr := ""
		if !c.r.Ended() {
			if addr, ok = c.r.address(); !ok {
				return nil, c.r.Expected("the address of one instance, as SHOW KS NODES has it")
			}
		}
		instances, err := c.a.instances.Hold(c.who, name, addr, "", down)
		if err != nil {
			return nil, err
		}
		return rowsOf(nodesTable.columns, instanceRows(instances))
	},
}

func (c *call) addReplica(node string) (*session.OwnResult, error) {
	if !c.r.Word("replica") {
		return nil, c.r.Expected("REPLICA")
	}
	addr, ok := c.r.Name()
	if !ok {
		return nil, c.r.Expected("the address in quotes, as 'host:port'")
	}
	weight := uint64(1)
	if c.r.Word("weight") {
		if weight, ok = c.r.Number(); !ok {
			return nil, c.r.Expected("a number from 1")
		}
	}
	force, err := c.r.force()
	if err != nil {
		return nil, err
	}
	if err := c.r.End(); err != nil {
		return nil, err
	}
	if err := c.a.Configuration.AddReplica(c.who, node, addr, weight, force); err != nil {
		return nil, err
	}
	return rowsOf(nodesTable.columns, c.a.nodeRows(node))
}

func (c *call) removeReplica(node string) (*session.OwnResult, error) {
	if !c.r.Word("replica") {
		return nil, c.r.Expected("REPLICA")
	}
	addr, ok := c.r.address()
	if !ok {
		return nil, c.r.Expected("the address of the replica, as SHOW KS NODES has it")
	}
	if err := c.a.Configuration.RemoveReplica(c.who, node, addr); err != nil {
		return nil, err
	}
	return rowsOf(nodesTable.columns, c.a.nodeRows(node))
}

func (c *call) setPrimary(node string) (*session.OwnResult, error) {
	if !c.r.Word("primary") {
		return nil, c.r.Expected("PRIMARY")
	}
	addr, force, err := c.r.forced()
	if err != nil {
		return nil, err
	}
	if err := c.a.Configuration.SetPrimary(c.who, node, addr, force); err != nil {
		return nil, err
	}
	return rowsOf(nodesTable.columns, c.a.nodeRows(node))
}

// forced reads the rest of the statement: an address, with FORCE and its reason behind it only if it is in quotes.
func (r *reader) forced() (addr, force string, err error) {
	before := *r
	addr, ok := r.Name()
	if ok {
		if force, err = r.force(); force != "" || err != nil {
			if err == nil {
				err = r.End()
			}
			return addr, force, err
		}
	}
	*r = before
	if addr, ok = r.address(); !ok {
		return "", "", r.Expected("the address of the new primary, as 'host:port', and perhaps FORCE 'reason'")
	}
	return addr, "", nil
}

// force reads FORCE and the reason; it gives "" where there is no FORCE.
func (r *reader) force() (reason string, err error) {
	if !r.Word("force") {
		return "", nil
	}
	reason, ok := r.Value()
	if !ok || strings.TrimSpace(reason) == "" {
		return "", r.Expected("the reason, in quotes")
	}
	return reason, nil
}

// address reads the rest of the statement: an address in quotes, or without any.
func (r *reader) address() (addr string, ok bool) {
	before := *r
	if addr, ok = r.Name(); ok && r.Ended() {
		return addr, true
	}
	*r = before
	addr = r.Rest()
	return addr, addr != "" && !strings.ContainsAny(addr, " \t\r\n'\"`;")
}
