package session

import (
	"errors"

	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// finishRoute collects the rows of the sharded tables in temporary tables of one server, which then runs the client's
// statement on them: expressions, collations and clauses of every kind have the server's own meaning. The client is warned with warned, if it is set.
func (qs *queries) finishRoute(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution, warned *state.Warning) (failed bool, err error) {
	if d := qs.client.snap.Config.FinishTimeout.Duration(); d > 0 && q.verdict.Timeout == 0 {
		x := qs.client.entry.ExpireAfter(d)
		defer func() { err = expired(x, err) }()
	}
	beside := qs.client.txn.InTransaction() || !qs.client.state.Autocommit
	if beside && r.Finishing.InPlace {
		return true, newError(KSRefusedSharding, "MATCH ... AGAINST on a table that would be collected, as the statement is finished beside the transaction: "+p.Reason)
	}
	f := finishing{s: qs, q: q, plan: p, route: r.Finishing, ex: ex, names: map[*plan.Ref]string{}, copied: map[*plan.Ref]int{}, warned: warned}
	if f.assigned, err = assignedBy(qs.client, q); err != nil {
		return true, err
	}
	qs.client.task().analysis.restart()
	if state.ReadsInsertID(&q.info, q.reached) {
		if err := qs.leases.learnHeldInsertID(); err != nil {
			return true, err
		}
	}
	if err := f.borrow(beside); err != nil {
		return true, err
	}
	if !qs.shards.publish(f.loans) {
		qs.leases.giveBack(f.loans)
		return true, interrupted()
	}
	if err := qs.shards.bringToLoans(q, f.loans); err != nil {
		return true, qs.shards.loseAll(f.loans, err)
	}
	qs.client.observed.Counters.Scattered.Add(1)
	f.last = txn.Find(f.loans, f.node)
	if aside := txn.Find(f.loans, scratchLoan); aside != nil {
		f.last, f.aside = aside, true
	}
	return f.run()
}

// finishing is one finishRoute under way.
type finishing struct {
	s       *queries
	q       *query
	plan    *plan.Plan
	route   *plan.Finishing
	ex      *boundExecution
	node    string
	loans   []txn.Lease
	last    *txn.Lease // where the statement ends
	aside   bool       // last takes no part in the transaction
	names   map[*plan.Ref]string
	copied  map[*plan.Ref]int // how many copies there are of their tables
	made    []string          // scratch tables
	limits  finishLimits
	limited bool     // see limitJoin
	changed []string // what takes back what begin has set, as SET has it
	// warned, if set, is a warning of the proxy's own.
	warned *state.Warning
	// prepare, if set, makes the scratch tables in place of fill, and with them the final text, its parameters and the
	// names in its answer.
	prepare func() error
	text    string
	args    []int
	rename  []mysql.TableName
	// definitions, if set, are those of the client's result.
	definitions []mysql.ColumnDefinition41
	asDefined   bool // see mysql.ForwardOptions
	// assigned are user variables to which the statement may give values.
	assigned []string
	// step measures what is collected now; nil but under EXPLAIN ANALYZE.
	step *measuredStep
}

func (f *finishing) run() (failed bool, err error) {
	f.limits = finishLimitsOf(f.s.client)
	defer f.limits.giveBack()
	writable, err := f.s.shards.writable(f.last.Pooled)
	if err != nil {
		return true, f.s.shards.loseAll(f.loans, err)
	}
	if f.prepare != nil {
		err = f.prepare()
	} else {
		err = f.fill()
	}
	sent := f.s.client.conn.Sequence()
	var res mysql.Response
	if err == nil {
		res, err = f.answers()
	}
	var sqlErr *mysql.SQLError
	if err != nil && !errors.As(err, &sqlErr) {
		if isClientSide(err) {
			f.s.shards.loseAll(f.loans, nil)
			return true, clientEnd(err)
		}
		if f.s.client.conn.Sequence() != sent {
			f.s.shards.loseAll(f.loans, nil)
			f.s.client.writeError(newError(KSStatementBroken, ""), observe.OriginBackend)
			f.s.client.lastWords()
			return true, &endError{process.EndBackendLost, err}
		}
		return true, f.s.shards.loseAll(f.loans, err)
	}
	f.s.client.txn.LastOnHeld = false
	if err != nil {
		f.assigned = nil
	}
	if cause := f.clean(); cause != nil {
		if err != nil {
			return true, f.s.shards.loseAll(f.loans, cause)
		}
		return true, f.s.shards.loseAnswered(f.loans, cause)
	}
	if err = writable(err); err != nil && !errors.As(err, &sqlErr) {
		return true, f.s.shards.loseAll(f.loans, err)
	}
	f.s.leases.giveBack(f.loans)
	if err != nil {
		return true, sqlErr
	}
	return res.Kind == mysql.ResponseErr, nil
}

// clean takes away what the statement has left on the connections. No KILL of it is sent from here on, and one that was ends nothing else.
func (f *finishing) clean() error {
	f.s.client.entry.TakeRunning() // the held connection, that a question for variables has named
	if f.s.client.entry.Unpublish() {
		for k := range f.loans {
			if err := takeKill(f.loans[k].Pooled); err != nil {
				return err
			}
		}
	}
	if len(f.assigned) > 0 {
		if err := f.keepAssigned(); err != nil {
			return err
		}
	}
	if err := f.asBefore(); err != nil {
		return err
	}
	if f.aside && f.last.Conn.Status.Has(mysql.ServerStatusInTrans) {
		if err := f.exec(txn.SQLCommit); err != nil {
			return err
		}
	}
	return f.s.client.state.SettleInsertID(f.last.Pooled.Conn, false)
}

// exec runs a statement of the proxy's own where the client's statement ends.
func (f *finishing) exec(sql string) error {
	return f.s.client.observed.Run(f.last.Pooled, f.s.client.state.DB(), sql)
}

// preparedOtherwise refuses an execution whose text would be read anew.
func preparedOtherwise() *mysql.SQLError {
	return newError(KSRefusedSharding, "the statement was prepared under another sql_mode or character set, and servers are to read its text again: prepare it again")
}

// asText writes the values of an execution into a text of a plan. The text is read under the session's mode, which must be the one that it
// was prepared under.
func (sh *shards) asText(p *plan.Plan, query *plan.Query, ex *boundExecution) (string, error) {
	if p.Mode != sh.client.mode() {
		return "", preparedOtherwise()
	}
	text, err := plan.Bind(query.Text, p.Mode, query.Args, ex.args)
	if err != nil {
		return "", planError(err)
	}
	return text, nil
}
