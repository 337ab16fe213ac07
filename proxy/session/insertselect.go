package session

import (
	"errors"
	"strconv"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// insertSelect runs an INSERT ... SELECT that leaves ids to the table: it counts the rows of each shard and locks them, draws as many ids, and has the
// shards insert the rows with these, all in one transaction on every node.
func (cs *changes) insertSelect(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	if q.info.Class == sqltext.Replace {
		return true, newError(KSRefusedSharding, "REPLACE ... SELECT that leaves the AUTO_INCREMENT column to the sharded table "+p.Target.Parsed.Name+": give the ids")
	}
	if p.Operator.(*plan.InsertSelect).Zero && zeroStays(cs.client) {
		return true, newError(KSRefusedSharding, "INSERT ... SELECT of 0 for the AUTO_INCREMENT column of the sharded table "+p.Target.Parsed.Name+
			" under NO_AUTO_VALUE_ON_ZERO: give other ids, or NULL to have them drawn")
	}
	if info := cs.client.schema.Default.Info(); info != nil && !info.MariaDB && info.Number < 80000 {
		return true, newError(KSRefusedSharding, "INSERT ... SELECT that leaves the AUTO_INCREMENT column to the sharded table "+p.Target.Parsed.Name+
			" numbers its rows by ROW_NUMBER(), which MySQL has since 8.0: give the ids")
	}
	for attempt := 1; ; attempt++ {
		again := false
		failed, err = cs.shards.untilLocked(func() (c *change, failed bool, err error) {
			c, again, failed, err = cs.tryInsertSelect(q, p, r, ex)
			return c, failed, err
		})
		if !again || attempt == drawsMax {
			return failed, err
		}
	}
}

// tryInsertSelect makes one attempt; the change that it returns says what held locks. again says that other ids may help: there were more rows than were
// counted, or an id was there already.
func (cs *changes) tryInsertSelect(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (_ *change, again, failed bool, err error) {
	c, err := cs.openChange(q.text, cs.routing.nodesOf(r.Queries))
	if err != nil {
		return c, false, true, err
	}
	fail := func(err error) (*change, bool, bool, error) {
		return c, again, true, cs.writeFailed(c, err, allRenames(p, r.Queries))
	}
	if err := cs.shards.hurry(c, 1); err != nil {
		return fail(err)
	}
	counts, all, err := cs.countRows(c, p, r, ex)
	if err == nil {
		err = cs.shards.hurryBack(c)
	}
	var ids *rowIDs
	if err == nil {
		ids, err = cs.drawMany(p, all)
	}
	if err != nil {
		return fail(err)
	}
	inserts := plan.Route{Operator: plan.Change{}}
	first := ids.first
	for k, at := range r.Positions {
		inserts.Queries = append(inserts.Queries, cs.client.lookup().execution.Numbered(at, max(first, 1), counts[k], ids.spacing.Increment))
		first += counts[k] * ids.spacing.Increment
	}
	total, err := cs.writeAll(c, p, &inserts, ex, readChange)
	if refused := new(mysql.SQLError); errors.As(err, &refused) && (refused.Code == erDataOutOfRange || ids.met(refused)) {
		if again = true; refused.Code != erDataOutOfRange {
			cs.client.shared.Sequences.Of(ids.table).Doubt()
		}
	}
	if err == nil {
		err = cs.leases.stillHeard(p.Watches())
	}
	if err != nil {
		return fail(err)
	}
	if err := cs.shards.insertedOnShards(q, c.loans, ex); err != nil {
		return fail(err)
	}
	if err := cs.commitChange(c); err != nil {
		return c, false, true, err
	}
	if all > 0 {
		cs.client.state.InsertID = state.InsertIDOf(ids.first)
		total.LastInsertID = ids.first
	}
	cs.client.state.Found.FoundBy(total.Info)
	return c, false, false, cs.wrote(c, total)
}

// countRows counts the rows of each shard, and those of all.
func (cs *changes) countRows(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution) (counts []uint64, all uint64, err error) {
	counts = make([]uint64, len(r.Queries))
	for _, k := range byNode(r.Queries) {
		query := &r.Queries[k]
		l, text := txn.Find(c.loans, query.Node), query.Text
		if ex != nil {
			if text, err = cs.shards.asText(p, query, ex); err != nil {
				return nil, 0, err
			}
		}
		if l.Kept {
			if err := cs.client.state.Found.Settle(l.Conn, false); err != nil { // the question finds a row
				return nil, 0, err
			}
			cs.client.state.Found.Overwritten()
		}
		cs.effects.reachOn(l, text)
		span := cs.client.observed.OwnSpan(l.Instance, cs.client.state.DB(), text)
		err := l.Conn.Rows(text, 1, func(row []string) { counts[k], _ = strconv.ParseUint(row[0], 10, 64) })
		observe.EndSpan(span, err)
		if err != nil {
			return nil, 0, err
		}
		all += counts[k]
	}
	return counts, all, nil
}

// drawMany draws n ids; none for an n of 0.
func (cs *changes) drawMany(p *plan.Plan, n uint64) (*rowIDs, error) {
	t, spacing := cs.routing.sequenceTable(p.Target.Table), idSpacing(&cs.client.state)
	ids := &rowIDs{table: t, spacing: spacing, plainly: true}
	if n == 0 {
		return ids, nil
	}
	var err error
	ids.first, err = cs.leases.draw(t, int(n))
	ids.last = ids.first + (n-1)*spacing.Increment
	return ids, err
}
