package session

import (
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// noLimit ends a query whose rows are all wanted, whatever the session's sql_select_limit is.
const noLimit = " LIMIT 18446744073709551615"

// finishBatch is about how long one INSERT into a scratch table is, in bytes.
const finishBatch = 256 << 10

// collect brings the rows of one node into a scratch table.
func (f *finishing) collect(into string, query *plan.Query, scratch *plan.Scratch) (err error) {
	if query.Node == f.last.Node {
		if err := f.s.shards.sendTo(f.last, into+query.Text+f.limits.noMoreRows(), query.Args, f.ex); err != nil {
			return err
		}
		ok, err := f.last.Conn.ReadChange()
		f.last.Ended(err)
		f.step.keeps(ok.AffectedRows)
		if err != nil {
			return err
		}
		return f.limits.add(int(ok.AffectedRows), 0, f.reason())
	}
	from := txn.Find(f.loans, query.Node)
	if f.ex != nil && f.ex.ex.attributes != nil && sqltext.Mentions(query.Text, "mysql_query_attribute_string") {
		return newError(KSRefusedSharding, "a query attribute of a prepared statement in a condition on rows that are collected: "+f.reason())
	}
	moved := *query
	if moved.Moved != "" {
		moved.Text = moved.Moved
	}
	text, err := f.literals(&moved)
	if err != nil {
		return err
	}
	var back []func(error) error
	defer func() {
		for k := len(back) - 1; k >= 0; k-- {
			err = back[k](err)
		}
	}()
	set := func(l *txn.Lease, name, value string) error {
		restore, err := f.s.shards.setAside(l.Pooled, name, value)
		if err == nil {
			back = append(back, restore)
		}
		return err
	}
	// In the columns' own character sets nothing is lost on the way.
	if err := set(from, "character_set_results", "NULL"); err != nil {
		return err
	}
	whole := scratch.Columns == nil && scratch.Like == nil // with what is a TIMESTAMP among its columns not known
	if whole {
		if err := set(from, "time_zone", utc); err != nil {
			return err
		}
	}
	if whole || len(scratch.Instants) > 0 {
		if err := set(f.last, "time_zone", utc); err != nil {
			return err
		}
	}
	return f.move(from, into, text+noLimit, scratch.Instants)
}

// literals writes the values of an execution into a text: its rows are wanted as text.
func (f *finishing) literals(query *plan.Query) (string, error) {
	if f.ex == nil {
		return query.Text, nil
	}
	return f.s.shards.asText(f.plan, query, f.ex)
}

// move reads the rows of a query and inserts them into a scratch table.
func (f *finishing) move(from *txn.Lease, into, text string, instants []int) error {
	collations := f.s.client.schema.Nodes[from.Node].Info()
	var batch []byte
	rows := 0
	flush := func() error {
		if rows == 0 {
			return nil
		}
		if err := f.limits.add(rows, len(batch), f.reason()); err != nil {
			return err
		}
		f.s.client.task().moved.add(uint64(rows), uint64(len(batch)))
		f.s.client.observed.Counters.FinishRows.Add(uint64(rows))
		f.s.client.observed.Counters.FinishBytes.Add(uint64(len(batch)))
		if f.s.client.entry.IsCancelled() {
			return interrupted()
		}
		err := f.step.inserts(rows, batch, f.exec)
		batch, rows = batch[:0], 0
		return err
	}
	var failure error
	f.s.effects.reachOn(from, text)
	from.Started(f.s.client.id, f.s.client.observed.ShardSpan(from.Instance, f.s.client.state.DB(), text))
	err := from.Conn.RawRowsWith(f.s.client.task().query.attributes, text, func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		if failure != nil {
			return
		}
		if failure = f.limits.reached(rows, len(batch), f.reason()); failure != nil {
			return
		}
		if rows == 0 {
			batch = append(append(batch[:0], into...), "VALUES "...)
		} else {
			batch = append(batch, ", "...)
		}
		for _, k := range instants {
			cells[k] = instant(cells[k])
			definitions[k].Type = mysql.TypeTimestamp
		}
		batch = appendRow(batch, definitions, cells, collations)
		rows++
		if len(batch) >= finishBatch {
			failure = flush()
		}
	})
	from.Ended(err)
	f.step.reads(from)
	if err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	return flush()
}

// reason says why rows are collected.
func (f *finishing) reason() string {
	if f.plan == nil {
		return "the tables of information_schema"
	}
	return f.plan.Reason
}
