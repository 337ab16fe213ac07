package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/exec"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/tracing"
	"kingshard/router/plan"
)

// drainMax is how many bytes of rows that nobody wants are read to keep a connection.
const drainMax = 256 << 10

// loan is a connection that takes part in a statement on several shards.
type loan struct {
	backend.Pooled
	node string
	kept bool // it is the held connection, or another one of the open transaction
	// hurried says that it has an innodb_lock_wait_timeout of its own, lockWait; see hurry.
	hurried  bool
	lockWait int
	// span is that of the last statement that was sent; nil where nothing is traced.
	span *tracing.Span
	// began is when that was, if its answer is still to come, cell the counters' that it goes to, and had what was read before.
	began time.Time
	cell  uint32
	had   uint64
	// lease is what a loop has of the connection, if one carries the statement out.
	lease *lease
}

// looped tells whether a loop has the connection now, for the session.
func (l *loan) looped(s *Session) bool { return l.lease != nil && l.lease.session == s }

// put gives back a connection that can be used again.
func (l *loan) put(s *Session) {
	if l.looped(s) {
		l.lease.put()
		return
	}
	l.Put()
}

// close closes a connection that is out of step.
func (l *loan) close(s *Session) {
	if l.looped(s) {
		l.lease.leave()
	}
	l.Taint()
}

// started notes that a statement of the client's is sent.
func (l *loan) started(s *Session, text string) {
	s.reachOn(l, text)
	l.span = s.observed.ShardSpan(l.Instance, s.state.DB(), text)
	l.began, l.cell, l.had = time.Now(), s.id, l.Conn.Net.Received()
}

// ended counts the last statement that was sent and ends its span.
func (l *loan) ended(err error) {
	if !l.began.IsZero() {
		l.Instance.Count(l.cell, time.Since(l.began), l.Conn.Net.Received()-l.had, err != nil)
		l.began = time.Time{}
	}
	if l.span != nil {
		observe.EndSpan(l.span, err)
		l.span = nil
	}
}

// borrow gets a connection to each node, in the order of their names, so that statements that wait for each other's
// connections do not exist: each waits only for nodes behind those it has.
func (s *Session) borrow(nodes []*backend.Node, readOnly bool) ([]loan, error) {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *backend.Node) int { return strings.Compare(a.Name, b.Name) })
	for {
		loans, err := s.borrowAll(nodes, readOnly)
		switch {
		case err == nil:
			return loans, nil
		case !errors.Is(err, errDeadlock):
			s.giveBack(loans)
			return nil, err
		}
		s.giveBack(loans)
		if s.held.Pooled != nil {
			return nil, s.giveWay()
		}
		// Nothing has been sent: the others go first, then it is tried again.
	}
}

// borrowAll gives the loans that it got with its error, too.
func (s *Session) borrowAll(nodes []*backend.Node, readOnly bool) (loans []loan, err error) {
	loans = make([]loan, 0, len(nodes))
	for _, n := range nodes {
		l, err := s.borrowOne(n, readOnly, loans)
		if err != nil {
			return loans, err
		}
		loans = append(loans, l)
	}
	return loans, nil
}

// borrowOne borrows a connection to one node for a session that holds loans already.
func (s *Session) borrowOne(n *backend.Node, readOnly bool, loans []loan) (loan, error) {
	if s.held.Pooled != nil && s.held.Instance.Node == n.Name {
		return loan{Pooled: s.held, node: n.Name, kept: true}, s.prepare(s.held)
	}
	if other, ok := s.others[n.Name]; ok {
		return loan{Pooled: other, node: n.Name, kept: true}, s.prepareOther(other)
	}
	p, err := s.freshConn(n, loans)
	if err != nil {
		return loan{}, err
	}
	if !s.inTransaction() && s.state.Autocommit {
		return loan{Pooled: p, node: n.Name}, nil
	}
	if !readOnly {
		p.Put()
		return loan{}, newError(KSTransactionNodes, "transaction in multi node")
	}
	if err := s.enlist(p, n.Name); err != nil {
		return loan{}, err
	}
	return loan{Pooled: p, node: n.Name, kept: true}, nil
}

