package admin

import (
	"strings"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/predecessor"
)

var helpCommand = command{
	verb: "help", usage: "KS HELP", about: "This list", rights: account.Read,
	run: func(c *call) (*answer, error) {
		if err := c.r.End(); err != nil {
			return nil, err
		}
		var rows [][]any
		for _, t := range tables {
			rows = append(rows, []any{"SHOW KS " + strings.ToUpper(t.name) + showUsage, t.about, account.Read.String()})
		}
		for _, cmd := range ksCommands {
			rows = append(rows, []any{cmd.usage, cmd.about, cmd.rights.String()})
		}
		for _, o := range predecessor.Statements {
			rows = append(rows, []any{o.Usage(), o.About, o.Rights.String()})
		}
		return &answer{texts("command", "description", "rights"), rows}, nil
	},
}

const showUsage = " [LIKE 'x'] [WHERE col op value [AND ...]] [ORDER BY col [DESC]] [LIMIT n[,m]]"
