package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

var resetCommand = command{
	verb: "reset", usage: "KS RESET DIGESTS", rights: account.Operate,
	about: "Forgets the statistics of statements",
	run: func(c *call) (*session.OwnResult, error) {
		if !c.r.word("digests") {
			return nil, c.r.expected("DIGESTS")
		}
		if err := c.r.end(); err != nil {
			return nil, err
		}
		if err := c.a.resetDigests(c.who); err != nil {
			return nil, err
		}
		return done(), nil
	},
}

// resetDigests forgets the statistics of statements.
func (a *Admin) resetDigests(w who) error {
	return a.act(w, account.Operate, "reset digests", "", func() error {
		a.shared.Queries.ResetDigests()
		return nil
	})
}
