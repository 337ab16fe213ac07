package session

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/exec"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// chosenBytesMax bounds the keys of the rows that one statement chooses, in bytes.
const chosenBytesMax = 64 << 20

// chosenBatch is how many rows are changed by one round of statements.
const chosenBatch = 500

// chosenRow is a row to change: the position of its shard and the condition that only it meets.
type chosenRow struct {
	position int
	where    string
}

// chooseMany runs an UPDATE or DELETE with LIMIT over several shards: it locks and reads the keys of the rows that the whole
// table would give, then changes exactly these, all in one transaction on every node.
func (cs *changes) chooseMany(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	return cs.shards.untilLocked(func() (*change, bool, error) { return cs.tryChoose(q, p, r, ex) })
}

// tryChoose makes one attempt; the change that it returns says what held locks.
func (cs *changes) tryChoose(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (_ *change, failed bool, err error) {
	c, err := cs.openChange(q.text, cs.routing.nodesOf(r.Queries))
	if err != nil {
		return c, true, err
	}
	// A long answer is read from the first nodes while the later ones lock their rows.
	if err := cs.shards.hurry(c, 1); err != nil {
		return c, true, cs.writeFailed(c, err, nil)
	}
	rows, err := cs.choose(c, p, r, ex)
	if err == nil {
		err = cs.shards.hurryBack(c)
	}
	var total mysql.OKPacket
	if err == nil {
		total, err = cs.changeChosen(c, p, r, ex, rows)
	}
	if err == nil {
		err = cs.leases.stillHeard(p.Watches())
	}
	if err != nil {
		return c, true, cs.writeFailed(c, err, allRenames(p, r.Queries))
	}
	if err := cs.shards.insertedOnShards(q, c.loans, ex); err != nil {
		return c, true, cs.writeFailed(c, err, nil)
	}
	if err := cs.commitChange(c); err != nil {
		return c, true, err
	}
	q.tellIDs(cs.client, &mysql.Response{Kind: mysql.ResponseOK, OK: total})
	if q.info.Class == sqltext.Update && !cs.client.mode().MariaDB {
		cs.client.state.Found.FoundBy(total.Info) // MySQL counts the rows that an UPDATE matched
	}
	return c, false, cs.wrote(c, total)
}

// changeChosen carries the change of chosen rows out.
func (cs *changes) changeChosen(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution, rows []chosenRow) (total mysql.OKPacket, err error) {
	if p.Statement.Kind == sqlparse.UpdateKind {
		switch {
		case !cs.client.mode().MariaDB:
			total.Info = []byte("Rows matched: 0  Changed: 0  Warnings: 0")
		case r.Limit > 0 && len(rows) == 0: // MariaDB says nothing if it finds the condition to be impossible, or of LIMIT 0
			total, err = cs.writeAll(c, p, cs.noChange(p, r), ex, readChange)
		}
	}
	for part := range slices.Chunk(rows, chosenBatch) {
		if err != nil {
			break
		}
		var sum mysql.OKPacket
		if sum, err = cs.writeAll(c, p, cs.chosenChanges(part), ex, readChange); err == nil {
			addChange(&total, sum)
		}
	}
	return total, err
}

// conditionsOf gives the condition that chosen rows of a shard meet, by position, and the positions in the order of the rows.
func conditionsOf(rows []chosenRow) (where map[int]string, positions []int) {
	lists := map[int][]string{}
	for _, row := range rows {
		if lists[row.position] == nil {
			positions = append(positions, row.position)
		}
		lists[row.position] = append(lists[row.position], row.where)
	}
	where = map[int]string{}
	for at, list := range lists {
		where[at] = "(" + strings.Join(list, " OR ") + ")"
	}
	return where, positions
}

// chosenChanges are the changes of some of the rows, one for each of their shards, in the order of the rows.
func (cs *changes) chosenChanges(rows []chosenRow) *plan.Route {
	r := &plan.Route{Operator: plan.Change{}}
	where, positions := conditionsOf(rows)
	for _, at := range positions {
		r.Queries = append(r.Queries, cs.client.lookup().execution.Chosen(at, where[at]))
	}
	return r
}

// noChange is a change of no row, on one of the shards that might have had some.
func (cs *changes) noChange(p *plan.Plan, r *plan.Route) *plan.Route {
	at := slices.Index(p.Target.Table.Shards, r.Queries[0].Shards[0])
	return &plan.Route{Operator: plan.Change{}, Queries: []plan.Query{cs.client.lookup().execution.NoneChosen(at)}}
}

// choose reads the keys of the rows to change. A text is read in its own character set, so that it finds its row again.
func (cs *changes) choose(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution) (rows []chosenRow, err error) {
	var back []func(error) error
	for _, l := range c.loans {
		b, failure := cs.shards.ownCharsets(l.Pooled)
		if err = failure; err != nil {
			break
		}
		back = append(back, b)
	}
	if err == nil {
		rows, err = cs.readChosen(c, p, r, ex)
	}
	for _, b := range back {
		err = b(err)
	}
	return rows, err
}

// readChosen merges what the shards would choose each for itself. An error other than of a connection leaves all of them ready.
func (cs *changes) readChosen(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution) (rows []chosenRow, err error) {
	sources := make([]*exec.Source, len(r.Queries))
	for _, k := range byNode(r.Queries) {
		query := &r.Queries[k]
		text := query.Text
		if ex != nil {
			if text, err = cs.shards.asText(p, query, ex); err != nil {
				return nil, err
			}
		}
		l := txn.Find(c.loans, query.Node)
		if err := cs.shards.sendTo(l, text, nil, nil); err != nil {
			return nil, err
		}
		sources[k] = source(l, value.TextRow)
		// An answer comes when all of its rows are locked, or a buffer of the server is full of them.
		if err := l.Conn.Await(); err != nil {
			return nil, err
		}
	}
	out := newSink(chosenBytesMax)
	sum, err := exec.Merge(out.conn, sources, r.Operator.(*plan.Choose).Merge, exec.Options{Offset: r.Offset, Limit: r.Limit})
	for _, src := range sources {
		if !src.Done() && !isConnError(err) {
			if done, _ := src.Drain(drainMax); !done {
				return nil, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: errors.New("the rest of a result was not read")}
			}
		}
	}
	if err == nil && sum.Err != nil {
		err = sum.Err
	}
	if told := (*mysql.SQLError)(nil); ex != nil && errors.As(err, &told) && told.Code == mysql.ERCannotConvertString {
		return nil, cs.errorOfValues(txn.Find(c.loans, r.Queries[0].Node), &r.Queries[0], ex, told)
	}
	for k, src := range sources {
		if err == nil && src.Warnings() > 0 {
			err = cs.refusedChoice(p, txn.Find(c.loans, r.Queries[k].Node).Pooled)
		}
	}
	if err != nil {
		return nil, err
	}
	return cs.chosenRows(p, out)
}

