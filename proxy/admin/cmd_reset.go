package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

var resetCommand = command{
	verb: "reset", usage: "KS RESET DIGESTS", rights: account.Operate,
	about: "Forgets the statistics of statements",
	run: func(c *call) (*session.OwnResult, error) {
		if !c.r.Word("digests") {
			return nil, c.r.Expected("DIGESTS")
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		if err := c.a.resetDigests(c.who); err != nil {
			return nil, err
		}
		return done(), nil
	},
}

// resetDigests forgets the statistics of statements.
func (a *Admin) resetDigests(w change.Who) error {
	return a.Trail.Act(w, account.Operate, "reset digests", "", func() error {
		a.shared.Queries.ResetDigests()
		return nil
	})
}
