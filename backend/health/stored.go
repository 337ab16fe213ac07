package health

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

const (
	// storedAge is how old the word of a server about its stored objects becomes at most, whether it seems to have changed or not.
	storedAge = time.Minute
	// storedTimeout bounds the questions, and storedFirst those before the first statement.
	storedTimeout = 20 * time.Second
	storedFirst   = time.Second
	// storedAgain is how many probes after a change ask once more: the server counts a statement when it begins.
	storedAgain = 3
)

// storedWatch is what the watcher of an instance remembers of its stored objects.
type storedWatch struct {
	counters string // as DDLCounters gave them last
	again    int
	asked    time.Time
	asking   atomic.Bool
}

// ask has the objects asked for with the next probe, and some after it.
func (w *storedWatch) ask() { w.again = storedAgain }

// learnStored asks a server that was not known before, for a short while.
func (m *Monitor) learnStored(ctx context.Context, i *backend.Instance) {
	if i.Stored() == nil {
		m.askStored(ctx, i, storedFirst)
	}
}

// askCounters asks what is quickly answered and grows with each definition; "" where the server does not tell. err is a failure of the
// connection.
func askCounters(conn *backend.Conn) (counters string, err error) {
	err = conn.Rows(stored.DDLCounters, 2, func(row []string) { counters += row[0] + "=" + row[1] + " " })
	if _, ok := errors.AsType[*mysql.SQLError](err); ok {
		return "", nil
	}
	return counters, err
}

// followStored asks for the objects again when something has changed, which counters tell; "" where they were not told.
func (m *Monitor) followStored(ctx context.Context, i *backend.Instance, counters string, w *storedWatch) {
	if counters != "" && counters != w.counters {
		if w.counters != "" {
			w.ask()
		}
		w.counters = counters
	}
	if w.asked.IsZero() && i.Stored() != nil {
		w.asked = time.Now()
	}
	if i.Stored() != nil && w.again == 0 && len(i.ChangesSeen()) == 0 && time.Since(w.asked) < storedAge || !w.asking.CompareAndSwap(false, true) {
		return
	}
	w.again = max(0, w.again-1)
	w.asked = time.Now()
	m.done.Go(func() {
		defer w.asking.Store(false)
		m.askStored(ctx, i, storedTimeout)
		if len(i.ChangesSeen()) > 0 { // which were over too late for the answer; else the next probe sees to them
			m.askStored(ctx, i, storedTimeout)
		}
	})
}

// askStored asks a server for its stored objects: it may take long.
func (m *Monitor) askStored(ctx context.Context, i *backend.Instance, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a, err := dialStored(ctx, i)
	if err != nil {
		return // the probes say so
	}
	defer a.close()
	before, seen := i.Stored(), i.ChangesSeen()
	o, err := a.ask()
	var refused *mysql.SQLError
	switch {
	case err == nil:
	case !errors.As(err, &refused):
		return // it is asked again
	default:
		m.cfg.Log.Warn("the server does not tell of its stored objects: connections of statements that may reach some are kept by their sessions",
			"node", i.Node, "instance", i.Addr, "error", err)
		i.SetStored(stored.Hidden(), seen)
		return
	}
	if len(o.Blind) > 0 && (before == nil || len(before.Blind) == 0) {
		m.cfg.Log.Warn("the account cannot see all stored objects: connections of statements that may reach some are kept by their sessions",
			"node", i.Node, "instance", i.Addr, "lacks", o.Blind)
	}
	i.SetStored(o, seen)
}

// storedAsker are the connections on which a server is asked for its stored objects.
type storedAsker struct {
	conn *backend.Conn // by the account of clients' statements
	own  *backend.Conn // by the other one; nil without
}

func dialStored(ctx context.Context, i *backend.Instance) (a storedAsker, err error) {
	if a.conn, err = i.DialContext(ctx, 0); err != nil {
		return a, err
	}
	deadline, _ := ctx.Deadline()
	a.conn.Net.SetDeadline(deadline)
	if i.HasOwnAccount() {
		if a.own, err = i.Own(ctx); err != nil {
			a.conn.Close()
			return a, err
		}
		a.own.Net.SetDeadline(deadline)
	}
	return a, nil
}

func (a storedAsker) ask() (*stored.Objects, error) {
	mode := sqltext.Mode{MariaDB: a.conn.Info.MariaDB, ServerVersion: int32(a.conn.Info.Number)}
	if a.own == nil {
		return stored.Ask(a.conn, mode)
	}
	return stored.AskBoth(a.conn, a.own, mode)
}

func (a storedAsker) close() {
	a.conn.Close()
	if a.own != nil {
		a.own.Close()
	}
}
