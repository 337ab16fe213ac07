package admin

import (
	"strconv"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var forgetCommand = command{
	verb: "forget", usage: "KS FORGET HALF_DONE id | ALL", rights: account.Operate,
	about: "Drops the record of a change of several nodes that somebody has mended; SHOW KS HALF_DONE has the ids",
	run: func(c *call) (*answer, error) {
		if !c.r.Word("half_done") {
			return nil, c.r.Expected("HALF_DONE")
		}
		id, all := uint64(0), c.r.Word("all")
		if !all {
			var ok bool
			if id, ok = c.r.Number(); !ok {
				return nil, c.r.Expected("the id of a record, or ALL")
			}
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return &answer{}, c.a.forgetHalfDone(c.who, id, all)
	},
}

// forgetHalfDone drops the record of a change, or all of them.
func (a *Admin) forgetHalfDone(w change.Who, id uint64, all bool) error {
	detail := "all"
	if !all {
		detail = strconv.FormatUint(id, 10)
	}
	return a.Trail.Act(w, account.Operate, "forget half-done change", detail, func() error {
		if all {
			a.shared.HalfDone.ForgetAll()
			return nil
		}
		if err := a.shared.HalfDone.Forget(id); err != nil {
			return change.Failed("there is no record %d: SHOW KS HALF_DONE lists them", id)
		}
		return nil
	})
}
