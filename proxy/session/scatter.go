package session

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/exec"
	"kingshard/proxy/faultpoint"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// drainMax is how many bytes of rows that nobody wants are read to keep a connection.
const drainMax = 256 << 10

// shards send what makes up one statement to several shards, each on a connection of its own.
type shards struct {
	client    *client
	effects   *effects
	leases    *leases
	exchanges *exchanges
}

// borrow gets a connection in the session's state to each node's primary. With readOnly nothing is changed nor locked there.
func (sh *shards) borrow(nodes []*backend.Node, readOnly bool) ([]txn.Lease, error) {
	leases, err := sh.client.txn.Borrow(nodes, func(n *backend.Node, have []txn.Lease) (txn.Lease, error) { return sh.leases.lease(n, readOnly, have) })
	if err != nil {
		return nil, sh.leases.notBorrowed(leases, err)
	}
	return leases, nil
}

// notBorrowed gives back what a statement has that lacks further connections, and returns what the client hears. After txn.ErrDeadlock the
// client's transaction gives way.
func (ls *leases) notBorrowed(leases []txn.Lease, err error) error {
	ls.giveBack(leases)
	if errors.Is(err, txn.ErrDeadlock) {
		return ls.giveWay()
	}
	return err
}

// lease gets a connection to a node for a statement that has some already: the one that the session has there, or a fresh one, which joins
// the transaction. After an error there is none to give back.
func (ls *leases) lease(n *backend.Node, readOnly bool, have []txn.Lease) (txn.Lease, error) {
	if l, ok := ls.client.txn.On(n.Name); ok {
		prepare := ls.prepareOther
		if ls.client.txn.Holds(l.Pooled) {
			prepare = ls.prepare
		}
		err := prepare(l.Pooled)
		if err == nil {
			ls.branches().uses(l.Pooled, readOnly)
		}
		return l, err
	}
	for tries := 0; ; tries++ {
		p, err := ls.freshConn(n, have)
		if err != nil {
			return txn.Lease{}, err
		}
		l, err := ls.client.txn.Join(p, n.Name, ls.branches().joining(n, readOnly))
		if err == nil {
			ls.branches().uses(p, readOnly)
			return l, nil
		}
		if !ls.joinsByAnother(p.Instance, err, tries) {
			return l, backendError(err)
		}
	}
}

const (
	// erXAErDupid is the code of a branch that is there already. MySQL manual: "Server Error Message Reference".
	erXAErDupid = 1440
	// dupidsMax is how many connections may hear of the branch of one that broke, whose server takes a moment to notice.
	dupidsMax = 16
)

// joinsByAnother reports whether a connection to another node may be tried where one could not become part of the transaction: it was dead, as many of a
// server's idle ones may be at a time, and nothing of the client's was sent on it.
func (ls *leases) joinsByAnother(i *backend.Instance, err error, tries int) bool {
	if refused, ok := errors.AsType[*mysql.SQLError](err); ok {
		return refused.Code == erXAErDupid && tries > 0 && tries < dupidsMax
	}
	broke, ok := errors.AsType[*mysql.ConnError](err)
	if !ok || broke.Side != mysql.BackendSide || errors.Is(err, os.ErrDeadlineExceeded) || tries >= i.Stats().Max {
		return false
	}
	if slices.ContainsFunc(ls.client.txn.All(), func(p backend.Pooled) bool { return p.Conn.Net.Broken() }) {
		return false // one that has a part of the transaction
	}
	i.CheckIdle()
	return true
}

// freshConn borrows a connection to a primary in the session's state; have are those that the statement has already. It ends with
// txn.ErrDeadlock where waiting would be in vain; see notBorrowed.
func (ls *leases) freshConn(n *backend.Node, have []txn.Lease) (backend.Pooled, error) {
	if err := ls.learnCharset(); err != nil {
		return backend.Pooled{}, err
	}
	p, err := ls.getHolding(n.Primary, ls.client.state.Setting(), have)
	if err != nil && !errors.Is(err, txn.ErrDeadlock) {
		return p, backendError(err)
	}
	return p, err
}

