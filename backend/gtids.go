package backend

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend/gtid"
	"kingshard/mysql"
)

// GTIDs are what is known of the transactions in a server's log: of a primary those that were committed on connections of the proxy, of a replica
// those that it has applied. Instances of one server share them, also across reloads.
type GTIDs struct {
	// Replicated says that its node has replicas, Tracked that connections have the server tell what is committed on them.
	Replicated, Tracked atomic.Bool
	// logged says that the server gives transactions GTIDs, as the last probe found, refused that it does not tell on some connection.
	logged, refused atomic.Bool
	mu              sync.Mutex // of who changes committed
	committed       atomic.Pointer[gtid.Set]
	applied         atomic.Pointer[gtid.Set]
	// lateUntil is until when nobody waits for what a replica has not applied, in nanoseconds since 1970.
	lateUntil atomic.Int64
}

// Committed returns what was committed on connections of the proxy, with what others committed in between. all is false where the server need not
// have told everything.
func (g *GTIDs) Committed() (s *gtid.Set, all bool) {
	all = g.Tracked.Load() && g.logged.Load() && !g.refused.Load()
	return g.committed.Load(), all
}

// shared returns g for an instance of the same server that a reload made, with next, which it has of its own until then.
func (g *GTIDs) shared(next *GTIDs) *GTIDs {
	g.Replicated.Store(next.Replicated.Load())
	g.Tracked.Store(next.Tracked.Load())
	return g
}

// Logged reports whether the server gives transactions GTIDs, as far as is known.
func (g *GTIDs) Logged() bool { return g.logged.Load() }

// Follow notes what was committed on the server.
func (g *GTIDs) Follow(s *gtid.Set) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.committed.Store(g.committed.Load().Follow(s))
}

// SetLogged stores whether the server gives transactions GTIDs. Only the instance's one watcher calls it.
func (g *GTIDs) SetLogged(yes bool) { g.logged.Store(yes) }

// Refused reports whether the server has refused to tell what is committed on a connection.
func (g *GTIDs) Refused() bool { return g.refused.Load() }

// SetApplied stores what a replica has applied; nil is what nobody knows.
func (g *GTIDs) SetApplied(s *gtid.Set) { g.applied.Store(s) }

// lateFor is for how long nobody waits at a replica where a wait was in vain.
const lateFor = 250 * time.Millisecond

// SetLate notes that a replica did not apply in time what was waited for.
func (g *GTIDs) SetLate() { g.lateUntil.Store(time.Now().Add(lateFor).UnixNano()) }

