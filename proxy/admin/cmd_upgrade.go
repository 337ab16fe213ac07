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
		if err := a.refuseFile(); err != nil {
			return err
		}
		var err error
		if successor, err = a.server.Upgrade(); err != nil {
			return failed("upgrade refused, this process goes on: %v", err)
		}
		return nil
	})
	return successor, err
}

// refuseFile gives an error where a reload of the file, which the other process is to read, would be refused for what that process does
// not see: it places rows elsewhere than the configuration in force does, or has primaries that are not fit.
func (a *Admin) refuseFile() error {
	if a.file.Load().Path == "" {
		return nil
	}
	l, _, err := a.load()
	if err != nil {
		return nil // the other process says what is wrong
	}
	for _, c := range l.changes {
		if c.elsewhere {
			return failed("upgrade refused, this process goes on: %s %s; KS RELOAD FORCE 'reason' comes first", c.Path, elsewhereNote)
		}
	}
	if unfit := a.server.Unfit(l.cfg); len(unfit) > 0 {
		return failed("upgrade refused, this process goes on: %v; KS RELOAD FORCE 'reason' comes first", unfit)
	}
	return nil
}

// Upgrade is an upgrade that a signal asked for.
func (a *Admin) Upgrade() error {
	_, err := a.upgrade(itself)
	return err
}
