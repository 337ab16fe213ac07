package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"

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
func (s *Session) chooseMany(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	return s.untilLocked(func() (*change, bool, error) { return s.tryChoose(q, p, r, ex) })
}

// tryChoose makes one attempt; the change that it returns says what held locks.
func (s *Session) tryChoose(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (_ *change, failed bool, err error) {
	c, err := s.openChange(q.text, s.routing.nodesOf(r.Queries))
	if err != nil {
		return c, true, err
	}
	// A long answer is read from the first nodes while the later ones lock their rows.
	if err := s.hurry(c, 1); err != nil {
		return c, true, s.writeFailed(c, err, nil)
	}
	rows, err := s.choose(c, p, r, ex)
	if err == nil {
		err = s.hurryBack(c)
	}
	var total mysql.OKPacket
	if p.Statement.Kind == sqlparse.UpdateKind && err == nil {
		switch {
		case !s.client.mode().MariaDB:
			total.Info = []byte("Rows matched: 0  Changed: 0  Warnings: 0")
		case r.Limit > 0 && len(rows) == 0: // MariaDB says nothing if it finds the condition to be impossible, or of LIMIT 0
			total, err = s.writeAll(c.loans, p, s.noChange(p, r), ex)
		}
	}
	for len(rows) > 0 && err == nil {
		n := min(len(rows), chosenBatch)
		var sum mysql.OKPacket
		if sum, err = s.writeAll(c.loans, p, s.chosenChanges(rows[:n]), ex); err == nil {
			addChange(&total, sum)
		}
		rows = rows[n:]
	}
	if err != nil {
		return c, true, s.writeFailed(c, err, allRenames(p, r.Queries))
	}
	if err := s.insertedOnShards(q, c.loans, ex); err != nil {
		return c, true, s.writeFailed(c, err, nil)
	}
	if err := s.commitChange(c); err != nil {
		return c, true, err
	}
	if q.info.Class == sqltext.Update && !s.client.mode().MariaDB {
		s.client.state.Found.FoundBy(total.Info) // MySQL counts the rows that an UPDATE matched
	}
	return c, false, s.wrote(c, total)
}

// chosenChanges are the changes of some of the rows, one for each of their shards, in the order of the rows.
func (s *Session) chosenChanges(rows []chosenRow) *plan.Route {
	r := &plan.Route{Operator: plan.Change{}}
	where := map[int][]string{}
	for _, row := range rows {
		where[row.position] = append(where[row.position], row.where)
	}
	for _, row := range rows {
		if list := where[row.position]; list != nil {
			r.Queries = append(r.Queries, s.client.lookup().execution.Chosen(row.position, "("+strings.Join(list, " OR ")+")"))
			where[row.position] = nil
		}
	}
	return r
}

// noChange is a change of no row, on one of the shards that might have had some.
func (s *Session) noChange(p *plan.Plan, r *plan.Route) *plan.Route {
	at := slices.Index(p.Target.Table.Shards, r.Queries[0].Shards[0])
	return &plan.Route{Operator: plan.Change{}, Queries: []plan.Query{s.client.lookup().execution.NoneChosen(at)}}
}

// choose reads the keys of the rows to change. A text is read in its own character set, so that it finds its row again.
func (s *Session) choose(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution) (rows []chosenRow, err error) {
	var back []func(error) error
	for _, l := range c.loans {
		b, failure := s.ownCharsets(l.Pooled)
		if err = failure; err != nil {
			break
		}
		back = append(back, b)
	}
	if err == nil {
		rows, err = s.readChosen(c, p, r, ex)
	}
	for _, b := range back {
		err = b(err)
	}
	return rows, err
}

// readChosen merges what the shards would choose each for itself. An error other than of a connection leaves all of them ready.
func (s *Session) readChosen(c *change, p *plan.Plan, r *plan.Route, ex *boundExecution) (rows []chosenRow, err error) {
	sources := make([]*exec.Source, len(r.Queries))
	for _, k := range byNode(r.Queries) {
		query := &r.Queries[k]
		text := query.Text
		if ex != nil {
			if text, err = s.asText(p, query, ex); err != nil {
				return nil, err
			}
		}
		l := txn.Find(c.loans, query.Node)
		if err := s.sendTo(l, text, nil, nil); err != nil {
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
	for k, src := range sources {
		if err == nil && src.Warnings() > 0 {
			err = s.refusedChoice(p, txn.Find(c.loans, r.Queries[k].Node).Pooled)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.chosenRows(p, out)
}

// chosenRows writes the conditions for the rows that were read.
func (s *Session) chosenRows(p *plan.Plan, out *sink) (rows []chosenRow, err error) {
	keys := p.Operator.(*plan.Choose).Keys
	info := s.client.schema.Default.Info()
	_, ok, err := out.read(func(columns []mysql.ColumnDefinition41, cells []value.Cell) error {
		row := chosenRow{}
		var parts []string
		for k, name := range keys {
			text, err := variableLiteral(&columns[k], cells[k], info)
			if err != nil {
				return err
			}
			column, _ := sqltext.QuoteIdent(name, p.Mode) // the plan was made with it
			parts = append(parts, column+" = "+text)
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
