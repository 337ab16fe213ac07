package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var resetCommand = command{
	verb: "reset", usage: "KS RESET DIGESTS | KEYS", rights: account.Operate,
	about: "Forgets the statistics of statements, or the keys of statements",
	run: func(c *call) (*answer, error) {
		reset := (*Admin).resetDigests
		switch {
		case c.r.Word("digests"):
		case c.r.Word("keys"):
			reset = (*Admin).resetKeys
		default:
			return nil, c.r.Expected("DIGESTS or KEYS")
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return &answer{}, reset(c.a, c.who)
	},
}

// resetKeys forgets by which keys statements were routed.
func (a *Admin) resetKeys(w change.Who) error {
	return a.Trail.Act(w, account.Operate, "reset keys", "", func() error {
		a.shared.HotKeys.Reset()
		return nil
	})
}

// resetDigests forgets the statistics of statements.
func (a *Admin) resetDigests(w change.Who) error {
	return a.Trail.Act(w, account.Operate, "reset digests", "", func() error {
		a.shared.Queries.ResetDigests()
		return nil
	})
}
