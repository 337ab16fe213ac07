package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

var resumeCommand = command{
	verb: "resume", usage: "KS RESUME", rights: account.Operate,
	about: "Ends KS PAUSE: what waited goes on, under the configuration that is in force now",
	run: func(c *call) (*session.OwnResult, error) {
		if err := c.r.End(); err != nil {
			return nil, err
		}
		if err := c.a.resume(c.who); err != nil {
			return nil, err
		}
		return rowsOf(pauseColumns, c.a.pauseRows(c.who))
	},
}

// resume ends a pause.
func (a *Admin) resume(w change.Who) error {
	return a.Trail.Act(w, account.Operate, "resume", "", func() error {
		a.shared.Pause.End()
		return nil
	})
}
