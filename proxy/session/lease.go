package session

import (
	"errors"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// leases borrow the connections that a client's statements run on, and give them back or keep them.
type leases struct {
	client *client
}

// acquire gives a connection to the target in this session's state, with the client's BEGIN sent. It is the held one
// where that serves. The caller ends with release, or with drop after a failure of the connection.
func (ls *leases) acquire(t txn.Target) (backend.Pooled, error) {
	if _, err := ls.gate(); err != nil {
		return backend.Pooled{}, err
	}
	if !t.Reads && ls.client.state.InsertID.OnlyOn() == nil {
		ls.branches().stepAside(t.Node.Name)
	}
	elsewhere := ls.client.txn.Holding() && ls.client.txn.Held().Instance.Node != t.Node.Name
	switch place, err := ls.client.txn.Place(t, ls.client.begins(), ls.client.state.Autocommit, elsewhere && ls.branches().joins()); {
	case errors.Is(err, txn.ErrOtherNode):
		return backend.Pooled{}, ls.branches().otherNode()
	case err != nil:
		return backend.Pooled{}, err
	case place == txn.FromHeld:
		if err := ls.prepare(ls.client.txn.Held()); err != nil {
			return ls.client.txn.Held(), err
		}
		if !t.Reads && !ls.branches().callsNothing() {
			ls.branches().changes(ls.client.txn.Held())
		}
		return ls.client.txn.Held(), nil
	case place == txn.FromOther:
		return ls.acquireOther(t)
	}
	if err := ls.learnCharset(); err != nil {
		return backend.Pooled{}, err
	}
	for attempt := 0; ; attempt++ {
		p, err := ls.obtain(t, ls.client.state.Setting())
		if err != nil {
			return backend.Pooled{}, err
		}
		if err = ls.bring(p); ls.replaces(p, attempt, err) {
			continue
		}
		if err = ls.brought(p, err); err == nil && !t.Reads && !ls.branches().callsNothing() {
			ls.client.txn.Changed = true // of the transaction that it may begin
		}
		return p, err
	}
}

// obtain gives a connection that is not the session's yet and carries want.
func (ls *leases) obtain(t txn.Target, want *backend.Setting) (backend.Pooled, error) {
	now := ls.client.entry.Now()
	ls.client.observed.Ask(now.Sub(ls.client.entry.Since()))
	if p, ok := ls.offered(t, want); ok {
		return p, nil
	}
	since := ls.waitingSince(now)
	deadline := since.Add(ls.client.snap.Config.PoolWaitTimeout.Duration())
	for attempt := 0; ; attempt++ {
		instance := ls.chosen(t, attempt)
		if fallsBack(t, instance) {
			if err := ls.fallBack(t.Node, deadline); err != nil {
				return backend.Pooled{}, err
			}
		}
		ls.client.entry.Wants(instance)
		wait := ls.client.observed.WaitSpan(instance, ls.client.state.DB())
		var p backend.Pooled
		var err error
		if task := ls.client.task(); task.placed == instance {
			task.placed, since = nil, now // the place knows how long it has waited
			p, err = instance.Take(&task.place, want, deadline, ls.client.entry.Cancelled())
		} else {
			p, err = instance.Get(want, deadline, ls.client.entry.Cancelled())
		}
		observe.EndSpan(wait, err)
		ls.client.entry.Wants(nil)
		if err == nil {
			return p, nil
		}
		var late *pool.TimeoutError
		if errors.As(err, &late) {
			late.Waited += now.Sub(since) // in a line of a loop
		}
		// A replica that cannot serve is passed over; the primary is the last resort. One that has too much to do is none that cannot: the
		// others get their share already, and the primary has enough of its own.
		if instance.Role == backend.Primary || errors.Is(err, pool.ErrTimeout) || errors.Is(err, pool.ErrTooManyWaiters) || errors.Is(err, pool.ErrCancelled) {
			return backend.Pooled{}, backendError(err)
		}
	}
}

// acquireIn acquires the connection that the session has, or one to the primary of the default node that is in db already. What was set
// for the next transaction only stays with the session.
func (ls *leases) acquireIn(db string) (backend.Pooled, error) {
	t := txn.Target{Node: ls.client.schema.Default}
	if ls.client.txn.Holding() {
		if n := ls.client.schema.Nodes[ls.client.txn.Held().Instance.Node]; n != nil { // a reload may have taken it from the user
			t.Node = n
		}
	}
	if ls.client.txn.Holding() || ls.client.txn.Begin != "" {
		return ls.acquire(t)
	}
	if _, err := ls.gate(); err != nil {
		return backend.Pooled{}, err
	}
	if err := ls.learnCharset(); err != nil {
		return backend.Pooled{}, err
	}
	p, err := ls.obtain(t, ls.client.state.SettingIn(db))
	if err != nil {
		return backend.Pooled{}, err
	}
	if !ls.client.setRunning(p) {
		ls.drop(p)
		return backend.Pooled{}, interrupted()
	}
	return p, nil
}

// acquireOther gives a connection of the open transaction to a further node.
func (ls *leases) acquireOther(t txn.Target) (backend.Pooled, error) {
	l, err := ls.lease(t.Node, t.Reads, nil)
	if err != nil {
		return backend.Pooled{}, ls.notBorrowed(nil, err)
	}
	if !ls.client.setRunning(l.Pooled) {
		return backend.Pooled{}, interrupted()
	}
	return l.Pooled, nil
}

// prepareOther brings what the session has set since to a connection that its transaction has read from.
func (ls *leases) prepareOther(p backend.Pooled) error {
	err := ls.client.observed.Apply(p, ls.client.state.DB(), ls.client.state.Setting())
	var sqlErr *mysql.SQLError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &sqlErr):
		ls.drop(p) // it may carry a part
		return sqlErr
	}
	return ls.lostBefore(p, err)
}

