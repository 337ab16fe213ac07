package predecessor

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

// ofInstance makes a statement about an instance of a node.
func ofInstance(opt, k, about string, r account.Rights, do func(a *Admin, w change.Who, node, addr string) error) *Statement {
	argument := "127.0.0.1:3306"
	if opt == "add" {
		argument += "@2"
	}
	return &Statement{
		region: "node", opt: opt, k: k, argument: argument, About: about, Rights: r,
		run: func(a *Admin, w change.Who, node, addr string) (*session.OwnResult, error) {
			if err := do(a, w, node, addr); err != nil {
				return nil, asBefore(err)
			}
			return new(session.OwnResult), nil
		},
	}
}

var ofInstances = []*Statement{
	ofInstance("add", "slave", "a replica, with its weight behind @", account.Admin, (*Admin).addSlave),
	ofInstance("del", "slave", "takes a replica away", account.Admin, (*Admin).deleteSlave),
	ofInstance("down", "slave", "a replica is not used until it is taken up", account.Operate, (*Admin).downSlave),
	ofInstance("up", "slave", "a replica is used again; one that is not there is added", account.Operate, (*Admin).upSlave),
	ofInstance("down", "master", "the primary is not used until it is taken up", account.Operate, (*Admin).downMaster),
	ofInstance("up", "master", "the primary is used again; another address becomes the primary", account.Operate, (*Admin).upMaster),
}
