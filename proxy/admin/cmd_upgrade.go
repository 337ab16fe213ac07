package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

var upgradeCommand = command{
	verb: "upgrade", usage: "KS UPGRADE", rights: account.Operate,
	about: "Starts the binary's file, which may be a new one, and hands listeners and sessions over to its process",
	run: func(c *call) (*session.OwnResult, error) {
		if err := c.r.end(); err != nil {
			return nil, err
		}
		successor, err := c.a.upgrade(c.who)
		if err != nil {
			return nil, err
		}
		return rowsOf(texts("successor"), [][]any{{successor}})
	},
}

// upgrade hands over to the process of another binary.
func (a *Admin) upgrade(w who) (successor string, err error) {
	err = a.act(w, account.Operate, "upgrade", "", func() error {
		var err error
		if successor, err = a.server.Upgrade(); err != nil {
			return failed("upgrade refused, this process goes on: %v", err)
		}
		return nil
	})
	return successor, err
}

// Upgrade is an upgrade that a signal asked for.
func (a *Admin) Upgrade() error {
	_, err := a.upgrade(itself)
	return err
}
