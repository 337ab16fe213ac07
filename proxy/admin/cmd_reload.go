package admin

import (
	"strings"

	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/session"
)

var reloadCommand = command{
	verb: "reload", usage: "KS RELOAD [CHECK | FORCE 'reason']", rights: account.Read,
	about: "Reads the configuration's file and brings it into force, which needs the rights operate; CHECK only shows what would change, FORCE takes " +
		"what places rows elsewhere and primaries that do not answer, too",
	run: func(c *call) (*session.OwnResult, error) {
		how := reloading{check: c.r.word("check")}
		if !how.check && c.r.word("force") {
			var ok bool
			if how.force, ok = c.r.value(); !ok || strings.TrimSpace(how.force) == "" {
				return nil, c.r.expected("the reason, in quotes")
			}
		}
		if err := c.r.end(); err != nil {
			return nil, err
		}
		changes, err := c.a.reload(c.who, how)
		if err != nil {
			return nil, err
		}
		return rowsOf(reloadColumns, reloadRows(changes))
	},
}

var reloadColumns = texts("field", "old", "new", "reloadable", "note")

// elsewhereNote is the note of a change after which rows are looked for where they are not.
const elsewhereNote = "places rows elsewhere"

func reloadRows(changes []placedChange) (rows [][]any) {
	for _, ch := range changes {
		var note any
		switch {
		case ch.elsewhere:
			note = elsewhereNote
		case ch.note != "":
			note = ch.note
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
