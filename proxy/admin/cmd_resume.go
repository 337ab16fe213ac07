package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var resumeCommand = command{
	verb: "resume", usage: "KS RESUME", rights: account.Operate,
	about: "Ends KS PAUSE: what waited goes on, under the configuration that is in force now",
	run: func(c *call) (*answer, error) {
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return c.a.resume(c.who)
	},
}

// resume ends a pause.
func (a *Admin) resume(w change.Who) (*answer, error) {
	err := a.Trail.Act(w, account.Operate, "resume", "", func() error {
		a.shared.Pause.End()
		return nil
	})
	return a.paused(w), err
}
