package process

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// Row is a row of SHOW PROCESSLIST. It aliases nothing.
type Row struct {
	ID                   uint32
	User, Host, DB       string
	Command, State, Info string
	Seconds              int
	// Pins are the reasons for which it keeps its connection to Instance, as Kept gave them; both are those of the last moment between two
	// commands, and may be none.
	Pins          uint32
	Instance      string
	InTransaction bool
	Started       time.Time
	// Admin tells a session of the admin port.
	Admin bool
}

// Row describes what the session does now.
func (e *Entry) Row() Row {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Row{
		ID: e.id, User: e.user, Host: e.host, DB: e.kept.db, Seconds: int(time.Since(e.since).Seconds()), Pins: e.kept.pins,
		InTransaction: e.kept.inTx, Started: time.Unix(0, e.started), Admin: e.admin,
	}
	if e.kept.instance != nil {
		r.Instance = e.kept.instance.Addr
	}
	if !e.loggedIn {
		r.User, r.Command, r.State = "unauthenticated user", "Connect", "login"
		return r
	}
	r.Command = commandWord(e.command)
	r.Info = strings.Clone(e.text)
	if e.heldUp {
		r.State = "waiting for KS RESUME"
	} else if e.running.Pooled != nil {
		r.State = fmt.Sprintf("executing on %s", e.running.Instance.Addr)
	}
	return r
}

// commandWord spells a command as the server's process list does: COM_QUERY is "Query".
func commandWord(c mysql.Command) string {
	switch c {
	case mysql.ComSleep:
		return "Sleep"
	case mysql.ComQuery:
		return "Query"
	case mysql.ComStmtPrepare:
		return "Prepare"
	case mysql.ComStmtExecute:
		return "Execute"
	case mysql.ComStmtFetch:
		return "Fetch"
	case mysql.ComInitDB:
		return "Init DB"
	case mysql.ComChangeUser:
		return "Change user"
	}
	return strings.TrimPrefix(c.String(), "COM_")
}

// UnderWay reports whether the session runs a statement, or is in the middle of something on a server that others may wait for: what a pause
// leaves alone.
func (e *Entry) UnderWay() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loggedIn && !e.admin && !e.heldUp && (e.busy || e.kept.instance != nil && (e.kept.inTx || e.kept.engaged))
}

// Holding is what a session holds of servers' connections and what it waits for.
type Holding struct {
	ID             uint32
	User, Host, DB string
	// Seconds since the command began, or since the session idles.
	Seconds int
	// Wants is the instance that it waits for a connection to; nil: it waits for none. HeldUp says that it waits for the end of a
	// pause.
	Wants  *backend.Instance
	HeldUp bool
	// Keeps are the instances of the connections that it keeps beyond a statement, Uses those that its statement has; one for each
	// connection.
	Keeps, Uses []*backend.Instance
	// InTransaction and Pins are why it keeps them.
	InTransaction bool
	Pins          uint32
}

// holding tells what others may know of it: what it keeps is that of the last moment between two commands.
func (e *Entry) holding() Holding {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := Holding{
		ID: e.id, User: e.user, Host: e.host, DB: e.kept.db, Seconds: int(time.Since(e.since).Seconds()),
		Wants: e.wants.Load(), HeldUp: e.heldUp, Pins: e.kept.pins,
	}
	if e.kept.instance != nil {
		h.Keeps = append(h.Keeps, e.kept.instance)
		if e.several != nil {
			h.Keeps = append(h.Keeps, e.several.others...)
		}
		h.InTransaction = e.kept.inTx
	}
	use := func(i *backend.Instance) {
		if !slices.Contains(h.Keeps, i) {
			h.Uses = append(h.Uses, i)
		}
	}
	if e.running.Pooled != nil {
		use(e.running.Instance)
	}
	for _, p := range e.several.published() {
		use(p.Instance)
	}
	return h
}
