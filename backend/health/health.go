// Package health watches instances on connections of its own and tells each one up or down. Start with [Open]; what a
// run of observations means is decided by [Judge], a pure function.
package health

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
	"kingshard/mysql"
)

const (
	// failuresMin is how many probes in a row must fail before an instance counts as down, so that one lost packet or a
	// restart of the network moves no traffic.
	failuresMin = 3
	// deadAfter is for how long no byte may have come from an instance whose probes find no answer until it counts as dead.
	deadAfter = 3 * time.Second
	// doubtAfter is how long a probe may wait until others do elsewhere what can be done there as well.
	doubtAfter = 250 * time.Millisecond
	// ownAgain is after how long the login of admin_user is tried again that the server refused.
	ownAgain = time.Minute
)

// Config says how to watch.
type Config struct {
	Interval time.Duration // between probes
	Timeout  time.Duration // of an answer, and of a new connection to see whether it is the connection that fails
	// Connect is the time for a new connection where nothing hangs on its haste.
	Connect time.Duration
	// DownAfter is how long probes must have failed, by node name; at least three probes always.
	DownAfter map[string]time.Duration
	// LagMax is how far a replica may be behind, by node name.
	LagMax map[string]Bound
	Log    *slog.Logger
	// Changed is called when an instance has gone up or down, with the failure that took it down; nil: nobody asks.
	Changed func(i *backend.Instance, s backend.State, err error)
	// Lagged is called when reads begin to pass a replica over for its lag, or cease to; nil: nobody asks.
	Lagged func(i *backend.Instance, l backend.Lag, passedOver bool)
	// Follow has the nodes whose servers are asked which of them is the primary, by name.
	Follow map[string]Following
	// Role is called with each verdict on one of them, often; it must not wait. nil: nobody asks.
	Role func(n *backend.Node, v roles.Verdict)
	// Replicas is called with the addresses of servers that are replicas of a node's primary and come to the node, and of those that the node has and that are
	// none any more, about each second as long as there are some; it must not wait. nil: nobody asks.
	Replicas func(n *backend.Node, come, gone []string)
}

