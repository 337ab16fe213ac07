// Package health watches instances on connections of its own and tells each one up or down. Start with [Open]; what a
// run of observations means is decided by [Judge], a pure function.
package health

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"kingshard/backend"
)

// failuresMin is how many probes in a row must fail before an instance counts as down, so that one lost packet or a
// restart of the network moves no traffic.
const failuresMin = 3

// Config says how to watch.
type Config struct {
	Interval time.Duration // between probes
	Timeout  time.Duration // of one probe, its login included
	// DownAfter is how long probes must have failed, by node name; at least three probes always.
	DownAfter map[string]time.Duration
	// LagMax is how far a replica may be behind, by node name.
	LagMax map[string]Bound
	Log    *slog.Logger
	// Changed is called when an instance has gone up or down, with the failure that took it down; nil: nobody asks.
	Changed func(i *backend.Instance, s backend.State, err error)
	// Lagged is called when reads begin to pass a replica over for its lag, or cease to; nil: nobody asks.
	Lagged func(i *backend.Instance, l backend.Lag, passedOver bool)
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
		for _, i := range n.Instances() {
			m.done.Go(func() { m.watch(ctx, i) })
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
	Since    time.Duration // how long they have been failing
}

// Judge gives the state that follows from the last one and what was observed: one good probe brings an instance up, a
// run of failures that is both long and old enough takes it down.
func Judge(last backend.State, o Observations, downAfter time.Duration) backend.State {
	switch {
	case o.Failures == 0:
		return backend.Up
	case o.Failures >= failuresMin && o.Since >= downAfter:
		return backend.Down
	}
	return last
}

// watch probes one instance until ctx ends.
func (m *Monitor) watch(ctx context.Context, i *backend.Instance) {
	var conn *backend.Conn
	var o Observations
	var failedAt time.Time
	var lag lagWatch
	var objects storedWatch
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for ctx.Err() == nil {
		// A probe under way is cut off when the watch ends: nothing waits for a server that does not answer.
		var err error
		conn, err = m.probe(ctx, i, conn, &lag, &objects)
		if ctx.Err() != nil {
			return
		}
		now := time.Now()
		if err == nil {
			o = Observations{}
			i.SetAnswered(now)
		} else {
			if o.Failures == 0 {
				failedAt = now
			}
			o = Observations{Failures: o.Failures + 1, Since: now.Sub(failedAt)}
		}
		m.report(i, Judge(i.Health(), o, m.cfg.DownAfter[i.Node]), o, err)
		// Jitter keeps many proxies from probing in step.
		wait := m.cfg.Interval*9/10 + rand.N(m.cfg.Interval/5+1)
		select {
		case <-ctx.Done():
		case <-i.StoredAsked():
			objects.ask()
		case <-time.After(wait):
		}
	}
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

// probe pings on the connection it is given, or on a new one, and returns the one to use next.
func (m *Monitor) probe(watch context.Context, i *backend.Instance, conn *backend.Conn, lag *lagWatch, objects *storedWatch) (*backend.Conn, error) {
	ctx, cancel := context.WithTimeout(watch, m.cfg.Timeout)
	defer cancel()
	first := conn == nil
	if first {
		var err error
		if conn, err = i.DialContext(ctx, 0); err != nil {
			return nil, err
		}
	}
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if first {
		if err := learn(conn); err != nil {
			conn.Close()
			return nil, err
		}
		m.learnStored(watch, i, conn.Info)
		i.SetInfo(conn.Info)
	}
	err := conn.Ping()
	if err == nil {
		err = m.watchLag(i, conn, lag)
	}
	if err == nil {
		err = m.followStored(watch, i, conn, objects)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.Release()
	return conn, nil
}