// prepare brings the session's state and its pending BEGIN to a connection just acquired; on failure it is dropped.
func (ls *leases) prepare(p backend.Pooled) error { return ls.brought(p, ls.bring(p)) }

// run carries out a statement of the proxy's own. It is a txn.Exec.
func (c *client) run(p backend.Pooled, sql string) error {
	return c.observed.Run(p, c.state.DB(), sql)
}

// begins tells whether the command may begin a transaction: SET does not, nor do commands other than statements.
func (c *client) begins() bool {
	return c.txn.Begin != "" || c.observed.Class != sqltext.Set && c.observed.Class != sqltext.Empty
}

// errKilled says that the session was killed before its statement was sent.
var errKilled = errors.New("killed")

// bring is prepare, which brought completes.
func (ls *leases) bring(p backend.Pooled) error {
	if !ls.client.setRunning(p) {
		return errKilled
	}
	err := ls.client.observed.Apply(p, ls.client.state.DB(), ls.client.state.Setting())
	if err == nil && ls.client.txn.Next.IsSet() && ls.client.begins() {
		err = ls.client.observed.Run(p, ls.client.state.DB(), ls.client.txn.Next.Text())
	}
	if err == nil && ls.client.txn.Begin != "" {
		if err = ls.queueInsertID(p); err == nil {
			err = ls.client.observed.Run(p, ls.client.state.DB(), ls.client.txn.Begin)
		}
	}
	return err
}

// brought notes that bring is through, or deals with its failure.
func (ls *leases) brought(p backend.Pooled, err error) error {
	if err == errKilled {
		ls.drop(p)
		return interrupted()
	}
	if err != nil {
		if !ls.client.txn.Holds(p) {
			ls.drop(p)
			return backendError(err) // the transaction that the client has begun is still to begin
		}
		ls.client.txn.Begin = ""
		var sqlErr *mysql.SQLError
		if errors.As(err, &sqlErr) {
			ls.client.entry.TakeRunning()
			return sqlErr
		}
		return ls.lostBefore(p, err)
	}
	ls.client.txn.Begun(p, ls.client.begins(), ls.client.state.Autocommit)
	return nil
}