// freshConn borrows a connection to a primary in the session's state; loans are those that the statement has already. After
// errDeadlock the caller gives back what it has and calls giveWay, or begins anew.
func (s *Session) freshConn(n *backend.Node, loans []loan) (backend.Pooled, error) {
	if err := s.learnCharset(n); err != nil {
		return backend.Pooled{}, err
	}
	p, err := s.getHolding(n.Primary, s.state.Setting(), s.holding(loans))
	switch {
	case err == nil:
		return p, nil
	case errors.Is(err, errDeadlock):
		return p, err
	}
	return p, backendError(err)
}

// enlist makes a connection part of the open transaction: the session's first one becomes the held one, further ones may
// only read.
func (s *Session) enlist(p backend.Pooled, node string) error {
	first, next := s.tx.pendingBegin, s.tx.next
	if first == "" {
		first = begin
		if s.held.Pooled != nil {
			next = s.tx.began
		}
	}
	if next.unknown {
		p.Put()
		return s.errNextIsElsewhere("this transaction")
	}
	for _, sql := range [...]string{next.text(), first} {
		if sql == "" {
			continue
		}
		if err := s.observed.Run(p, s.state.DB(), sql); err != nil {
			p.Taint()
			return backendError(err)
		}
	}
	if s.held.Pooled == nil {
		s.held = p
		s.tx.pendingBegin, s.tx.began, s.tx.next = "", next, characteristics{}
		return nil
	}
	if s.others == nil {
		s.others = map[string]backend.Pooled{}
	}
	s.others[node] = p
	return nil
}

// endOthers ends the transactions on the nodes that were only read, with the client's transaction.
func (s *Session) endOthers() {
	for node, p := range s.others {
		delete(s.others, node)
		p.Conn.Net.SetDeadline(time.Now().Add(cleanupTimeout))
		if err := s.observed.Run(p, s.state.DB(), commit); err != nil {
			p.Taint()
			continue
		}
		p.Conn.Net.SetDeadline(time.Time{})
		p.Put()
	}
}

// giveBack returns connections that are not kept for a transaction.
func (s *Session) giveBack(loans []loan) {
	for k := range loans {
		l := &loans[k]
		l.ended(nil)
		switch {
		case !l.kept:
			l.put(s)
		default:
			s.state.Found.Overwritten() // it was asked for what is not the client's
			l.Conn.Release()
		}
	}
}

// publish lets KILL reach the connections of a statement; false when the session, or the statement, was killed before.
func (s *Session) publish(loans []loan) bool {
	s.observed.Exchange(loans[0].Instance, s.entry.Since())
	s.observed.EachCounted = true // with each of the loans
	s.task().loans = loans
	var few [8]backend.Pooled // on the stack
	conns := few[:0]
	for k := range loans {
		conns = append(conns, loans[k].Pooled)
	}
	return s.entry.Publish(conns)
}

// loseAll closes connections that are out of step. A transaction that was on one of them is gone, and the session with it.
func (s *Session) loseAll(loans []loan, cause error) error {
	if cause != nil && s.repeatsOnShards(loans, cause) {
		return errRepeat
	}
	s.entry.Unpublish()
	kept, never := false, true
	var gone []string
	for _, l := range loans {
		kept = kept || l.kept
		broken := cause != nil && l.Conn.Net.Broken()
		if broken {
			never = never && l.Conn.NeverArrived() // ahead of PeerGone, to which the system may tell of a reset
			l.Instance.CheckIdle()
		}
		if cause != nil && (l.Conn.Net.PeerGone() || broken) {
			gone = append(gone, l.node)
			never = never && broken
		}
		if s.held.Pooled == l.Pooled.Pooled {
			s.held = backend.Pooled{}
		}
		delete(s.others, l.node)
		l.ended(errGivenUp)
		l.close(s)
	}
	if cause == nil {
		return nil
	}
	never = never && len(gone) > 0
	s.shared.Log.Warn("backend connection lost", "conn", s.id, "nodes", strings.Join(gone, ","), "carried_out", carriedOut[never], "error", cause)
	if never {
		return s.lostWith(notArrived(gone), kept, cause)
	}
	return s.lostError(gone, kept, cause)
}

