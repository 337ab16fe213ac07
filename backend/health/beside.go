package health

import (
	"context"
	"time"

	"kingshard/backend"
)

// besideMax is for how long a probe's other questions may wait for their answers while pings are answered. It bounds how many of them wait in
// a server: one at a time.
const besideMax = time.Minute

// answers are those to what a probe asks beside the ping.
type answers struct {
	lag      replication
	counters string
	err      error // of the connection
}

// lateAnswers are those that a connection has not given in time. It is theirs until they are there.
type lateAnswers struct {
	conn    *backend.Conn // nil: none
	answers chan answers
}

// giveUp ends the wait for the answers.
func (l *lateAnswers) giveUp() {
	if l.conn != nil {
		l.conn.Net.SetDeadline(time.Unix(1, 0))
		<-l.answers
		l.conn.Close()
		l.conn = nil
	}
}

// askBeside asks on the probe's connection what is to be known of an instance that is there. Whether it is does not hang on that: a server may
// answer pings and statements while SHOW REPLICA STATUS waits, as behind STOP REPLICA in a long transaction. Then the probes go on on
// another connection.
func (m *Monitor) askBeside(ctx context.Context, i *backend.Instance, w *watched) {
	a, told := m.toldBeside(ctx, i, w)
	if ctx.Err() != nil {
		return
	}
	if told {
		m.followLag(i, a.lag, &w.lag)
	} else {
		m.followLag(i, replication{late: true}, &w.lag)
	}
	m.followGTIDs(i, w)
	m.followStored(ctx, i, a.counters, &w.objects)
	m.followDatabases(ctx, i, &w.databases, w.objects.counters)
}

// toldBeside gives the answers; told is false if there are none in time.
func (m *Monitor) toldBeside(ctx context.Context, i *backend.Instance, w *watched) (a answers, told bool) {
	if w.late.conn != nil {
		select {
		case a = <-w.late.answers:
			w.late.conn.Close()
			w.late.conn = nil
			return a, a.err == nil
		default:
			return a, false
		}
	}
	conn, given := w.conn, make(chan answers, 1)
	conn.Net.SetDeadline(time.Now().Add(besideMax))
	m.done.Go(func() { given <- beside(i, conn) })
	late := time.NewTimer(m.cfg.Timeout)
	defer late.Stop()
	select {
	case a = <-given:
		if a.err == nil {
			conn.Release()
			return a, true
		}
		m.cfg.Log.Warn("the connection of probes broke behind an answered ping", "node", i.Node, "instance", i.Addr, "error", a.err)
		conn.Close()
		w.conn = nil
		return a, false
	case <-late.C:
		m.cfg.Log.Warn("the server answers pings, but not what else probes ask", "node", i.Node, "instance", i.Addr, "after", m.cfg.Timeout)
	case <-ctx.Done():
	}
	w.late, w.conn = lateAnswers{conn, given}, nil
	return a, false
}

// beside asks on a connection.
func beside(i *backend.Instance, conn *backend.Conn) (a answers) {
	if asksLag(i) {
		if a.lag, a.err = askLag(conn); a.err != nil {
			return a
		}
	} else if i.GTIDs.Replicated.Load() {
		if a.err = askLogged(i, conn); a.err != nil {
			return a
		}
	}
	a.counters, a.err = askCounters(conn)
	return a
}