// learnCharset waits until it is known how the client's texts are read: by the default node's sql_mode, in the character set that the
// handshake's collation is of there. While that node is late it is presumed to be as another is.
func (ls *leases) learnCharset() error {
	st, n := &ls.client.state, ls.client.schema.Default
	for began := time.Now(); !st.Resolved(); {
		if now := ls.client.shared.Snapshot.Load().Nodes[n.Name]; now != nil {
			n = now // nobody asks the servers of one that a reload has replaced
		}
		if info := n.Info(); info != nil {
			st.Resolve(info)
			break
		}
		if st.Presumed() {
			break
		}
		select {
		case <-n.Primary.Known():
		case <-ls.client.entry.Cancelled():
			return interrupted()
		case <-time.After(n.Primary.Moment()):
		}
		if n.Info() != nil {
			continue
		}
		for _, other := range ls.client.schema.Nodes {
			if info := other.Info(); info != nil {
				st.Presume(info)
				break
			}
		}
		if !st.Presumed() && time.Since(began) > ls.client.snap.Config.ConnectTimeout.Duration() {
			return newError(KSBackendUnreachable, "node "+n.Name+" has not been reached yet")
		}
	}
	return nil
}

// setRunning publishes the connection that the statement runs on, for KILL; false when the session was killed before.
func (c *client) setRunning(p backend.Pooled) bool {
	c.observed.Exchange(p.Instance, c.entry.Since())
	return c.entry.SetRunning(p)
}

// release is called after each command that used p: it keeps the connection for a transaction or a pin, else gives it back.
func (ls *leases) release(p backend.Pooled) {
	killed := ls.client.entry.TakeRunning()
	keep := ls.client.txn.Keep(p)
	told := p.Conn.Net.Received()
	unsettled := false
	if ls.client.state.InDoubt() {
		kept := keep && ls.client.txn.MayHold(p)
		unsettled = ls.client.state.Found.Settle(p.Conn, kept) != nil || ls.client.state.SettleInsertID(p.Conn, kept) != nil
	}
	if le := ls.sharing(); le != nil {
		// A KILL of a session that shares it was not told to the server. Nobody foresaw that the statement leaves state behind: that
		// goes with the connection.
		le.given, ls.client.txn.Pins = !keep && !p.Conn.Marked, 0
		return
	}
	if unsettled {
		if ls.drop(p); keep {
			ls.client.txn.Pins = 0
			ls.client.conn.Close() // its state went with the connection, and the client has its answer
		}
		return
	}
	if !ls.client.txn.Release(p, keep, p.Conn.Net.Received() == told, ls.client.run) {
		return
	}
	if killed {
		p.Taint()
		return
	}
	faultpoint.Reach(faultpoint.BeforeReturn)
	if ls.client.ahead().lease != nil {
		ls.client.ahead().lease.Put()
		return
	}
	p.Put()
}

// drop closes a connection that is out of step.
func (ls *leases) drop(p backend.Pooled) {
	ls.client.entry.TakeRunning()
	if ls.client.txn.Branches && (ls.client.txn.Holds(p) || ls.client.txn.Beside(p)) {
		ls.client.spread.broken = true
	}
	ls.client.txn.Remove(p)
	if ls.sharing() == nil { // else who shares it closes it
		p.Taint()
	}
}

// dropBehind closes a connection that failed behind the statement of which the client has its answer. If it had anything of the session, this
// ends, too: what comes next would run without.
func (ls *leases) dropBehind(p backend.Pooled, cause error) {
	if ls.client.txn.Pins == 0 && ls.client.txn.Disposable(p) {
		ls.drop(p)
		return
	}
	ls.dropAnswered(p, cause)
}

