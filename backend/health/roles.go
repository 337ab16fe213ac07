package health

import (
	"context"
	"errors"
	"slices"
	"time"

	"kingshard/backend"
	"kingshard/backend/roles"
	"kingshard/mysql"
)

const (
	// rolesInterval is how often servers are asked for their roles.
	rolesInterval = 250 * time.Millisecond
	// rolesTimeout is how long an answer may take, all questions together, or a new connection.
	rolesTimeout = 500 * time.Millisecond
	// rolesRefusedAgain is after how long a server is asked again that refused to tell.
	rolesRefusedAgain = 10 * time.Second
)

// Following is how the role of a node's primary is followed.
type Following struct {
	// ServeDiverged has a new primary serve that lacks transactions of the one before.
	ServeDiverged bool
}

// rolesWatch is what the watcher of one instance's role keeps.
type rolesWatch struct {
	conn     *backend.Conn // nil: none
	failures int
	refused  bool
	plain    bool  // it has said that it is in no group, or in no cluster of Galera
	hidden   error // why a server of a group does not tell of it; nil: it does
}

// watchRole asks one instance for its role until ctx ends, on a connection of its own with deadlines of its own: another one may have to take
// over in the time that a probe waits for its answer.
func (m *Monitor) watchRole(ctx context.Context, n *backend.Node, i *backend.Instance) {
	var w rolesWatch
	defer w.close()
	addrs := addressesOf(n)
	tick := time.NewTicker(rolesInterval)
	defer tick.Stop()
	var again time.Time // not before
	hidden := false     // which was logged
	for ctx.Err() == nil {
		if time.Now().After(again) {
			o := w.observe(ctx, i)
			if ctx.Err() != nil {
				return
			}
			if w.refused != o.Refused {
				if w.refused = o.Refused; o.Refused {
					m.cfg.Log.Warn("the server does not tell its role, so that another primary is not found: does the account have REPLICATION CLIENT, in MariaDB REPLICA MONITOR?", "node", i.Node, "instance", i.Addr)
				}
			}
			if w.hidden != nil && !hidden {
				hidden = true
				m.cfg.Log.Warn("the server does not tell of its group, so that members which have left it are not known: does the account have SELECT on performance_schema.replication_group_members?", "node", i.Node, "instance", i.Addr, "error", w.hidden)
			}
			if o.Refused {
				again = time.Now().Add(rolesRefusedAgain)
			}
			m.judgeRoles(n, n.Roles.Note(o, addrs, m.cfg.Follow[n.Name].ServeDiverged))
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// judgeRoles does what follows from a verdict, but for another primary, which is told.
func (m *Monitor) judgeRoles(n *backend.Node, v roles.Verdict) {
	why := ""
	if v.Held {
		why = v.Reason
	} else if v.Primary == n.Primary.Addr && !n.Roles.Settled() {
		n.Roles.Become(v.Primary)
	}
	if v.Held || n.Roles.Settled() {
		n.Withhold(backend.Unsettled, why)
	}
	for _, r := range n.Replicas {
		yes := slices.Contains(v.Retired, r.Addr)
		if r.Duty.Retire(yes) && yes {
			ended := r.EndConns() // a transaction of before may write there
			m.cfg.Log.Error("nothing is sent to a server that takes writes though another one is the primary, or is outside of the group of the others", "node", n.Name, "instance", r.Addr, "primary", n.Primary.Addr, "connections", ended)
		}
	}
	if m.cfg.Role != nil {
		m.cfg.Role(n, v)
	}
}

// addressesOf lists a node's servers, each once.
func addressesOf(n *backend.Node) (addrs []string) {
	for _, i := range n.Instances() {
		if !i.IsSource {
			addrs = append(addrs, i.Addr)
		}
	}
	return addrs
}

func (w *rolesWatch) close() {
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// observe asks once.
func (w *rolesWatch) observe(ctx context.Context, i *backend.Instance) roles.Observation {
	o, err := w.ask(ctx, i)
	var refused *mysql.SQLError
	switch {
	case errors.As(err, &refused): // it is there
		w.failures = 0
		return roles.Observation{Addr: i.Addr, Refused: true}
	case err != nil:
		w.close()
		w.failures++
		return roles.Observation{Addr: i.Addr, Failures: w.failures}
	}
	w.failures = 0
	return o
}

func (w *rolesWatch) ask(ctx context.Context, i *backend.Instance) (o roles.Observation, err error) {
	ctx, cancel := context.WithTimeout(ctx, rolesTimeout)
	defer cancel()
	if w.conn == nil {
		if w.conn, err = own(ctx, i); err != nil {
			w.conn = nil
			return o, err
		}
	}
	deadline, _ := ctx.Deadline()
	conn := w.conn
	conn.Net.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { conn.Net.SetDeadline(time.Unix(1, 0)) })()
	o = roles.Observation{Addr: i.Addr, Told: true}
	// Of the heartbeats that it has the server tells at first, so that all of them are among its transactions.
	for _, ask := range []func(*roles.Observation) error{w.askHeartbeats, w.askSources, w.askEpoch, w.askServer, w.askUnsure, w.askGroup, w.askGalera} {
		if err = ask(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}
