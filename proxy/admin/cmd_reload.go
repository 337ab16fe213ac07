package admin

import (
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/session"
)

var reloadCommand = command{
	verb: "reload", usage: "KS RELOAD [CHECK | FORCE 'reason']", rights: account.Read,
	about: "Reads the configuration's file and brings it into force, which needs the rights operate; CHECK only shows what would change, FORCE takes " +
		"what places rows elsewhere and servers that are not fit, too",
	run: func(c *call) (*session.OwnResult, error) {
		how := change.Reloading{Check: c.r.Word("check")}
		if !how.Check {
			var err error
			if how.Force, err = c.r.force(); err != nil {
				return nil, err
			}
		}
		if err := c.r.End(); err != nil {
			return nil, err
		}
		changes, err := c.a.Configuration.Reload(c.who, how)
		if err != nil {
			return nil, err
		}
		return rowsOf(reloadColumns, reloadRows(changes))
	},
}

var reloadColumns = texts("field", "old", "new", "reloadable", "note")

func reloadRows(changes []change.Change) (rows [][]any) {
	for _, ch := range changes {
		var note any
		switch {
		case ch.Elsewhere:
			note = change.ElsewhereNote
		case ch.Note != "":
			note = ch.Note
		}
		rows = append(rows, []any{ch.Path, ch.Old, ch.New, ch.Reloadable, note})
	}
	return rows
}

var changeColumns = texts("field", "old", "new", "reloadable")

func changeRows(changes []config.Change) (rows [][]any) {
	for _, ch := range changes {
		rows = append(rows, []any{ch.Path, ch.Old, ch.New, ch.Reloadable})
	}
	return rows
}
