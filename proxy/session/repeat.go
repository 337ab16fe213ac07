package session

import (
	"errors"
	"os"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn"
)

// A connection to a server may turn out to be dead when a statement is sent on it: the server has closed it a moment ago. What never
// arrived there is sent again, once, where nothing of the session was on the connection; else the client hears that it was not carried out.
// What may have arrived is sent again if it has no effects and nothing of its answer has come; else nobody knows what became of it.

// repeats tells whether a statement whose connection broke is to be sent again. Then the connection is closed, and the session is as it
// was before the statement.
func (ls *leases) repeats(x *exchange, q *query, err error) bool {
	if x.attempt > 0 || x.wasHeld || !isConnError(err) || isClientSide(err) || x.p.Conn.Ended() || !ls.client.txn.Disposable(x.p) || ls.sharing() != nil || ls.client.entry.IsCancelled() {
		return false
	}
	if ls.client.conn.Sequence() != x.sent || ls.client.conn.Pending() > 0 || x.p.Conn.Net.Received()-x.had >= wrapsMin {
		return false // the client has, or may have, a part of the answer
	}
	if (!hasNoEffects(q) || q.reached != 0) && !x.p.Conn.NeverArrived() {
		return false
	}
	ls.forget(x.p, err)
	ls.client.txn.Pins = x.pins
	return true
}

// wrapsMin is how many bytes an answer has at least whose packets have sequence ids that begin anew.
const wrapsMin = 256 * 4

// hasNoEffects tells whether it does not matter, by its text, how often a statement is carried out: what it reaches aside.
func hasNoEffects(q *query) bool {
	return q.info.ReadOnly() && q.info.Traits&stateful == 0 && (q.within == nil || len(q.within.Inner) == 0)
}

// forget closes a connection that broke and that another one takes the place of. For that one the statement waits no longer than if it had
// been the first, but for half of the time at least.
func (ls *leases) forget(p backend.Pooled, cause error) {
	ls.client.shared.Log.Info("backend connection lost, another one is used", "conn", ls.client.id, "node", p.Instance.Node, "instance", p.Instance.Addr, "error", cause)
	p.Instance.CheckIdle()
	ls.drop(p)
	since := ls.client.entry.Now().Add(-ls.client.snap.Config.PoolWaitTimeout.Duration() / 2)
	if came := ls.client.entry.Since(); came.After(since) {
		since = came
	}
	ls.client.ahead().since = since
}

// replaces reports whether another connection does instead of one that broke: the proxy has sent no more on it than its own commands, which
// another has no need of. When a server ends all that are idle are dead, and then there is none until there is a primary again.
func (ls *leases) replaces(p backend.Pooled, attempt int, err error) bool {
	if !isConnError(err) || attempt >= p.Instance.Stats().Max || errors.Is(err, os.ErrDeadlineExceeded) || !ls.client.txn.Disposable(p) || ls.sharing() != nil || ls.client.entry.IsCancelled() {
		return false
	}
	ls.forget(p, err)
	return true
}

// notArrived is what a client hears of a statement that never arrived at a node.
func notArrived(nodes []string) *mysql.SQLError {
	connections := "connection to "
	if len(nodes) > 1 {
		connections = "connections to "
	}
	return newError(KSNotCarriedOut, "The "+connections+nodeList(nodes)+" broke before the statement had arrived there. It was not carried out.")
}

// lostBefore ends what was on a connection that broke before the client's statement was sent on it: the statement was not carried out.
func (ls *leases) lostBefore(p backend.Pooled, cause error) error { return ls.lose(p, true, cause) }

// mostConns is how many connections the instances of loans may have that have most.
func mostConns(loans []txn.Lease) (most int) {
	for k := range loans {
		most = max(most, loans[k].Instance.Stats().Max)
	}
	return most
}

// replacesAll reports whether other connections do instead of those of a statement on several shards, all of which are closed.
func (sh *shards) replacesAll(loans []txn.Lease, attempt int, err error) bool {
	if !isConnError(err) || isClientSide(err) || attempt > 0 && attempt >= mostConns(loans) || errors.Is(err, os.ErrDeadlineExceeded) || sh.client.entry.IsCancelled() {
		return false
	}
	for k := range loans {
		if sh.keeps(&loans[k]) {
			return false
		}
	}
	sh.client.shared.Log.Info("backend connection lost, others are used", "conn", sh.client.id, "error", err)
	for k := range loans {
		loans[k].Instance.CheckIdle()
	}
	sh.loseAll(loans, nil)
	return true
}

// errRepeat says that a query on several shards is to be sent again, on other connections.
var errRepeat = errors.New("to be sent again")

// onShards runs a query on several shards, by run: a second time if a connection broke before the client had anything of the answer and
// the query has no effects.
func (sh *shards) onShards(q *query, readOnly bool, run func() (bool, error)) (failed bool, err error) {
	t := sh.client.task()
	if readOnly && hasNoEffects(q) && sh.client.sink == nil && !sh.client.txn.Holding() && sh.client.conn.Pending() == 0 {
		t.repeatable = q
	}
	failed, err = run()
	t.repeatable = nil
	if err == errRepeat {
		return run()
	}
	return failed, err
}

// repeatsOnShards tells whether a query on several shards is to be sent again, now that a connection broke.
func (sh *shards) repeatsOnShards(loans []txn.Lease, cause error) bool {
	q := sh.client.task().repeatable
	if q == nil || sh.client.conn.Pending() > 0 {
		return false
	}
	for k := range loans {
		if !sh.effects.effectlessOn(loans[k].Instance, q) {
			return false
		}
	}
	return sh.replacesAll(loans, 0, cause)
}
