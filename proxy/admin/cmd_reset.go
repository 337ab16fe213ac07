package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var resetCommand = command{
	verb: "reset", usage: "KS RESET DIGESTS", rights: account.Operate,
	about: "Forgets the statistics of statements",
	run: func(c *call) (*answer, error) {
		if !c.r.Word("digests") {
			return nil, c.r.Expected("DIGESTS")
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return &answer{}, c.a.resetDigests(c.who)
	},
}

// resetDigests forgets the statistics of statements.
func (a *Admin) resetDigests(w change.Who) error {
	return a.Trail.Act(w, account.Operate, "reset digests", "", func() error {
		a.shared.Queries.ResetDigests()
		return nil
	})
}
