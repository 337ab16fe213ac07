package admin

import (
	"strings"

	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

var nodeCommand = command{
	verb: "node", usage: "KS NODE name UP|DOWN ['host:port']", rights: account.Operate,
	about: "Takes a node's instances out of use until they are taken up again, or the one given; its idle connections are closed",
	run: func(c *call) (*session.OwnResult, error) {
		name, ok := c.r.name()
		if !ok {
			return nil, c.r.expected("the name of a node")
		}
		down := c.r.word("down")
		if !down && !c.r.word("up") {
			return nil, c.r.expected("UP or DOWN")
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
		var rows [][]any
		for _, i := range instances {
			rows = append(rows, instanceRow(i))
		}
		return rowsOf(nodesTable.columns, rows)
	},
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
