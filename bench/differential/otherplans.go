package differential

import (
	"fmt"
	"regexp"
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A server does not answer every query in one way only: what it tells of a column, and here and there a value, depends on
// the plan, which depends on indexes and numbers of rows. MAX of a VARCHAR(255) column is VARCHAR if the groups come by an
// index and TEXT if they are made in a temporary table; IF(a, 1.5, -1) is -1 or -1.0 by the same reason. The subject's
// tables have other numbers of rows, and no indexes where they were collected. So a difference is none if the oracle
// itself gives the subject's answer to the statement under another plan. That is found out for each difference anew:
// nothing is taken for equal without the oracle having said it.

// otherPlan is what the oracle answers to a statement under another plan.
type otherPlan struct {
	answer
	columnsOnly bool // it says nothing of rows
	open        bool // its rows are all those without ORDER BY and LIMIT, in no order
}

// excuse gives the difference that is left of d when the oracle gives the subject's answer to the last statement that was run,
// or parts of it, under another plan than that of want.
func (w *worker) excuse(ran scenario, want, got answer, d *Difference) (left *Difference, err error) {
	st := ran[len(ran)-1]
	if w.round.alter != nil {
		return d, nil // a planted fault is no matter of plans, and asking for them all the time takes minutes
	}
	if st.follows && !ran.writes() {
		return w.excuseFollowing(ran[len(ran)-2], st, got, d)
	}
	if st.inner != nil {
		st = st.inner
	}
	if d.Kind == "info" {
		return w.excuseInfo(st, want, got, d)
	}
	if got.Err != nil && want.Err == nil && st.limit.present() {
		return w.excuseRow(st, got, d)
	}
	if got.Err != nil && want.Err == nil && len(st.writes) == 0 {
		return w.excuseConstant(st, got, d)
	}
	if got.Err != nil && want.Err != nil && len(st.writes) == 0 {
		return w.excuseError(st, got, d)
	}
	if st.exact || len(st.writes) > 0 || got.Err != nil || want.OK != nil || got.OK != nil {
		return d, nil
	}
	if want.Err != nil {
		return w.excuseNoError(st, got, d)
	}
	plans := []otherPlan{{answer: want}}
	for _, more := range []func(*statement) ([]otherPlan, error){w.resultPlans, w.limitPlans, w.wherePlans, w.widerPlans, w.collectedPlans, w.keylessPlans, w.writtenPlans, w.fewRowsPlans, w.narrowPlans, w.innerJoinPlans, w.openPlans} {
		list, err := more(st)
		if err != nil {
			return nil, err
		}
		for k := range list {
			list[k].Status = want.Status // the oracle was asked outside of the transaction
		}
		plans = append(plans, list...)
		if left = w.amongPlans(st, plans, got, d); left == nil {
			return nil, nil
		}
	}
	return left, nil
}

// excuseRow is excuse for an error that a row gives which LIMIT leaves out: each shard works out as many as the answer might need. The
// oracle is asked for all rows.
func (w *worker) excuseRow(st *statement, got answer, d *Difference) (*Difference, error) {
	st.limit.gone = true
	defer func() { st.limit.gone = false }()
	a, err := w.oracle.run(st)
	if err != nil || a.Err != nil && a.Err.Code == got.Err.Code {
		return nil, err
	}
	return d, nil
}

// excuseConstant returns nil where the oracle, too, gives the error that the subject gave, without conditions and over one row of each table: whether a
// server works a constant out before it finds that there are no rows is a matter of plans. Else it returns d.
func (w *worker) excuseConstant(st *statement, got answer, d *Difference) (*Difference, error) {
	_, back := st.root.leaveOut("WHERE")
	defer back()
	s, err := w.copy(copying{limited: true, limit: 1, indexed: whole})
	if err != nil {
		return nil, err
	}
	defer s.close()
	a, err := s.run(st)
	if err != nil || a.Err != nil && a.Err.Code == got.Err.Code {
		return nil, err
	}
	return d, nil
}

// excuseInfo returns nil where the oracle gives the subject's answer to an UPDATE that finds no row once its tables have no indexes, or those of sharded ones have none: MariaDB says nothing, instead of
// "Rows matched: 0", where an index tells it that no row can meet the condition, with a value that a subquery has given it. Else it returns d.
func (w *worker) excuseInfo(st *statement, want, got answer, d *Difference) (*Difference, error) {
	if want.OK == nil || got.OK == nil || want.OK.AffectedRows > 0 || len(want.OK.Info) > 0 && len(got.OK.Info) > 0 {
		return d, nil
	}
	for _, c := range []copying{{}, {indexed: whole}} {
		s, err := w.copy(c)
		if err != nil {
			return nil, err
		}
		a, err := s.run(st)
		s.close()
		if err != nil || a.OK != nil && a.OK.AffectedRows == 0 && string(a.OK.Info) == string(got.OK.Info) {
			return nil, err
		}
	}
	return d, nil
}

// excuseError returns nil where the oracle, too, gives the error that the subject gave, once it has the rows of one shard, or all rows in the
// order of the shards: of several rows at fault the one that is looked at first decides; or once it has the values in the text, as shards have that rows are collected
// of (docs/sql-support.md). Else it returns d.
func (w *worker) excuseError(st *statement, got answer, d *Difference) (*Difference, error) {
	if st.prepared {
		text := *st
		text.prepared = false
		a, err := w.oracle.run(&text)
		if err != nil || compareErrors(a.Err, got.Err) == nil {
			return nil, err
		}
	}
	list := []copying{{}, {order: w.database.Layout.byLastNode}}
	for k := range max(w.database.Layout.shards(), len(months)) {
		list = append(list, copying{only: w.database.Layout.ofShard(k)}, copying{indexed: whole, only: w.database.Layout.ofShard(k)})
	}
	for _, c := range list {
		s, err := w.copy(c)
		if err != nil {
			return nil, err
		}
		a, err := s.run(st)
		s.close()
		if err != nil || compareErrors(a.Err, got.Err) == nil {
			return nil, err
		}
	}
	return d, nil
}

// excuseNoError returns nil where the oracle has an error of a row that it gives the subject's answer without, under another plan: one that
// works out less, or that other rows meet the conditions of, at a local time that the clocks show twice. Else it returns d.
func (w *worker) excuseNoError(st *statement, got answer, d *Difference) (*Difference, error) {
	for _, more := range []func(*statement) ([]otherPlan, error){w.collectedPlans, w.keylessPlans} {
		list, err := more(st)
		if err != nil {
			return nil, err
		}
		for k := range list {
			list[k].Status, list[k].params, list[k].columns = got.Status, got.params, got.columns // the oracle's own answer has none
		}
		if len(list) > 0 && w.amongPlans(st, list, got, d) == nil {
			return nil, nil
		}
	}
	return d, nil
}

// excuseFollowing is excuse for what follows a query: MySQL's FOUND_ROWS() may be the number of rows that were sorted ahead of a
// join, where that is its plan. The oracle is asked both again, and over copies.
func (w *worker) excuseFollowing(query, st *statement, got answer, d *Difference) (*Difference, error) {
	a, err := w.oracle.both(query, st)
	if err != nil || compare(st, a, got, w.oracleName) == nil {
		return nil, err
	}
	for _, c := range []copying{{indexed: func(*table) bool { return true }}, {indexed: whole}, {}} {
		s, err := w.copy(c)
		if err != nil {
			return nil, err
		}
		a, err := s.both(query, st)
		s.close()
		if err != nil || compare(st, a, got, w.oracleName) == nil {
			return nil, err
		}
	}
	return d, nil
}

// amongPlans wants the rows to be those of one plan and the definition of each column to be that of any.
func (w *worker) amongPlans(st *statement, plans []otherPlan, got answer, d *Difference) *Difference {
	rows := false
	for _, p := range plans {
		switch {
		case p.columnsOnly:
		case p.open:
			rows = rows || st.amongOpen(plans[0].RawResult, p.RawResult, got.RawResult) && st.compareEnds(plans[0].answer, got) == nil
		default:
			rows = rows || compareRows(st, p.RawResult, got.RawResult) == nil && (st.compareEnds(p.answer, got) == nil || w.warnedApart(st, plans, p, got))
		}
	}
	if !rows {
		return d
	}
	told := len(plans[0].Columns) == len(got.Columns)
	for k := range got.Columns {
		if told && got.Columns[k].Flags&^plans[0].Columns[k].Flags&mysql.NotNullFlag != 0 && slices.ContainsFunc(got.Rows, func(row []any) bool { return row[k] == nil }) {
			return d // under no plan is it so
		}
		var untold *Difference
		for _, p := range plans {
			if len(p.Columns) != len(got.Columns) {
				continue
			}
			x := st.compareColumns("metadata", p.Columns[k:k+1], got.Columns[k:k+1], w.oracleName)
			if untold == nil {
				untold = x
			}
			if x == nil {
				untold = nil
				break
			}
		}
		if untold != nil {
			return untold
		}
	}
	if d := st.compareColumns("metadata of parameters", plans[0].params, got.params, w.oracleName); d != nil {
		return d
	}
	return st.compareColumns("metadata of the preparation", plans[0].columns, got.columns, w.oracleName)
}

// warnedApart reports whether the subject's answer ends as that of a plan, but for a number of warnings that another plan gives, in a time zone whose clocks
// change. MySQL warns of a local time that the clocks leave out as it looks whether an index of a TIMESTAMP serves, and compares with another moment then,
// or with a local time where there is no index: so one that the clocks show twice decides about rows. A shard that the subject collects rows of does the
// first, and the server that has them the second: the rows are those of one plan, and the warnings those of another. docs/sql-support.md lists these
// warnings among what differs.
func (w *worker) warnedApart(st *statement, plans []otherPlan, p otherPlan, got answer) bool {
	if w.oracle.zone != zone || !slices.ContainsFunc(plans, func(o otherPlan) bool { return !o.columnsOnly && o.Warnings == got.Warnings }) {
		return false
	}
	ends := *p.RawResult
	ends.Warnings = got.Warnings
	return st.compareEnds(answer{RawResult: &ends}, got) == nil
}

// selects is how a query begins, within a comment that servers read too.
var selects = regexp.MustCompile(`^(/\*M?![0-9]* *)?SELECT `)

// resultPlans are what the oracle says of the statement when it prepares it, and with its result in a temporary table.
func (w *worker) resultPlans(st *statement) ([]otherPlan, error) {
	return w.variants(&w.oracle, st)
}

func (w *worker) variants(s *side, st *statement) (list []otherPlan, err error) {
	if s.conn == nil {
		if err := s.open(); err != nil {
			return nil, err
		}
	}
	r := s.render(st)
	texts := []string{r.sql}
	if begin := selects.FindString(r.sql); begin != "" {
		for _, word := range []string{"SQL_BUFFER_RESULT ", "SQL_SMALL_RESULT ", "SQL_BIG_RESULT "} {
			texts = append(texts, begin+word+r.sql[len(begin):])
		}
	}
	for _, sql := range texts {
		a, err := s.send(rendered{sql, r.args}, st.prepared)
		if err != nil {
			return nil, fmt.Errorf("on the oracle: %s: %w", sql, err)
		}
		if a.Err == nil && a.OK == nil {
			list = append(list, otherPlan{answer: a})
		}
	}
	stmt, err := s.conn.Prepare(r.sql)
	if err != nil {
		return list, nil // the statement has no preparation, and no more is known of it
	}
	list = append(list, otherPlan{answer: answer{RawResult: &mysqltest.RawResult{Columns: stmt.Columns}}, columnsOnly: true})
	return list, stmt.Close()
}

// limitPlans are what the oracle says of the columns without LIMIT, without ORDER BY too, with LIMIT 0, for which it does not
// look for a plan, and with other limits: to LIMIT 0 OFFSET 5 the subject needs five rows of each shard.
func (w *worker) limitPlans(st *statement) ([]otherPlan, error) {
	if st.limit.present() {
		st.limit.gone = true
		defer func() { st.limit.gone = false }()
	}
	list, err := w.variants(&w.oracle, st)
	if err != nil {
		return nil, err
	}
	if st.order.present() {
		st.order.gone = true
		more, err := w.variants(&w.oracle, st)
		st.order.gone = false
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	r := st.root.render(w.oracle.db, st.prepared)
	for _, n := range []int{0, 1, 5, 100} {
		a, err := w.oracle.send(rendered{fmt.Sprintf("%s LIMIT %d", r.sql, n), r.args}, st.prepared)
		if err != nil {
			return nil, err
		}
		if a.Err == nil {
			list = append(list, otherPlan{answer: a})
		}
	}
	for k := range list {
		list[k].columnsOnly = true
	}
	return list, nil
}

// wherePlans are what the oracle says of the columns without conditions: those that it finds never to be true end its search
// for a plan, and the subject has met them when it looks for one.
func (w *worker) wherePlans(st *statement) ([]otherPlan, error) {
	n, back := st.root.leaveOut("WHERE", "AND") // AND: what an ON has beside the columns that are joined
	defer back()
	if n == 0 {
		return nil, nil
	}
	list, err := w.variants(&w.oracle, st)
	if err != nil {
		return nil, err
	}
	few, err := w.fewRowsPlans(st)
	for k := range list {
		list[k].columnsOnly = true
	}
	return append(list, few...), err
}

// widerPlans are what the oracle says of the columns of a DISTINCT with one more that no index has: the subject asks its shards for
// some to merge by, and MariaDB then does not read the groups of an index alone.
func (w *worker) widerPlans(st *statement) ([]otherPlan, error) {
	kids := st.root.kids
	if len(kids) < 2 || kids[0] == nil || kids[1] == nil || kids[0].text != "SELECT DISTINCT" || !kids[1].list {
		return nil, nil
	}
	items := kids[1]
	narrow := items.kids
	items.kids = append(slices.Clone(narrow), words("RAND()"))
	defer func() { items.kids = narrow }()
	list, err := w.limitPlans(st)
	for k := range list {
		list[k].RawResult.Columns = list[k].Columns[:len(list[k].Columns)-1]
	}
	return list, err
}

// writtenPlans are what the oracle says of the columns where a common table expression stands in the place of each reference to it: one that it reads once has an
// index of the column that is compared, as the plan will have it, and MySQL's flags tell of that. The subject writes statements so (docs/design/finish.md).
func (w *worker) writtenPlans(st *statement) ([]otherPlan, error) {
	if st.written == nil {
		return nil, nil
	}
	other := *st
	other.root = st.written
	list, err := w.variants(&w.oracle, &other)
	for k := range list {
		list[k].columnsOnly = true
	}
	return list, err
}

// outerJoins find joins whose rows have NULLs where there is no row to be joined.
var outerJoins = regexp.MustCompile(`\b(?:LEFT|RIGHT) (?:OUTER )?JOIN\b`)

// innerJoinPlans are what the oracle says of the columns where outer joins are inner ones, as a condition that is met by no NULL makes them: a column that comes
// straight from its table is NOT NULL then, and not where it comes from a temporary table.
func (w *worker) innerJoinPlans(st *statement) ([]otherPlan, error) {
	s := w.oracle
	s.conn, s.alter = nil, func(sql string) string { return outerJoins.ReplaceAllString(sql, "JOIN") }
	defer s.close()
	list, err := w.variants(&s, st)
	for k := range list {
		list[k].columnsOnly = true
	}
	return list, err
}

// openPlans are what the oracle says without ORDER BY and LIMIT: sorting takes it to a temporary table, in which AVG(a) / 3 is
// made of an average with four digits.
func (w *worker) openPlans(st *statement) ([]otherPlan, error) {
	if !st.ordered() {
		return nil, nil
	}
	for _, p := range []*part{st.order, st.limit} {
		if p.present() {
			p.gone = true
			defer func() { p.gone = false }()
		}
	}
	list, err := w.variants(&w.oracle, st)
	if err != nil {
		return nil, err
	}
	more, err := w.keylessPlans(st)
	list = append(list, more...)
	for k := range list {
		list[k].open = true
	}
	return list, err
}
