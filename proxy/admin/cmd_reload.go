package admin

import (
	"kingshard/config"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
)

var reloadCommand = command{
	verb: "reload", usage: "KS RELOAD [CHECK | FORCE 'reason']", rights: account.Read,
	about: "Reads the configuration's file and brings it into force, which needs the rights operate; CHECK only shows what would change, FORCE takes " +
		"what places rows elsewhere and servers that are not fit, too",
	run: func(c *call) (*answer, error) {
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
		return c.a.reload(c.who, how)
	},
}

var reloadColumns = texts("field", "old", "new", "reloadable", "note")

// reload shows what the file changes.
func (a *Admin) reload(w change.Who, how change.Reloading) (*answer, error) {
	changes, err := a.Configuration.Reload(w, how)
	shown := &answer{columns: reloadColumns}
	for _, ch := range changes {
		var note any
		switch {
		case ch.Elsewhere:
			note = change.ElsewhereNote
		case ch.Note != "":
			note = ch.Note
		}
		shown.rows = append(shown.rows, []any{ch.Path, ch.Old, ch.New, ch.Reloadable, note})
	}
	return shown, err
}

var changeColumns = texts("field", "old", "new", "reloadable")

// changesOf shows what a change of the configuration or of its file was, unless it failed.
func changesOf(changes []config.Change, err error) (*answer, error) {
	shown := &answer{columns: changeColumns}
	for _, ch := range changes {
		shown.rows = append(shown.rows, []any{ch.Path, ch.Old, ch.New, ch.Reloadable})
	}
	return shown, err
}