// Monitor runs one goroutine per instance.
type Monitor struct {
	cfg    Config
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// Open starts to watch. Close stops it.
func Open(nodes map[string]*backend.Node, cfg Config) *Monitor {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Monitor{cfg: cfg, cancel: cancel}
	for _, n := range nodes {
		if n.Roles != nil && m.cfg.LagMax[n.Name].Max > 0 {
			m.done.Go(func() { m.beat(ctx, n) })
		}
		for _, i := range n.Instances() {
			m.done.Go(func() { m.watch(ctx, n, i) })
			if n.Roles != nil && !i.IsSource {
				m.done.Go(func() { m.watchRole(ctx, n, i) })
			}
		}
		if n.Discovers {
			m.done.Go(func() { m.watchReplicas(ctx, n) })
		}
	}
	return m
}

// Close stops all probes and waits for them.
func (m *Monitor) Close() {
	m.cancel()
	m.done.Wait()
}

// Observations is a run of probes with the same outcome.
type Observations struct {
	Failures int           // probes in a row that failed; 0 after a good one
	Since    time.Duration // how long ago the last good one was, or the first that failed
	// Refused tells that the server answered the last probe, with an error; TimedOut that nobody did.
	Refused, TimedOut bool
	// Quiet is for how long nothing has come on any connection to the instance, statements' included; Since if there is none.
	Quiet time.Duration
}

// Dead tells whether nobody has an answer to hope for: what is in flight is to end. A probe that is slow tells nothing while bytes
// come elsewhere.
func (o Observations) Dead() bool { return o.Failures > 0 && !o.Refused && o.Quiet >= deadAfter }

// Judge gives the state that follows from the last one and what was observed: one good probe brings an instance up; one that is dead,
// or a run of failures, takes it down once it is old enough. As long as answers come on other connections, probes without one do not.
func Judge(last backend.State, o Observations, downAfter time.Duration) backend.State {
	switch {
	case o.Failures == 0:
		return backend.Up
	case o.Since < downAfter, o.TimedOut && !o.Dead():
		return last
	case o.Dead(), o.Failures >= failuresMin:
		return backend.Down
	}
	return last
}

// watched is what one watcher keeps of its instance.
type watched struct {
	conn    *backend.Conn // that is probed on; nil for a new one
	late    lateAnswers   // of a connection before it
	lag     lagWatch
	untold  bool // it was logged that the server does not tell what is committed
	objects storedWatch
	// standIn says that conn is by the account of clients' statements, since the server refuses the login of admin_user, which is tried
	// again at ownAgain.
	standIn  bool
	ownAgain time.Time
	// databases are those of the instance.
	databases databaseWatch
	o         Observations
	// from is when the run of failures began: at the last answer, if there was one.
	from time.Time
}

// watch probes one instance of a node until ctx ends.
func (m *Monitor) watch(ctx context.Context, n *backend.Node, i *backend.Instance) {
	w := watched{lag: lagWatch{roles: n.Roles}}
	defer func() {
		if w.conn != nil {
			w.conn.Close()
		}
		w.late.giveUp()
	}()
	for ctx.Err() == nil {
		// A probe under way is cut off when the watch ends: nothing waits for a server that does not answer.
		err := m.probe(ctx, i, &w)
		if ctx.Err() != nil {
			return
		}
		w.observe(i, time.Now(), err)
		i.Latency.Note(i.Load)
		if err != nil {
			i.GTIDs.SetApplied(nil) // it may start again without the last of it
		}
		i.Doubt(err != nil)
		// The verdict comes first: what is ended then does not try the instance again.
		m.report(i, Judge(i.Health(), w.o, m.cfg.DownAfter[i.Node]), w.o, err)
		if w.o.Dead() {
			if n := i.EndConns(); n > 0 {
				m.cfg.Log.Error("instance is dead: its connections are ended", "node", i.Node, "instance", i.Addr, "role", i.Role.String(), "quiet", w.o.Quiet, "connections", n)
			}
		}
		// Jitter keeps many proxies from probing in step.
		wait := m.cfg.Interval*9/10 + rand.N(m.cfg.Interval/5+1)
		select {
		case <-ctx.Done():
		case <-i.StoredAsked():
			w.objects.ask()
		case <-time.After(wait):
		}
	}
}

// observe adds the outcome of a probe.
func (w *watched) observe(i *backend.Instance, now time.Time, err error) {
	if err == nil {
		w.o, w.from = Observations{}, now
		i.SetAnswered(now)
		return
	}
	if w.from.IsZero() {
		w.from = now
	}
	var told *mysql.SQLError
	w.o = Observations{Failures: w.o.Failures + 1, Since: now.Sub(w.from), Refused: errors.As(err, &told), TimedOut: isTimeout(err)}
	var some bool
	if w.o.Quiet, some = i.Quiet(); !some {
		w.o.Quiet = w.o.Since
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// report stores a verdict and logs changes, and the first failure of a run.
func (m *Monitor) report(i *backend.Instance, s backend.State, o Observations, err error) {
	last := i.Health()
	attrs := []any{"node", i.Node, "instance", i.Addr, "role", i.Role.String()}
	switch {
	case s != last && s == backend.Down:
		m.cfg.Log.Error("instance is down", append(attrs, "error", err)...)
	case s != last:
		m.cfg.Log.Info("instance is up", attrs...)
	case o.Failures == 1:
		m.cfg.Log.Warn("probe failed", append(attrs, "error", err)...)
	}
	if s != last {
		i.SetState(s)
		if m.cfg.Changed != nil {
			m.cfg.Changed(i, s, err)
		}
	}
}

// probe pings and, where that is answered, asks what else is to be known.
func (m *Monitor) probe(ctx context.Context, i *backend.Instance, w *watched) error {
	doubt := time.AfterFunc(doubtAfter, func() { i.Doubt(true) })
	err := m.answered(ctx, i, w)
	doubt.Stop()
	if err == nil {
		i.Doubt(false)
		m.askBeside(ctx, i, w)
	}
	return err
}

// answered pings on the connection that there is. A new one has the last word on whether the instance is there.
func (m *Monitor) answered(ctx context.Context, i *backend.Instance, w *watched) error {
	patience := m.patience(w.o.Failures, i.Health())
	if w.conn != nil {
		err := m.ask(ctx, i, w, m.cfg.Timeout)
		if err == nil {
			return nil
		}
		if isTimeout(err) {
			patience = m.cfg.Timeout // it matters soon
		}
	}
	return m.ask(ctx, i, w, patience)
}

// patience is how long a probe waits for a new connection after so many failures. While an instance is down others wait for it to come back, and a connection
// that was begun while nothing went through does not hear when something does: only each third one has the time that a slow login takes.
func (m *Monitor) patience(failures int, s backend.State) time.Duration {
	if failures == 0 || s == backend.Down && failures%3 == 0 {
		return m.cfg.Connect
	}
	return m.cfg.Timeout
}

// tryClients looks, where probes have an account of their own, whether that of clients' statements can log in. It is no reason to call the
// instance down: clients hear what the server says.
func (m *Monitor) tryClients(ctx context.Context, i *backend.Instance) {
	if !i.HasOwnAccount() {
		return
	}
	c, err := i.DialContext(ctx, 0)
	if err == nil {
		c.Close()
	} else if ctx.Err() == nil {
		m.cfg.Log.Error("clients' statements cannot be run: the account of the node cannot log in", "node", i.Node, "instance", i.Addr, "error", err)
	}
}

// login connects for probes. Where the server refuses the login of admin_user, the account of clients' statements stands in for it, so that
// what they need is not down for the other account's sake.
func (m *Monitor) login(ctx context.Context, i *backend.Instance, w *watched) (*backend.Conn, error) {
	c, err := i.Own(ctx)
	var refused *mysql.SQLError
	if err == nil || !i.HasOwnAccount() || !errors.As(err, &refused) {
		if err == nil && w.standIn {
			w.standIn = false
			m.cfg.Log.Info("admin_user can log in again", "node", i.Node, "instance", i.Addr)
		}
		return c, err
	}
	standIn, other := i.DialContext(ctx, 0)
	if other != nil {
		return nil, err
	}
	if !w.standIn {
		m.cfg.Log.Error("admin_user cannot log in: probes and KILL are by the account of clients' statements", "node", i.Node, "instance", i.Addr, "error", err)
	}
	w.standIn, w.ownAgain = true, time.Now().Add(ownAgain)
	return standIn, nil
}

// ask makes a connection if there is none, and has it answer a ping. After an error there is none.
func (m *Monitor) ask(watch context.Context, i *backend.Instance, w *watched, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(watch, patience)
	defer cancel()
	switch {
	case w.conn == nil:
	case w.standIn && time.Now().After(w.ownAgain):
		w.conn.Close()
		w.conn = nil
	case !i.Name.LeadsTo(w.conn.Peer):
		m.cfg.Log.Warn("the name of an instance leads elsewhere: its connections follow", "node", i.Node, "instance", i.Addr, "from", w.conn.Peer.String())
		w.conn.Close()
		w.conn = nil
	}
	first := w.conn == nil
	if first {
		var err error
		if w.conn, err = m.login(ctx, i, w); err != nil {
			w.conn = nil
			return err
		}
	}
	conn := w.conn
	deadline, _ := ctx.Deadline()
	conn.Net.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { conn.Net.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var err error
	changed := first
	if first {
		err = learn(conn)
	} else {
		changed, err = learnMode(conn)
	}
	if err == nil {
		began := time.Now()
		if err = conn.Ping(); err == nil {
			i.SetRoundTrip(time.Since(began))
		}
	}
	if err != nil {
		conn.Close()
		w.conn = nil
		return err
	}
	if first {
		m.tryClients(ctx, i)
		m.learnStored(watch, i)
	}
	if changed {
		i.SetInfo(conn.Info)
	}
	return nil
}
