package admin

import (
	"strings"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

// nodeCommand needs the rights operate; what changes the configuration asks for more by itself.
var nodeCommand = command{
	verb: "node", usage: "KS NODE name UP|DOWN ['host:port'] | ADD REPLICA 'host:port' [WEIGHT n] [FORCE 'reason'] | REMOVE REPLICA 'host:port' | SET PRIMARY 'host:port' [FORCE 'reason'] | SWITCHOVER TO 'host:port' [SECONDS n] [FORCE 'reason'] | PAUSE [SECONDS n] [FORCE 'reason'] | RESUME",
	rights: account.Operate,
	about: "Takes a node's instances out of use until they are taken up again, or the one given; or changes the node until the next reload or start, which " +
		"needs the rights admin: statements and transactions under way go on where they are. SWITCHOVER moves the primary's role to a replica while statements wait. PAUSE has statements " +
		"for the node wait until RESUME, and its servers come to rest",
	run: func(c *call) (*answer, error) {
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
		case c.r.Word("switchover"):
			return c.switchover(name)
		case c.r.Word("pause"):
			return c.pauseNode(name)
		case c.r.Word("resume"):
			return c.resumeNode(name)
		}
		down := c.r.Word("down")
		if !down && !c.r.Word("up") {
			return nil, c.r.Expected("UP, DOWN, ADD REPLICA, REMOVE REPLICA, SET PRIMARY, SWITCHOVER TO, PAUSE or RESUME")
		}
		addr := ""
		if !c.r.Ended() {
			if addr, ok = c.r.address(); !ok {
				return nil, c.r.Expected("the address of one instance, as SHOW KS NODES has it")
			}
		}
		return c.a.hold(c.who, name, addr, down)
	},
}

func (c *call) addReplica(node string) (*answer, error) {
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
	return c.a.changed(node, c.a.Configuration.AddReplica(c.who, node, addr, weight, force))
}

func (c *call) removeReplica(node string) (*answer, error) {
	if !c.r.Word("replica") {
		return nil, c.r.Expected("REPLICA")
	}
	addr, ok := c.r.address()
	if !ok {
		return nil, c.r.Expected("the address of the replica, as SHOW KS NODES has it")
	}
	return c.a.changed(node, c.a.Configuration.RemoveReplica(c.who, node, addr))
}

func (c *call) setPrimary(node string) (*answer, error) {
	if !c.r.Word("primary") {
		return nil, c.r.Expected("PRIMARY")
	}
	addr, force, err := c.r.forced()
	if err != nil {
		return nil, err
	}
	return c.a.changed(node, c.a.Configuration.SetPrimary(c.who, node, addr, force))
}

// hold takes instances of a node out of use, or back into it, and shows them.
func (a *Admin) hold(w change.Who, node, addr string, down bool) (*answer, error) {
	instances, err := a.instances.Hold(w, node, addr, "", down)
	return &answer{nodesTable.columns, instanceRows(instances)}, err
}

// changed shows the instances of a node after a change, unless that failed.
func (a *Admin) changed(node string, err error) (*answer, error) {
	shown := &answer{columns: nodesTable.columns}
	if n := a.shared.Snapshot.Load().Nodes[node]; n != nil {
		shown.rows = instanceRows(n.Instances())
	}
	return shown, err
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
