package admin

import (
	"fmt"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/querylog"
	"kingshard/proxy/session"
)

// who asks: a user of the admin SQL, or of REST.
type who struct {
	name, from string
	rights     account.Rights
	// session is the asker's own; 0 for none.
	session uint32
	// texts lets it see statements as they were sent, with their literals.
	texts bool
}

// itself is the proxy, which needs no rights.
var itself = who{name: "kingshard", rights: account.Admin}

// by is who asks, for the audit log.
func (w who) by() querylog.By { return querylog.By{User: w.name, From: w.from} }

// need gives an error if the rights do not reach.
func (w who) need(r account.Rights, what string) error {
	if w.rights >= r {
		return nil
	}
	return session.NewError(session.KSNoRights, fmt.Sprintf("%s needs the rights %s, and %q has %s", what, r, w.name, w.rights))
}

// act runs a change and leaves a line in the log, in the audit log and in the list of events, whether it succeeds or not.
func (a *Admin) act(w who, r account.Rights, what, detail string, change func() error) error {
	err := w.need(r, what)
	if err == nil {
		err = change()
	}
	e := Event{What: what, Who: w.name, From: w.from, Detail: detail, Outcome: "ok"}
	attrs := []any{"audit", true, "what", what, "user", w.name, "from", w.from, "detail", detail}
	if err != nil {
		e.Outcome = message(err)
		a.log.Warn("administration refused", append(attrs, "error", e.Outcome)...)
	} else {
		a.log.Info("administration", attrs...)
	}
	a.events.add(e)
	c := querylog.Change{By: w.by(), Action: what, Object: detail}
	if err != nil {
		c.Error = e.Outcome
	}
	a.shared.Queries.Audit(c)
	return err
}

// Note puts something that the proxy did by itself into the list of events.
func (a *Admin) Note(what, detail, outcome string) {
	a.events.add(Event{What: what, Who: itself.name, Detail: detail, Outcome: outcome})
}

// message is an error without number and state.
func message(err error) string {
	if e, ok := err.(*mysql.SQLError); ok {
		return e.Message
	}
	return err.Error()
}

// failed makes what a client hears of a change that was not made.
func failed(format string, args ...any) error {
	return session.NewError(session.KSAdminFailed, fmt.Sprintf(format, args...))
}
