package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/txn/driver"
)

var resolveCommand = command{
	verb: "resolve", usage: "KS RESOLVE 'gtrid' COMMIT | ROLLBACK [FORCE]", rights: account.Operate,
	about: "Ends the prepared branches of a transaction whose decision cannot be learned, as its node is lost; SHOW KS TRANSACTIONS has those in doubt. FORCE goes against what that node says",
	run: func(c *call) (*answer, error) {
		var o driver.Resolve
		var ok bool
		if o.GTRID, ok = c.r.Value(); !ok {
			return nil, c.r.Expected("the name of a transaction")
		}
		if o.Commit = c.r.Word("commit"); !o.Commit && !c.r.Word("rollback") {
			return nil, c.r.Expected("COMMIT or ROLLBACK")
		}
		o.Force = c.r.Word("force")
		if err := c.r.End(); err != nil {
			return nil, err
		}
		return c.a.resolve(c.who, o)
	},
}

var resolveColumns = texts("node", "outcome")

// resolve ends a transaction in doubt as an operator decides.
func (a *Admin) resolve(w change.Who, o driver.Resolve) (*answer, error) {
	result := &answer{columns: resolveColumns}
	return result, a.Trail.Act(w, account.Operate, "resolve transaction", o.String(), func() error {
		list, err := a.shared.Atomic.Resolve(o)
		if err != nil {
			return change.Failed("%v", err)
		}
		for _, one := range list {
			result.rows = append(result.rows, []any{one.Node, one.Outcome})
		}
		return nil
	})
}