// errorOfValues gives the error of a query with the client's values for one of its text: what MySQL cannot convert has another error as a
// literal than as a parameter.
func (cs *changes) errorOfValues(l *txn.Lease, query *plan.Query, ex *boundExecution, ofText *mysql.SQLError) error {
	if err := cs.shards.sendTo(l, query.Text, query.Args, ex); err != nil {
		return err
	}
	none := newSink(chosenBytesMax)
	defer none.conn.Release()
	sum, err := exec.Merge(none.conn, []*exec.Source{source(l, value.BinaryRow)}, &plan.Merge{}, exec.Options{Limit: math.MaxUint64})
	switch {
	case err != nil:
		return err
	case sum.Err != nil:
		return sum.Err
	}
	return ofText
}

// chosenRows writes the conditions for the rows that were read.
func (cs *changes) chosenRows(p *plan.Plan, out *sink) (rows []chosenRow, err error) {
	keys := p.Operator.(*plan.Choose).Keys
	info := cs.client.schema.Default.Info()
	_, ok, err := out.read(func(columns []mysql.ColumnDefinition41, cells []value.Cell) error {
		row := chosenRow{}
		var parts []string
		for k, name := range keys {
			column, _ := sqltext.QuoteIdent(name, p.Mode) // the plan was made with it
			parts = append(parts, column+" = "+keyLiteral(&columns[k], cells[k], info))
		}
		row.where = "(" + strings.Join(parts, " AND ") + ")"
		row.position, err = strconv.Atoi(string(cells[len(keys)]))
		rows = append(rows, row)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, newError(KSFinishLimit, "the keys of the rows that the statement chooses are longer than "+strconv.Itoa(chosenBytesMax>>20)+" MB: use a smaller LIMIT")
	}
	return rows, nil
}

// widerCharsets are those whose texts are the same bytes in another one, which has no warning that it goes as MySQL has one of these for each
// literal.
var widerCharsets = map[string]string{"ucs2": "utf16", "utf8mb3": "utf8mb4", "utf8": "utf8mb4"}

// keyLiteral writes the value of a key's column to compare the column with, in whose collation that is done.
func keyLiteral(d *mysql.ColumnDefinition41, cell value.Cell, info *backend.Info) string {
	if info != nil && cell != nil && isText(d) {
		if wider := widerCharsets[info.Collations[d.Charset].Charset]; wider != "" {
			return textLiteral(cell, wider)
		}
	}
	return variableLiteral(d, cell, info)
}