// selectLimit is the session's sql_select_limit, if it has set one. MySQL manual: "Server System Variables".
func (s *Session) selectLimit() (limit uint64, set bool) {
	v := s.state.Value("sql_select_limit")
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
		if err := s.learnHeldInsertID(); err != nil {
			return true, err
		}
	}
	loans, err := s.borrowReaders(q, p, s.nodesOf(r.Queries))
	if err != nil {
		return true, err
	}
	if !s.publish(loans) {
		s.giveBack(loans)
		return true, interrupted()
	}
	if err := s.bringToLoans(q, loans); err != nil {
		return true, s.loseAll(loans, err)
	}
	s.observed.Counters.Scattered.Add(1)
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
		l := find(loans, query.Node)
		definitions, err := s.startOn(l, query, ex, k == 0)
		if err != nil {
			return s.startFailed(loans, m.sources, k, named(err, renames(p, query.Shards)))
		}
		if k == 0 {
			m.options.Definitions = definitions
		}
		m.asked(p, query, l.source(format))
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
	limit, set := s.selectLimit()
	switch {
	case !set || p.Statement.Query.Limit != nil:
		return r.Limit, nil
	case p.CalcFoundRows():
		return 0, newError(KSRefusedSharding, "SQL_CALC_FOUND_ROWS over several shards while sql_select_limit is set")
	}
	return limit, nil
}

// source reads what answers the statement that was sent last.
func (l *loan) source(f value.Format) *exec.Source {
	src := exec.NewSource(l.Conn.Conn, f)
	src.AtEnd = func(e *mysql.SQLError) {
		if e != nil {
			l.ended(e)
		} else {
			l.ended(nil)
		}
	}
	return src
}

func find(loans []loan, node string) *loan {
	for k := range loans {
		if loans[k].node == node {
			return &loans[k]
		}
	}
	return nil
}

// startOn sends a query to its shard. With first it also asks for the result's columns where the query's own tell less.
func (s *Session) startOn(l *loan, q *plan.Query, ex *boundExecution, first bool) (definitions []mysql.ColumnDefinition41, err error) {
	if first && q.Describe != "" {
		if err := s.sendTo(l, q.Describe, q.DescribeArgs, ex); err != nil {
			return nil, err
		}
		definitions, err = l.Conn.ReadColumns()
		l.ended(err)
		if err != nil {
			return nil, err
		}
	}
	return definitions, s.sendTo(l, q.Text, q.Args, ex)
}

// sendTo sends a text, or the execution of a prepared one.
func (s *Session) sendTo(l *loan, text string, args []int, ex *boundExecution) error {
	l.started(s, text)
	var err error
	if ex == nil {
		l.Conn.Query(s.task().query.attributes, text)
		err = l.Conn.Flush()
	} else {
		err = s.sendBound(l, text, args, ex)
	}
	if err != nil {
		l.ended(err)
	}
	return err
}

// startFailed gives up a scatter that could not be sent everywhere. The shards asked already answer into nothing.
func (s *Session) startFailed(loans []loan, sources []*exec.Source, at int, err error) (bool, error) {
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		for _, src := range sources {
			if done, _ := src.Drain(drainMax); !done {
				return true, s.loseAll(loans, nil)
			}
		}
		s.entry.Unpublish()
		s.giveBack(loans)
		return true, sqlErr
	}
	return true, s.loseAll(loans, err)
}

// dropUnread closes connections whose rest of a result is too long to read. One that carried the transaction takes the
// session with it.
func (s *Session) dropUnread(lost []loan) error {
	for _, l := range lost {
		if l.kept {
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