// giveBack returns connections that are not kept for a transaction.
func (ls *leases) giveBack(leases []txn.Lease) {
	if txn.GiveBack(leases) {
		ls.client.state.Found.Overwritten() // it was asked for what is not the client's
	}
}

// publish lets KILL reach the connections of a statement; false when the session, or the statement, was killed before.
func (sh *shards) publish(loans []txn.Lease) bool {
	sh.client.observed.Exchange(loans[0].Instance, sh.client.entry.Since())
	sh.client.observed.EachCounted = true // with each of the loans
	sh.client.task().loans = loans
	var few [8]backend.Pooled // on the stack
	conns := few[:0]
	for k := range loans {
		conns = append(conns, loans[k].Pooled)
	}
	return sh.client.entry.Publish(conns)
}

// loseAll closes connections that are out of step. A transaction that was on one of them is gone, and the session with it.
func (sh *shards) loseAll(loans []txn.Lease, cause error) error {
	if cause != nil && sh.repeatsOnShards(loans, cause) {
		return errRepeat
	}
	sh.client.entry.Unpublish()
	kept, never := false, true
	var gone []string
	for _, l := range loans {
		kept = kept || sh.keeps(&l)
		broken := cause != nil && l.Conn.Net.Broken()
		if broken {
			never = never && l.Conn.NeverArrived() // ahead of PeerGone, to which the system may tell of a reset
			l.Instance.CheckIdle()
		}
		if cause != nil && (l.Conn.Net.PeerGone() || broken) {
			gone = append(gone, l.Node)
			never = never && broken
		}
		sh.client.txn.Remove(l.Pooled)
		l.Ended(errGivenUp)
		l.Taint()
	}
	if cause == nil {
		return nil
	}
	never = never && len(gone) > 0
	sh.client.shared.Log.Warn("backend connection lost", "conn", sh.client.id, "nodes", strings.Join(gone, ","), "carried_out", carriedOut[never], "error", cause)
	if never {
		return sh.leases.lostWith(notArrived(gone), kept, cause)
	}
	return sh.leases.lostError(gone, kept, cause)
}

// selectLimit is the session's sql_select_limit, if it has set one. MySQL manual: "Server System Variables".
func (c *client) selectLimit() (limit uint64, set bool) {
	v := c.state.Value("sql_select_limit")
	if v == "" {
		return 0, false
	}
	limit, err := strconv.ParseUint(v, 10, 64)
	return limit, err == nil
}

// queries run queries over several shards, whose results become one.
type queries struct {
	client    *client
	effects   *effects
	leases    *leases
	routing   *routing
	exchanges *exchanges
	shards    *shards
}

// scatter runs a query on several shards and merges the results.
func (qs *queries) scatter(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	limit := qs.mergeLimit(p, r)
	if state.ReadsInsertID(&q.info, q.reached) {
		if err := qs.leases.learnHeldInsertID(); err != nil {
			return true, err
		}
	}
	loans, err := qs.shards.borrowReaders(q, p, qs.routing.nodesOf(r.Queries))
	if err != nil {
		return true, err
	}
	if !qs.shards.publish(loans) {
		qs.leases.giveBack(loans)
		return true, interrupted()
	}
	if err := qs.shards.bringToLoans(q, loans); err != nil {
		return true, qs.shards.loseAll(loans, err)
	}
	qs.client.observed.Counters.Scattered.Add(1)
	if !p.ReadOnly {
		qs.shards.watchRowLocks()
	}
	format := value.TextRow
	if ex != nil {
		format = value.BinaryRow
	}
	m := qs.newMerging(q, p, r, limit, loans)
	qs.client.task().analysis.restart()
	for k := range r.Queries {
		query := &r.Queries[k]
		l := txn.Find(loans, query.Node)
		definitions, err := qs.shards.startOn(l, query, ex, k == 0)
		if err != nil {
			return qs.shards.startFailed(loans, m.sources, k, named(err, renames(p, query.Shards)))
		}
		if k == 0 {
			m.options.Definitions = definitions
		}
		src := source(l, format)
		qs.client.task().analysis.merges(query, l, src)
		m.asked(p, query, src)
		if p.ReadOnly || k == len(r.Queries)-1 {
			continue
		}
		// It locks rows: one node after the other, as changes do.
		if err := l.Conn.Await(); err != nil {
			return qs.shards.startFailed(loans, m.sources, k, err)
		}
	}
	return qs.finishMerging(q, m)
}

