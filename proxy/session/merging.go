package session

import (
	"errors"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/exec"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// merging is a query on several shards on its way: what the shards answer becomes one result.
type merging struct {
	client  *client
	route   *plan.Route
	options exec.Options
	loans   []txn.Lease
	sources []*exec.Source // in the order of the queries
	lost    []string       // nodes whose connections failed when they were asked for their warnings

	// Of one that a loop carries out: whose it is, its plan, and how many answers have not come whole. begun says that something has come, seen that it
	// had at the last tick, over that the loop has it no more.
	laned             *laned
	of                *plan.Plan
	left              int
	begun, seen, over bool
}

func (qs *queries) newMerging(q *query, p *plan.Plan, r *plan.Route, limit uint64, loans []txn.Lease) *merging {
	m := &merging{client: qs.client, route: r, loans: loans, sources: make([]*exec.Source, 0, len(r.Queries))}
	m.options = exec.Options{
		Offset: r.Offset, Limit: limit, Status: qs.client.status(), CountAll: p.CalcFoundRows(), Quota: qs.client.quota(q), Recount: m.collect,
	}
	if qs.client.task().own {
		m.options.Hide = mysql.ServerStatusInTrans | mysql.ServerStatusInTransReadonly
	}
	if p.CalcFoundRows() && !qs.client.mode().MariaDB && q.st == nil {
		m.options.Warnings = 1 // the shards' texts do without the word that a server warns of where it reads the text
	}
	m.options.Warnings += uint16(len(qs.client.task().warned))
	return m
}

// asked notes that a query was sent, and where its answer comes from.
func (m *merging) asked(p *plan.Plan, q *plan.Query, answer *exec.Source) {
	m.options.Names = append(m.options.Names, renames(p, q.Shards)...)
	m.sources = append(m.sources, answer)
}

// finishMerging merges the results into one for the client. Then connections come back, and the session knows what its last statement
// did.
func (qs *queries) finishMerging(q *query, m *merging) (failed bool, err error) {
	qs.client.state.Diagnostics.Clear()
	sum, err := exec.Merge(qs.client.out(), m.sources, m.route.Operator.(*plan.Merge), m.options)
	if err == nil && len(sum.Unread) > 0 && m.loans[0].Loop == nil {
		err = qs.client.out().Flush() // who has all that it asked for does not wait for shards that nobody needs any more
	}
	var lost []txn.Lease
	kept := make([]txn.Lease, 0, len(m.route.Queries))
	for k := range m.route.Queries {
		l := *txn.Find(m.loans, m.route.Queries[k].Node)
		done := m.sources[k].Done()
		if !done && !isConnError(err) {
			done = qs.client.skipRest(l, m.sources[k])
		}
		if done && !slices.Contains(m.lost, l.Node) {
			kept = append(kept, l)
		} else {
			lost = append(lost, l)
		}
	}
	if err != nil {
		qs.client.state.Diagnostics.Clear()
	}
	kept, killed := qs.shards.unpublish(kept)
	lost = append(lost, killed...)
	qs.leases.giveBack(kept)
	var sqlErr *mysql.SQLError
	switch {
	case err == nil && sum.Err == nil:
		if end := qs.shards.loseAnswered(lost, errRest); end != nil {
			return true, end
		}
		qs.client.observed.Forward(sum.Rows, sum.Bytes)
		qs.client.state.Diagnostics.RowCount = -1
		qs.client.state.Found.Found(sum.Rows)
		if q.info.Has(sqltext.CalcFoundRows) {
			qs.client.state.Found.Found(sum.Found)
		}
		qs.client.state.Diagnostics.WarningCount = int(sum.Warnings)
		qs.client.txn.LastOnHeld = false
		return false, nil
	case err == nil:
		origin := observe.OriginBackend
		if observe.Exceeded(qs.client.account, q.quota, sum.Err) {
			origin = observe.OriginProxy
		}
		qs.client.heard(sum.Err, origin)
		return true, qs.shards.loseAnswered(lost, errRest)
	case errors.As(err, &sqlErr):
		observe.Exceeded(qs.client.account, q.quota, sqlErr)
		if cause := qs.shards.dropUnread(lost); cause != nil {
			return true, cause
		}
		e := *sqlErr
		mysql.RenameError(&e, m.options.Names)
		return true, &e
	case isClientSide(err):
		qs.shards.loseAll(lost, nil)
		return true, clientEnd(err)
	case isConnError(err) && sum.Sent:
		qs.shards.loseAll(lost, nil)
		qs.client.writeError(newError(KSStatementBroken, ""), observe.OriginBackend)
		qs.client.lastWords()
		return true, &endError{process.EndBackendLost, err}
	case isConnError(err):
		return true, qs.shards.loseAll(lost, err)
	}
	if cause := qs.shards.dropUnread(lost); cause != nil {
		return true, cause
	}
	return true, newError(KSRefusedSharding, "the results of the shards cannot be merged: "+err.Error())
}

// collect keeps the warnings of the shards whose results were read to the end, those about the text and its constants as often as one
// server gives them, and tells how many they are.
func (m *merging) collect() uint16 {
	d := &m.client.state.Diagnostics
	pieces, truncated := 0, 0
	for k := range m.route.Queries {
		l := txn.Find(m.loans, m.route.Queries[k].Node)
		warnings := m.sources[k].Warnings()
		if !m.sources[k].Done() || warnings == 0 {
			continue
		}
		pieces += m.route.Queries[k].Pieces
		had := len(d.Warnings)
		if err := m.client.addWarnings(l.Pooled, m.options.Names); err != nil {
			m.lost = append(m.lost, l.Node)
			continue
		}
		truncated += max(int(warnings)-(len(d.Warnings)-had), 0)
	}
	q := &m.route.Queries[0]
	d.OnceForAll(pieces, q.Text, len(q.Args) > 0)
	return uint16(min(len(d.Warnings)+truncated, 1<<16-1))
}