// late reports whether a wait would most likely be in vain.
func (g *GTIDs) late() bool {
	until := g.lateUntil.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// Has reports whether an instance is known to have s.
func Has(i *Instance, s *gtid.Set) bool {
	return s == nil || i.Role == Primary || i.IsSource || s.In(i.GTIDs.applied.Load())
}

// ReaderWith picks the instance for the attempt-th try (from 0) of a read that has to find s: one that Has it if there is one, else one that may
// apply it within a short wait, else the primary.
func (n *Node) ReaderWith(s *gtid.Set, attempt int) *Instance {
	i := n.Reader(attempt)
	if Has(i, s) {
		return i
	}
	waits := n.Primary
	if !i.GTIDs.late() {
		waits = i
	}
	for _, r := range n.choice.nearest {
		switch {
		case !fit(r):
		case Has(r, s):
			return r
		case waits == n.Primary && !r.GTIDs.late():
			waits = r
		}
	}
	return waits
}

// IsTracker reports whether a variable says what servers tell a session of what it commits.
func IsTracker(name string) bool {
	return name == "session_track_gtids" || name == "session_track_system_variables"
}

// OwnTrackers reports whether a session with the setting says itself what servers tell of what it commits.
func (s *Setting) OwnTrackers() bool {
	return s != nil && slices.ContainsFunc(s.Vars, func(v Var) bool { return IsTracker(v.Name) })
}

// Track has the session that c is, with the server's own trackers, tell the GTIDs of what it commits, if they are tracked. MySQL manual: "session_track_gtids"; MariaDB Knowledge Base:
// "session_track_system_variables".
func (g *GTIDs) Track(c *Conn) error {
	if g == nil || !g.Tracked.Load() {
		return nil
	}
	set := "SET session_track_gtids = OWN_GTID"
	if c.Info.MariaDB {
		set = "SET session_track_system_variables = IF(@@GLOBAL.session_track_system_variables = '*', '*', " +
			"CONCAT_WS(',', NULLIF(@@GLOBAL.session_track_system_variables, ''), '" + lastGTID + "'))"
	}
	err := c.Exec(set)
	if _, refused := errors.AsType[*mysql.SQLError](err); refused {
		g.refused.Store(true)
		return nil
	}
	return err
}

// Untrack has nobody take account of what is committed on a connection from now on.
func Untrack(c *Conn) { c.gtids = nil }

// lastGTID is the variable of MariaDB that has the GTID of what a session committed last.
const lastGTID = "last_gtid"

// Told notes what the changes of a session's state in an answer of the server say of what was committed.
func (g *GTIDs) Told(changes []byte) {
	if g == nil {
		return
	}
	all := mysql.NewCursor(changes)
	for all.Len() > 0 && all.Err() == nil {
		kind := all.Uint8()
		data := mysql.NewCursor(all.LenencBytes())
		switch kind {
		case mysql.SessionTrackGTIDs:
			data.Uint8() // the encoding, of which there is one
			g.committedBy(data.LenencBytes(), false)
		case mysql.SessionTrackSystemVariables:
			for data.Len() > 0 && data.Err() == nil {
				if name, value := data.LenencBytes(), data.LenencBytes(); string(name) == lastGTID {
					g.committedBy(value, true)
				}
			}
		}
	}
}

// committedBy notes what a session of the server has committed.
func (g *GTIDs) committedBy(text []byte, mariaDB bool) {
	s, err := gtid.Parse(string(text), mariaDB)
	if err != nil {
		g.refused.Store(true)
	} else if s != nil {
		g.Follow(s)
	}
}

// AskGTIDs asks for the transactions that a server has; nil if it gives them no GTIDs.
func AskGTIDs(c *Conn) (s *gtid.Set, err error) {
	ask := "SELECT IF(@@GLOBAL.log_bin AND @@GLOBAL.gtid_mode LIKE 'ON%', @@GLOBAL.gtid_executed, '')"
	if c.Info.MariaDB {
		ask = "SELECT IF(@@GLOBAL.log_bin, @@GLOBAL.gtid_binlog_pos, '')"
	}
	text := ""
	if err := c.Rows(ask+" LIMIT 1", 1, func(row []string) { text = row[0] }); err != nil {
		return nil, err
	}
	return gtid.Parse(text, c.Info.MariaDB)
}

// waitFor is how long a read waits for a replica, in seconds.
const waitFor = "0.05"

// QueueWait queues, on a connection to a replica, the question that the server answers when it has applied s, or after a short time. ReadWait reads the
// answer. MySQL manual: "WAIT_FOR_EXECUTED_GTID_SET"; MariaDB Knowledge Base: "MASTER_GTID_WAIT".
func QueueWait(c *Conn, s *gtid.Set) {
	function := "WAIT_FOR_EXECUTED_GTID_SET"
	if c.Info.MariaDB {
		function = "MASTER_GTID_WAIT"
	}
	c.Command(mysql.ComQuery, "SELECT "+function+"('"+s.String()+"', "+waitFor+") LIMIT 1")
}

// ReadWait sends what is queued and reports whether the server has applied what QueueWait asked for. A *mysql.SQLError is what it answers to the question.
func ReadWait(c *Conn) (applied bool, err error) {
	if err := c.Flush(); err != nil {
		return false, err
	}
	if err := c.ReadAhead(); err != nil {
		return false, err
	}
	r := response{c: c}
	err = r.result(1, func(row []string) { applied = row[0] == "0" })
	c.ExpectResponse() // to the statement behind it
	return applied, err
}