// mergeLimit is how many rows a merge gives at most, by LIMIT or sql_select_limit, to which the shards keep each for itself.
func (qs *queries) mergeLimit(p *plan.Plan, r *plan.Route) uint64 {
	limit, set := qs.client.selectLimit()
	if !set || p.Statement.Query.Limit != nil {
		return r.Limit
	}
	return limit
}

// source reads what answers the statement that was sent last.
func source(l *txn.Lease, f value.Format) *exec.Source {
	src := exec.NewSource(l.Conn.Conn, f)
	src.AtEnd = func(e *mysql.SQLError) {
		if e != nil {
			l.Ended(e)
		} else {
			l.Ended(nil)
		}
	}
	return src
}

// startOn sends a query to its shard. With first it also asks for the result's columns where the query's own tell less.
func (sh *shards) startOn(l *txn.Lease, q *plan.Query, ex *boundExecution, first bool) (definitions []mysql.ColumnDefinition41, err error) {
	if first && q.Describe != "" {
		if err := sh.sendTo(l, q.Describe, q.DescribeArgs, ex); err != nil {
			return nil, err
		}
		definitions, err = l.Conn.ReadColumns()
		l.Ended(err)
		if err != nil {
			return nil, err
		}
	}
	return definitions, sh.sendTo(l, q.Text, q.Args, ex)
}

// sendTo sends a text, or the execution of a prepared one.
func (sh *shards) sendTo(l *txn.Lease, text string, args []int, ex *boundExecution) error {
	if err := faultpoint.Fail(faultpoint.BeforeSend); err != nil {
		return err
	}
	sh.effects.reachOn(l, text)
	l.Started(sh.client.id, sh.client.observed.ShardSpan(l.Instance, sh.client.state.DB(), text))
	var err error
	if ex == nil {
		l.Conn.Query(sh.client.task().query.attributes, text)
		err = l.Conn.Flush()
	} else {
		err = sh.sendBound(l, text, args, ex)
	}
	if fault := faultpoint.Fail(faultpoint.AfterSend); fault != nil {
		err = fault
	}
	if err != nil {
		l.Ended(err)
	}
	return err
}

// startFailed gives up a scatter that could not be sent everywhere. The shards asked already answer into nothing.
func (sh *shards) startFailed(loans []txn.Lease, sources []*exec.Source, at int, err error) (bool, error) {
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		for _, src := range sources {
			if done, _ := src.Drain(drainMax); !done {
				if cause := sh.dropUnread(loans); cause != nil {
					return true, cause
				}
				return true, sqlErr
			}
		}
		stay, lost := sh.unpublish(loans)
		sh.leases.giveBack(stay)
		if cause := sh.dropUnread(lost); cause != nil {
			return true, cause
		}
		return true, sqlErr
	}
	return true, sh.loseAll(loans, err)
}

// keeps reports whether something of the session goes with a connection: its transaction, if that is not one of the proxy's own, or state.
func (sh *shards) keeps(l *txn.Lease) bool {
	return l.Kept && (!sh.client.task().own || sh.client.txn.Pins != 0)
}

// dropUnread closes connections that are not to be used again: the rest of a result is too long to read, or a KILL was sent. One that carried
// the transaction takes the session with it.
func (sh *shards) dropUnread(lost []txn.Lease) error {
	for _, l := range lost {
		if sh.keeps(&l) {
			return sh.loseAll(lost, errors.New("the rest of a result was not read"))
		}
	}
	return sh.loseAll(lost, nil)
}

