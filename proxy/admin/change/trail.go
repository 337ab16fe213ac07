package change

import (
	"fmt"
	"log/slog"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/kserror"
	"kingshard/proxy/querylog"
)

// Who asks: a user of the admin SQL, or of REST.
type Who struct {
	Name, From string
	Rights     account.Rights
	// Session is the asker's own; 0 for none.
	Session uint32
	// Texts lets it see statements as they were sent, with their literals.
	Texts bool
}

// Itself is the proxy, which needs no rights.
var Itself = Who{Name: "kingshard", Rights: account.Admin}

// by is who asks, for the audit log.
func (w Who) by() querylog.By { return querylog.By{User: w.Name, From: w.From} }

// Need returns an error if the rights do not reach.
func (w Who) Need(r account.Rights, what string) error {
	if w.Rights >= r {
		return nil
	}
	return kserror.New(kserror.NoRights, fmt.Sprintf("%s needs the rights %s, and %q has %s", what, r, w.Name, w.Rights))
}

// Trail is where changes leave lines: the log, the audit log and the list of events. Any goroutine may use it.
type Trail struct {
	log     *slog.Logger
	queries *querylog.Log
	events  events
}

// NewTrail returns a trail without events.
func NewTrail(log *slog.Logger, queries *querylog.Log) *Trail {
	return &Trail{log: log, queries: queries}
}

// Events returns the latest events, the oldest first.
func (t *Trail) Events() []Event { return t.events.list() }

// Act runs a change and leaves a line in the log, in the audit log and in the list of events, whether it succeeds or not.
func (t *Trail) Act(w Who, r account.Rights, what, detail string, change func() error) error {
	err := w.Need(r, what)
	if err == nil {
		err = change()
	}
	e := Event{What: what, Who: w.Name, From: w.From, Detail: detail, Outcome: "ok"}
	attrs := []any{"audit", true, "what", what, "user", w.Name, "from", w.From, "detail", detail}
	if err != nil {
		e.Outcome = Message(err)
		t.log.Warn("administration refused", append(attrs, "error", e.Outcome)...)
	} else {
		t.log.Info("administration", attrs...)
	}
	t.events.add(e)
	c := querylog.Change{By: w.by(), Action: what, Object: detail}
	if err != nil {
		c.Error = e.Outcome
	}
	t.queries.Audit(c)
	return err
}

// Note puts something that the proxy did by itself into the list of events.
func (t *Trail) Note(what, detail, outcome string) {
	t.events.add(Event{What: what, Who: Itself.Name, Detail: detail, Outcome: outcome})
}

// Message is an error without number and state.
func Message(err error) string {
	if e, ok := err.(*mysql.SQLError); ok {
		return e.Message
	}
	return err.Error()
}

// Failed returns what a client hears of a change that was not made.
func Failed(format string, args ...any) error {
	return kserror.New(kserror.AdminFailed, fmt.Sprintf(format, args...))
}
