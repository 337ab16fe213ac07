package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var upgradeCommand = command{
	verb: "upgrade", usage: "KS UPGRADE", rights: account.Operate,
	about: "Starts the binary's file, which may be a new one, and hands listeners and sessions over to its process",
	run: func(c *call) (*answer, error) {
		if err := c.r.End(); err != nil {
			return nil, err
		}
		successor, err := c.a.upgrade(c.who)
		return &answer{texts("successor"), [][]any{{successor}}}, err
	},
}

// upgrade hands over to the process of another binary.
func (a *Admin) upgrade(w change.Who) (successor string, err error) {
	err = a.Trail.Act(w, account.Operate, "upgrade", "", func() error {
		if err := a.Configuration.RefuseUpgrade(); err != nil {
			return err
		}
		var err error
		if successor, err = a.server.Upgrade(); err != nil {
			return change.Failed("upgrade refused, this process goes on: %v", err)
		}
		return nil
	})
	return successor, err
}

// Upgrade is an upgrade that a signal asked for.
func (a *Admin) Upgrade() error {
	_, err := a.upgrade(change.Itself)
	return err
}
