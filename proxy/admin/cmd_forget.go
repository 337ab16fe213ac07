package admin

import (
	"strconv"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var forgetCommand = command{
	verb: "forget", usage: "KS FORGET HALF_DONE | INCIDENT id | ALL", rights: account.Operate,
	about: "Drops the record of what somebody has mended, a change of several nodes or an incident; SHOW KS HALF_DONE and SHOW KS INCIDENTS have the ids",
	run: func(c *call) (*answer, error) {
		forget := c.a.forgetHalfDone
		if !c.r.Word("half_done") {
			if !c.r.Word("incident") {
				return nil, c.r.Expected("HALF_DONE or INCIDENT")
			}
			forget = c.a.forgetIncident
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
		return &answer{}, forget(c.who, id, all)
	},
}

// forgetHalfDone drops the record of a change, or all of them.
func (a *Admin) forgetHalfDone(w change.Who, id uint64, all bool) error {
	return a.Trail.Act(w, account.Operate, "forget half-done change", idOrAll(id, all), func() error {
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

// forgetIncident closes an incident, or all of them.
func (a *Admin) forgetIncident(w change.Who, id uint64, all bool) error {
	return a.Trail.Act(w, account.Operate, "forget incident", idOrAll(id, all), func() error {
		if all {
			a.shared.Atomic.Incidents.ForgetAll()
			return nil
		}
		if !a.shared.Atomic.Incidents.Forget(id) {
			return change.Failed("there is no incident %d: SHOW KS INCIDENTS lists them", id)
		}
		return nil
	})
}

func idOrAll(id uint64, all bool) string {
	if all {
		return "all"
	}
	return strconv.FormatUint(id, 10)
}
