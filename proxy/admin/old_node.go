package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

// oldNode makes a statement about an instance of a node.
func oldNode(opt, k, about string, r account.Rights, change func(a *Admin, w who, node, addr string) error) *oldStatement {
	argument := "127.0.0.1:3306"
	if opt == "add" {
		argument += "@2"
	}
	return &oldStatement{
		region: "node", opt: opt, k: k, argument: argument, about: about, rights: r,
		run: func(c *call, node, addr string) (*session.OwnResult, error) {
			if err := change(c.a, c.who, node, addr); err != nil {
				return nil, oldError(err)
			}
			return done(), nil
		},
	}
}

var oldNodes = []*oldStatement{
	oldNode("add", "slave", "a replica, with its weight behind @", account.Admin, (*Admin).addSlave),
	oldNode("del", "slave", "takes a replica away", account.Admin, (*Admin).deleteSlave),
	oldNode("down", "slave", "a replica is not used until it is taken up", account.Operate, (*Admin).downSlave),
	oldNode("up", "slave", "a replica is used again; one that is not there is added", account.Operate, (*Admin).upSlave),
	oldNode("down", "master", "the primary is not used until it is taken up", account.Operate, (*Admin).downMaster),
	oldNode("up", "master", "the primary is used again; another address becomes the primary", account.Operate, (*Admin).upMaster),
}
