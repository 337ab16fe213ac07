package session

import (
	"errors"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/exec"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// drainMax is how many bytes of rows that nobody wants are read to keep a connection.
const drainMax = 256 << 10

// borrow gets a connection in the session's state to each node's primary. With readOnly a transaction may be on others than the one that it
// changes.
func (s *Session) borrow(nodes []*backend.Node, readOnly bool) ([]txn.Lease, error) {
	leases, err := s.client.txn.Borrow(nodes, func(n *backend.Node, have []txn.Lease) (txn.Lease, error) { return s.leases.lease(n, readOnly, have) })
	if err != nil {
		return nil, s.leases.notBorrowed(leases, err)
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
	switch l, ok := ls.client.txn.On(n.Name); {
	case ok && ls.client.txn.Holds(l.Pooled):
		return l, ls.prepare(l.Pooled)
	case ok:
		return l, ls.prepareOther(l.Pooled)
	}
	p, err := ls.freshConn(n, have)
	if err != nil {
		return txn.Lease{}, err
	}
	l, err := ls.client.txn.Join(p, n.Name, readOnly, ls.client.state.Autocommit, ls.client.run)
	if err != nil {
		return l, backendError(err)
	}
	return l, nil
}

// freshConn borrows a connection to a primary in the session's state; have are those that the statement has already. It ends with
// txn.ErrDeadlock where waiting would be in vain; see notBorrowed.
func (ls *leases) freshConn(n *backend.Node, have []txn.Lease) (backend.Pooled, error) {
	if err := ls.learnCharset(n); err != nil {
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
func (s *Session) publish(loans []txn.Lease) bool {
	s.client.observed.Exchange(loans[0].Instance, s.client.entry.Since())
	s.client.observed.EachCounted = true // with each of the loans
	s.client.task().loans = loans
	var few [8]backend.Pooled // on the stack
	conns := few[:0]
	for k := range loans {
		conns = append(conns, loans[k].Pooled)
	}
	return s.client.entry.Publish(conns)
}

// loseAll closes connections that are out of step. A transaction that was on one of them is gone, and the session with it.
func (s *Session) loseAll(loans []txn.Lease, cause error) error {
	if cause != nil && s.repeatsOnShards(loans, cause) {
		return errRepeat
	}
	s.client.entry.Unpublish()
	kept, never := false, true
	var gone []string
	for _, l := range loans {
		kept = kept || l.Kept
		broken := cause != nil && l.Conn.Net.Broken()
		if broken {
			never = never && l.Conn.NeverArrived() // ahead of PeerGone, to which the system may tell of a reset
			l.Instance.CheckIdle()
		}
		if cause != nil && (l.Conn.Net.PeerGone() || broken) {
			gone = append(gone, l.Node)
			never = never && broken
		}
		s.client.txn.Remove(l.Pooled)
		l.Ended(errGivenUp)
		l.Taint()
	}
	if cause == nil {
		return nil
	}
	never = never && len(gone) > 0
	s.client.shared.Log.Warn("backend connection lost", "conn", s.client.id, "nodes", strings.Join(gone, ","), "carried_out", carriedOut[never], "error", cause)
	if never {
		return s.leases.lostWith(notArrived(gone), kept, cause)
	}
	return s.leases.lostError(gone, kept, cause)
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

// scatter runs a query on several shards and merges the results.
func (s *Session) scatter(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	limit, err := s.mergeLimit(p, r)
	if err != nil {
		return true, err
	}
	if state.ReadsInsertID(&q.info, q.reached) {
		if err := s.leases.learnHeldInsertID(); err != nil {
			return true, err
		}
	}
	loans, err := s.borrowReaders(q, p, s.routing.nodesOf(r.Queries))
	if err != nil {
		return true, err
	}
	if !s.publish(loans) {
		s.leases.giveBack(loans)
		return true, interrupted()
	}
	if err := s.bringToLoans(q, loans); err != nil {
		return true, s.loseAll(loans, err)
	}
	s.client.observed.Counters.Scattered.Add(1)
	if !p.ReadOnly {
		s.watchRowLocks()
	}
	format := value.TextRow
	if ex != nil {
		format = value.BinaryRow
	}
	m := s.newMerging(q, p, r, limit, loans)
	for k := range r.Queries {
		query := &r.Queries[k]
		l := txn.Find(loans, query.Node)
		definitions, err := s.startOn(l, query, ex, k == 0)
		if err != nil {
			return s.startFailed(loans, m.sources, k, named(err, renames(p, query.Shards)))
		}
		if k == 0 {
			m.options.Definitions = definitions
		}
		m.asked(p, query, source(l, format))
		if p.ReadOnly || k == len(r.Queries)-1 {
			continue
		}
		// It locks rows: one node after the other, as changes do.
		if err := l.Conn.Await(); err != nil {
			return s.startFailed(loans, m.sources, k, err)
		}
	}
	return s.finishMerging(q, m)
}

// mergeLimit is how many rows a merge gives at most, by LIMIT or sql_select_limit, to which the shards keep each for itself.
func (s *Session) mergeLimit(p *plan.Plan, r *plan.Route) (uint64, error) {
	limit, set := s.client.selectLimit()
	switch {
	case !set || p.Statement.Query.Limit != nil:
		return r.Limit, nil
	case p.CalcFoundRows():
		return 0, newError(KSRefusedSharding, "SQL_CALC_FOUND_ROWS over several shards while sql_select_limit is set")
	}
	return limit, nil
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
func (s *Session) startOn(l *txn.Lease, q *plan.Query, ex *boundExecution, first bool) (definitions []mysql.ColumnDefinition41, err error) {
	if first && q.Describe != "" {
		if err := s.sendTo(l, q.Describe, q.DescribeArgs, ex); err != nil {
			return nil, err
		}
		definitions, err = l.Conn.ReadColumns()
		l.Ended(err)
		if err != nil {
			return nil, err
		}
	}
	return definitions, s.sendTo(l, q.Text, q.Args, ex)
}

// sendTo sends a text, or the execution of a prepared one.
func (s *Session) sendTo(l *txn.Lease, text string, args []int, ex *boundExecution) error {
	s.effects.reachOn(l, text)
	l.Started(s.client.id, s.client.observed.ShardSpan(l.Instance, s.client.state.DB(), text))
	var err error
	if ex == nil {
		l.Conn.Query(s.client.task().query.attributes, text)
		err = l.Conn.Flush()
	} else {
		err = s.sendBound(l, text, args, ex)
	}
	if err != nil {
		l.Ended(err)
	}
	return err
}

// startFailed gives up a scatter that could not be sent everywhere. The shards asked already answer into nothing.
func (s *Session) startFailed(loans []txn.Lease, sources []*exec.Source, at int, err error) (bool, error) {
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		for _, src := range sources {
			if done, _ := src.Drain(drainMax); !done {
				return true, s.loseAll(loans, nil)
			}
		}
		s.client.entry.Unpublish()
		s.leases.giveBack(loans)
		return true, sqlErr
	}
	return true, s.loseAll(loans, err)
}

// dropUnread closes connections whose rest of a result is too long to read. One that carried the transaction takes the
// session with it.
func (s *Session) dropUnread(lost []txn.Lease) error {
	for _, l := range lost {
		if l.Kept {
			return s.loseAll(lost, errors.New("the rest of a result was not read"))
		}
	}
	return s.loseAll(lost, nil)
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
