package admin

import (
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

var reloadCommand = command{
	verb: "reload", usage: "KS RELOAD [CHECK]", rights: account.Read,
	about: "Reads the configuration's file and brings it into force, which needs the rights operate; CHECK only shows what would change",
	run: func(c *call) (*session.OwnResult, error) {
		check := c.r.word("check")
		if err := c.r.end(); err != nil {
			return nil, err
		}
		changes, err := c.a.reload(c.who, check)
		if err != nil {
			return nil, err
		}
		return rowsOf(changeColumns, changeRows(changes))
	},
}

var changeColumns = texts("field", "old", "new", "reloadable")

func changeRows(changes []config.Change) (rows [][]any) {
	for _, ch := range changes {
		rows = append(rows, []any{ch.Path, ch.Old, ch.New, ch.Reloadable})
	}
	return rows
}