// loseAnswered closes connections behind an answer that the client has. The session ends where one of them carried its transaction.
func (sh *shards) loseAnswered(lost []txn.Lease, cause error) error {
	kept := slices.ContainsFunc(lost, func(l txn.Lease) bool { return sh.keeps(&l) })
	sh.loseAll(lost, nil)
	if !kept {
		return nil
	}
	sh.client.shared.Log.Warn("backend connection lost behind an answer: the session ends", "conn", sh.client.id, "error", cause)
	sh.client.txn.Pins = 0
	return &endError{process.EndBackendLost, cause}
}

// unpublish ends the time in which a KILL is sent to connections whose answers are read. After one only those stay that a transaction is on:
// it does not end by a KILL of its statement.
func (sh *shards) unpublish(loans []txn.Lease) (stay, lost []txn.Lease) {
	if !sh.client.entry.Unpublish() {
		return loans, nil
	}
	for _, l := range loans {
		if l.Kept && takeKill(l.Pooled) == nil {
			stay = append(stay, l)
		} else {
			lost = append(lost, l)
		}
	}
	return stay, lost
}

// errGivenUp says that a server's answer was not waited for.
var errGivenUp = errors.New("given up")

func isConnError(err error) bool {
	if err == nil {
		return false
	}
	var c *mysql.ConnError
	return errors.As(err, &c)
}

// dropRunning closes the connections that a statement was using when it panicked: nobody knows what is still to come on
// them.
func (sh *shards) dropRunning() {
	var loans []txn.Lease
	if sh.client.entry.Published() {
		loans = sh.client.task().loans
	}
	sh.loseAll(loans, nil)
	p := sh.client.entry.Running()
	if p.Pooled != nil && !slices.ContainsFunc(loans, func(l txn.Lease) bool { return l.Pooled.Pooled == p.Pooled }) {
		sh.leases.drop(p)
	}
}

// borrowReaders gets a connection to each node for a query on several shards: to a replica where a query rule says so and nothing
// that the query may depend on is on a primary.
func (sh *shards) borrowReaders(q *query, p *plan.Plan, nodes []*backend.Node) ([]txn.Lease, error) {
	if !ruledToReplica(q) || !p.ReadOnly || sh.client.sink.catches() || sh.client.task().composed || sh.client.txn.Holding() || sh.client.txn.InTransaction() || !sh.client.state.Autocommit ||
		sh.client.txn.Next.IsSet() {
		return sh.borrow(nodes, p.ReadOnly || sh.client.task().own)
	}
	leases, err := sh.client.txn.Borrow(nodes, func(n *backend.Node, have []txn.Lease) (txn.Lease, error) {
		p, err := sh.borrowReader(n, have)
		return txn.Lease{Pooled: p, Node: n.Name}, err
	})
	if err != nil {
		return nil, sh.leases.notBorrowed(leases, err)
	}
	return leases, nil
}

// borrowReader borrows a connection to a replica, or to the primary if none can serve.
func (sh *shards) borrowReader(n *backend.Node, loans []txn.Lease) (backend.Pooled, error) {
	if err := sh.leases.learnCharset(); err != nil {
		return backend.Pooled{}, err
	}
	t := txn.Target{Node: n, Replica: true}
	sh.exchanges.routing.freshness().bound(&t, "")
	for attempt := 0; ; attempt++ {
		instance := t.Instance(attempt)
		if !backend.Has(instance, t.After) {
			instance = n.Primary
		}
		if fallsBack(t, instance) {
			if err := sh.leases.fallBack(n, time.Now().Add(sh.client.snap.Config.PoolWaitTimeout.Duration())); err != nil {
				return backend.Pooled{}, err
			}
		}
		p, err := sh.leases.getHolding(instance, sh.client.state.Setting(), loans)
		if err == nil {
			if instance.Role == backend.Replica {
				sh.client.observed.CountReplica()
			}
			return p, nil
		}
		switch {
		case errors.Is(err, txn.ErrDeadlock):
			return p, err
		case instance.Role == backend.Primary, errors.Is(err, pool.ErrTimeout), errors.Is(err, pool.ErrTooManyWaiters), errors.Is(err, pool.ErrCancelled):
			return p, backendError(err)
		}
	}
}