// dropAnswered closes a connection of which nobody knows what it had of the session, which ends.
func (ls *leases) dropAnswered(p backend.Pooled, cause error) {
	ls.client.shared.Log.Warn("backend connection lost behind an answer: the session ends", "conn", ls.client.id, "node", p.Instance.Node, "instance", p.Instance.Addr, "error", cause)
	ls.drop(p)
	ls.client.txn.Pins = 0
	ls.client.conn.Close()
}

// lost drops a connection that broke. Where it held a transaction or other state the session ends too, as it would
// with a server that went away: going on would run the rest of a transaction outside of it.
func (ls *leases) lost(p backend.Pooled, cause error) error {
	return ls.lose(p, p.Conn.NeverArrived(), cause)
}

// lose is lost; never says that the statement cannot have arrived at the server.
func (ls *leases) lose(p backend.Pooled, never bool, cause error) error {
	stateful := !ls.client.txn.Disposable(p)
	only := stateful && onlyTransaction(ls, p)
	p.Instance.CheckIdle()
	ls.drop(p)
	ls.client.shared.Log.Warn("backend connection lost", "conn", ls.client.id, "node", p.Instance.Node, "instance", p.Instance.Addr, "carried_out", carriedOut[never], "error", cause)
	if only {
		return ls.branches().transactionLost(p.Instance.Node, never)
	}
	if never {
		return ls.lostWith(notArrived([]string{p.Instance.Node}), stateful, cause)
	}
	return ls.lostError([]string{p.Instance.Node}, stateful, cause)
}

// carriedOut is what the log says of a statement that did, or did not, never arrive.
var carriedOut = map[bool]string{false: "unknown", true: "no"}

// lostError is what the client hears of connections that broke, to these nodes; of none, if it is not known to which. It ends the session where its
// state was on one of them.
func (ls *leases) lostError(nodes []string, stateful bool, cause error) error {
	detail := ""
	if len(nodes) > 0 {
		connections := "connection to node "
		if len(nodes) > 1 {
			connections = "connections to nodes "
		}
		detail = "The " + connections + strings.Join(nodes, ", ") + " broke after the statement was sent. Whether it was carried out is unknown."
	}
	return ls.lostWith(newError(KSBackendLost, detail), stateful, cause)
}

// lostWith returns e, which the client is to hear of connections that broke; where the session's state was on one of them, it tells the client and ends the session.
func (ls *leases) lostWith(e *mysql.SQLError, stateful bool, cause error) error {
	if !stateful {
		return e
	}
	ls.client.txn.Pins = 0
	ls.client.writeError(e, observe.OriginBackend)
	ls.client.lastWords()
	return &endError{process.EndBackendLost, cause}
}

// afterFailure deals with a failure of what the session asks of a connection ahead of the client's command.
func (ls *leases) afterFailure(p backend.Pooled, err error) error {
	if e, ok := err.(*mysql.SQLError); ok {
		ls.release(p)
		return e
	}
	return ls.lost(p, err)
}

// chosen is the instance for the attempt-th try of a statement: the one that the loop has chosen already, if it has.
func (ls *leases) chosen(t txn.Target, attempt int) *backend.Instance {
	i := ls.client.ahead().instance
	ls.client.ahead().instance = nil
	if i != nil && attempt == 0 && t.Replica && i.Node == t.Node.Name {
		return i
	}
	return t.Instance(attempt)
}

// waitingSince is when the statement began to wait for a connection.
func (ls *leases) waitingSince(now time.Time) time.Time {
	since := ls.client.ahead().since
	ls.client.ahead().since = time.Time{}
	if since.IsZero() {
		return now
	}
	return since
}

// offered gives the connection that the loop had for the statement, if it is of the target and carries the session's state.
func (ls *leases) offered(t txn.Target, want *backend.Setting) (backend.Pooled, bool) {
	p := ls.client.ahead().offer
	if p.Pooled == nil {
		return p, false
	}
	ls.client.ahead().offer = offer{}
	if p.Instance.Node == t.Node.Name && (p.Instance == t.Node.Primary || t.Replica) && p.Key == want {
		return p, true
	}
	p.Put()
	return backend.Pooled{}, false
}
