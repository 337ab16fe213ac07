package admin

import (
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

var explainCommand = command{
	verb: "explain", usage: "KS EXPLAIN [FOR user] statement", rights: account.Read,
	about: "How a statement would run, of one's own or another user's schema: a row for each statement that a server gets",
	run: func(c *call) (*answer, error) {
		plans, node := c.caller.Plans, c.caller.Default
		if c.r.Word("for") {
			before := *c.r
			user, _ := c.r.Name()
			var err error
			if plans, node, err = c.a.schemaOf(user); err != nil {
				return nil, before.Expected("a user with a schema")
			}
		}
		if c.r.Ended() {
			return nil, c.r.Expected("a statement")
		}
		if node == "" {
			return nil, change.Failed("the admin port has no schema: KS EXPLAIN FOR user statement")
		}
		return explain(plans, node, c.r.Rest(), c.caller.DB, c.r.Mode)
	},
}

// explainColumns are those of EXPLAIN on a sharded table.
var explainColumns = append(numbers("id"), texts("plan", "reason", "node", "shards", "sql", "help", "scratch")...)

// schemaOf gives the plans and the default node of a user.
func (a *Admin) schemaOf(user string) (*session.Plans, string, error) {
	schema := a.shared.Snapshot.Load().Schemas[user]
	if schema == nil {
		return nil, "", change.Failed("user %q has no schema", user)
	}
	return schema.Plans, schema.Default.Name, nil
}
