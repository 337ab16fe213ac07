package health

import (
	"errors"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/backend/gtid"
	"kingshard/mysql"
)

// Bound is how far a replica may be behind.
type Bound struct {
	Max time.Duration // 0: as far as it likes
	// Lenient has reads go to replicas whose account may not ask, and, while the primary is down, to one that only lost its source.
	Lenient bool
}

// replication is what a server says of it.
type replication struct {
	backend.Lag
	applied *gtid.Set       // the transactions that it has; nil if it does not tell
	refused *mysql.SQLError // with which it does not tell; else nil
	// cutOff tells that it would go on with what it has got but does not reach its source.
	cutOff bool
	// detached tells that it has no source.
	detached bool
	// late tells that it answers probes, but not yet how far it is behind.
	late   bool
	reason string // why the lag is not known; "" if it is
}

// JudgeLag tells whether reads are to pass a replica over: it is behind by more than the bound, or nobody knows. One that was passed
// over comes back at half of the bound, so that it does not come and go.
func JudgeLag(passedOver bool, l backend.Lag, refused bool, b Bound) bool {
	switch {
	case b.Max == 0, b.Lenient && refused:
		return false
	case !l.Known:
		return true
	case passedOver:
		return l.Behind > b.Max/2
	}
	return l.Behind > b.Max
}

// askLag asks a replica how far it is behind its source, the one furthest ahead of it if it has several. err is a failure of the
// connection.
func askLag(c *backend.Conn) (r replication, err error) {
	sources := 0
	err = backend.ReplicaStatuses(c, func(s backend.ReplicaStatus) {
		sources++
		r.add(s)
		r.applied, _ = gtid.Parse(s.Executed, c.Info.MariaDB)
	})
	if errors.As(err, &r.refused) {
		return replication{refused: r.refused, reason: "the account may not ask"}, nil
	}
	if r.detached = sources == 0; r.detached {
		r.reason = "it is no replica"
	}
	r.Known = r.reason == "" && !r.cutOff
	return r, err
}

// add takes what is said of one source.
func (r *replication) add(s backend.ReplicaStatus) {
	seconds, err := strconv.ParseUint(s.Behind, 10, 31)
	switch {
	case s.Receiver == "Connecting" && s.Applier == "Yes":
		r.cutOff = true
	case err != nil || s.Receiver == "No" || s.Applier == "No": // a NULL stands for a number then, too
		r.reason = "replication does not run"
	default:
		r.Behind = max(r.Behind, time.Duration(seconds)*time.Second)
	}
}

// since makes a lag of what was known last and when: a replica that lost its source since, or tells nothing, is at most so much further
// behind.
func (r *replication) since(last backend.Lag, ago time.Duration) {
	if (r.cutOff || r.late) && r.reason == "" {
		if r.reason = "it does not reach its source"; r.late {
			r.reason = "it does not answer in time"
		}
		if last.Known {
			r.Lag = backend.Lag{Behind: (last.Behind + ago).Truncate(time.Second), Known: true}
		}
	}
}

// measured takes the lag that heartbeats give in place of what the server says, where they give one. If they give less than it may be, and the server says more, it is
// that. A server that is no replica any more will get no others.
func (r *replication) measured(b backend.Behind) {
	if !b.Known || r.detached {
		return
	}
	if b.AtLeast && r.Known {
		b.Behind = max(b.Behind, r.Behind)
	}
	r.Lag, r.reason, r.refused, r.cutOff, r.late = b.Lag, "", nil, false, false
}

// inGroup takes a member that is in step with its group for up to date: it gets its rows from the group and has no source.
func (r *replication) inGroup(nodes *backend.Roles, addr string) {
	if nodes == nil {
		return
	}
	if seen, _ := nodes.Seen(addr); seen.Told && seen.Failures == 0 && seen.InGroup() {
		*r = replication{Lag: backend.Lag{Known: true}, applied: r.applied}
	}
}

// lagWatch is what is kept of a replica between two probes.
type lagWatch struct {
	roles *backend.Roles // of its node, which know what heartbeats tell; nil: nothing
	last  backend.Lag    // as its server told it last
	at    time.Time
}

// followLag stores what a replica says of its lag.
func (m *Monitor) followLag(i *backend.Instance, r replication, w *lagWatch) {
	if !asksLag(i) {
		return
	}
	i.GTIDs.SetApplied(r.applied)
	r.inGroup(w.roles, i.Addr)
	r.measured(w.roles.Behind(i.Addr, time.Now()))
	if now := time.Now(); r.Known {
		w.last, w.at = r.Lag, now
	} else {
		r.since(w.last, now.Sub(w.at))
	}
	_, asked := i.Lag()
	was, bound := i.PassedOver(), m.cfg.LagMax[i.Node]
	passOver := JudgeLag(was && asked, r.Lag, r.refused != nil, bound)
	i.SetLag(r.Lag, passOver, bound.Lenient && r.cutOff)
	attrs := []any{"node", i.Node, "instance", i.Addr, "lag_known", r.Known, "lag", r.Behind}
	if r.reason != "" {
		attrs = append(attrs, "reason", r.reason)
	}
	if r.refused != nil && !asked {
		m.cfg.Log.Warn("the server does not tell its replica lag: does the account have REPLICATION CLIENT, in MariaDB REPLICA MONITOR?", append(attrs, "read_from", !passOver, "error", r.refused)...)
	}
	if asked && was == passOver || !asked && !passOver {
		return
	}
	if passOver {
		m.cfg.Log.Warn("replica is behind: reads pass it over", attrs...)
	} else {
		m.cfg.Log.Info("replica has caught up", attrs...)
	}
	if m.cfg.Lagged != nil {
		m.cfg.Lagged(i, r.Lag, passOver)
	}
}

// asksLag reports whether there is sense in asking an instance how far it is behind.
func asksLag(i *backend.Instance) bool { return i.Role == backend.Replica && !i.IsSource }
