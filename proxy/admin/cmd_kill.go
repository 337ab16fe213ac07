package admin

import (
	"strconv"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/process"
)

var killCommand = command{
	verb: "kill", usage: "KS KILL [QUERY] id", rights: account.Operate,
	about: "Ends a client's session, or only its statement; SHOW KS SESSIONS has the ids",
	run: func(c *call) (*answer, error) {
		query := c.r.Word("query")
		id, ok := c.r.Number()
		if !ok {
			return nil, c.r.Expected("the id of a session")
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return &answer{}, c.a.kill(c.who, id, query)
	},
}

// kill ends a session, or only its statement.
func (a *Admin) kill(w change.Who, id uint64, query bool) error {
	what := "kill"
	if query {
		what = "kill query"
	}
	return a.Trail.Act(w, account.Operate, what, strconv.FormatUint(id, 10), func() error {
		var victim *process.Entry
		if id <= 1<<32-1 {
			victim = a.shared.Sessions.Get(uint32(id))
		}
		switch {
		case victim == nil:
			return change.Failed("there is no session %d: SHOW KS SESSIONS lists them", id)
		case w.Session == victim.ID():
			return change.Failed("session %d is the one that asks", id)
		}
		if !victim.Interrupt(!query) {
			return change.Failed("session %d is another process's: ask that one", id)
		}
		return nil
	})
}
