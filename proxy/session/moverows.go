package session

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/observe"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// movesMax is how often an UPDATE by which rows may move begins anew because it found more rows than were asked for their new keys.
const movesMax = 5

// strays are rows of a shard whose sharding key is to be one of another shard.
type strays struct {
	from, to   int      // positions
	conditions []string // of rows that have these keys
	rows       uint64
}

// moving is an UPDATE under way that gives rows another sharding key.
type moving struct {
	changes *changes
	c       *change
	plan    *plan.Plan
	route   *plan.Route
	ex      *boundExecution

	strays []strays
	key    []value.Value // of the stray that was found last
	asked  uint64        // rows that were asked for their new keys, which are all that the statement is to find
	bytes  int           // of the keys
	moved  uint64
}

// moveMany runs an UPDATE that may give rows a sharding key of another shard. In one transaction on every node that may be concerned it locks
// the rows and asks for their new keys, runs the client's statement where the rows are, which gives the answer, and takes those that lie
// wrong by then to their shards.
func (cs *changes) moveMany(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (failed bool, err error) {
	for attempt := 1; ; attempt++ {
		again := false
		failed, err = cs.shards.untilLocked(func() (c *change, failed bool, err error) {
			c, again, failed, err = cs.tryMove(q, p, r, ex)
			return c, failed, err
		})
		if !again || attempt == movesMax {
			return failed, err
		}
	}
}

// tryMove makes one attempt; the change that it returns says what held locks. again says that other rows were there than were asked for.
func (cs *changes) tryMove(q *query, p *plan.Plan, r *plan.Route, ex *boundExecution) (_ *change, again, failed bool, err error) {
	c, err := cs.openChange(q.text, cs.moveNodes(p, r))
	if err != nil {
		return c, false, true, err
	}
	fail := func(err error) (*change, bool, bool, error) {
		return c, again, true, cs.writeFailed(c, err, renames(p, p.Target.Table.Shards))
	}
	if err := cs.shards.hurry(c, 1); err != nil {
		return fail(err)
	}
	m := &moving{changes: cs, c: c, plan: p, route: r, ex: ex}
	rows, columns, err := m.prepare()
	if err == nil {
		err = cs.shards.hurryBack(c)
	}
	var total mysql.OKPacket
	if _, chosen := p.Operator.(*plan.Choose); chosen && err == nil {
		total, err = cs.changeChosen(c, p, r, ex, rows)
	} else if err == nil {
		total, err = cs.writeAll(c, p, r, ex, readChange)
	}
	err = m.ofPrimary(err)
	if err == nil && matchedRows(total.Info) != m.asked {
		again, err = true, mysql.NewSQLError(erLockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction")
	}
	if err == nil {
		err = cs.shards.insertedOnShards(q, c.loans, ex)
	}
	if err == nil {
		err = m.move(columns)
	}
	if err == nil {
		err = cs.leases.stillHeard(p.Watches())
	}
	if err != nil {
		return fail(err)
	}
	if err := cs.commitChange(c); err != nil {
		return c, false, true, err
	}
	cs.client.observed.Counters.RowsMoved.Add(m.moved)
	q.tellIDs(cs.client, &mysql.Response{Kind: mysql.ResponseOK, OK: total})
	if !cs.client.mode().MariaDB {
		cs.client.state.Found.FoundBy(total.Info) // MySQL counts the rows that an UPDATE matched
	}
	return c, false, false, cs.wrote(c, total)
}

// ofPrimary returns the error of a row that was refused with err where it is: if the primary key that it was to get is taken on its new shard, one server names that
// key, which it looks at first.
func (m *moving) ofPrimary(err error) error {
	var refused *mysql.SQLError
	if !errors.As(err, &refused) || refused.Code != mysql.ERDupEntry || m.asked != 1 || len(m.strays) != 1 {
		return err
	}
	named := strings.LastIndex(refused.Message, " '") + len(" '")
	key, primary := refused.Message[named:], m.plan.Target.PrimaryKey()
	table, _, qualified := strings.Cut(key, ".") // as MySQL has it
	if keys := m.plan.Target.Table.Keys; strings.HasSuffix(key, "PRIMARY'") || len(primary) != 1 || len(keys) != 1 || !router.SameColumn(primary[0], keys[0]) {
		return err
	}
	to := m.plan.Target.Table.Shards[m.strays[0].to]
	taken := false
	question := "SELECT 1 FROM " + physicalName(m.plan, to) + " WHERE " + m.strays[0].conditions[0] + " LIMIT 1"
	if failure := txn.Find(m.c.loans, to.Node).Conn.Rows(question, 1, func([]string) { taken = true }); failure != nil {
		return failure
	}
	if !taken {
		return err
	}
	entry := m.key[0].Text()
	if entry == "" {
		entry = m.key[0].String() // of a number
	}
	e := *refused
	e.Message = "Duplicate entry '" + entry + "' for key '"
	if qualified {
		e.Message += table + "."
	}
	e.Message += "PRIMARY'"
	return &e
}

// matchedRows is how many rows an UPDATE found, by the text of its OK packet, which may say nothing where it found none.
func matchedRows(info []byte) (n uint64) {
	var changed, warnings int
	_, _ = fmt.Sscanf(string(info), infoForms[0], &n, &changed, &warnings)
	return n
}

// moveNodes lists the nodes that rows are on or may come to, in the order of their names.
func (cs *changes) moveNodes(p *plan.Plan, r *plan.Route) []*backend.Node {
	nodes := cs.routing.nodesOf(r.Queries)
	for _, at := range r.Targets {
		if n := cs.client.schema.Nodes[p.Target.Table.Shards[at].Node]; !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *backend.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

// prepare finds the strays before anything is changed, and refuses those that cannot be moved. It returns the rows of a statement with LIMIT,
// and the columns to move.
func (m *moving) prepare() (rows []chosenRow, columns []movedColumn, err error) {
	cs := m.changes
	if o, chosen := m.plan.Operator.(*plan.Choose); chosen {
		r := *m.route
		r.Operator = o
		if rows, err = cs.choose(m.c, m.plan, &r, m.ex); err != nil {
			return nil, nil, err
		}
	}
	// Texts of any column are placed in UTF-8.
	back, err := m.setAside(m.c.loans, "character_set_results", "'utf8mb4'")
	if err == nil {
		err = m.ask(rows)
	}
	if err = back(err); err == nil && len(m.strays) > 0 {
		if err = m.mayLeave(); err == nil {
			columns, err = m.movable()
		}
	}
	return rows, columns, err
}

// mayLeave refuses rows that are to move to another node where each node keeps its part by itself: what dies between two nodes would leave a row
// on both of them, or on none.
func (m *moving) mayLeave() error {
	shards, b := m.plan.Target.Table.Shards, m.changes.leases.branches()
	leaves := slices.ContainsFunc(m.strays, func(s strays) bool { return shards[s.from].Node != shards[s.to].Node })
	if !leaves || m.c.within || m.c.atomic != nil || b.inForce() != config.TransactionSingle {
		return nil
	}
	why := "transaction_mode is single"
	if reason := m.changes.client.shared.Atomic.Reason(); b.mode() == config.TransactionAuto && reason != "" {
		why = "transaction_mode is auto, and " + reason
	}
	return newError(KSTransactionNodes, "rows of "+m.plan.Target.Parsed.Name+" would move to another node, and could be lost on the way, as each node keeps its part by itself: "+why)
}

// setAside gives variables other values on connections, until back is called, which takes and hands on an error as that of shards.setAside does. Names
// and values take turns.
func (m *moving) setAside(loans []txn.Lease, variables ...string) (back func(error) error, err error) {
	var restore []func(error) error
	back = func(failure error) error {
		for _, one := range slices.Backward(restore) {
			failure = one(failure)
		}
		return failure
	}
	for k := range loans {
		other := m.changes.client.state.Setting()
		for i := 0; i < len(variables); i += 2 {
			other = other.With(variables[i], variables[i+1])
		}
		one, err := m.changes.shards.carryAside(loans[k].Pooled, other)
		if err != nil {
			return back, err
		}
		restore = append(restore, one)
	}
	return back, nil
}

// ask asks the shards for the new keys of the rows, which locks them: of those that were chosen, or of all that the statement finds.
func (m *moving) ask(rows []chosenRow) error {
	shards := m.plan.Target.Table.Shards
	if _, chosen := m.plan.Operator.(*plan.Choose); chosen {
		for part := range slices.Chunk(rows, chosenBatch) {
			where, positions := conditionsOf(part)
			slices.SortStableFunc(positions, func(a, b int) int { return strings.Compare(shards[a].Node, shards[b].Node) })
			for _, at := range positions {
				if err := m.askShard(at, where[at]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, k := range byNode(m.route.Queries) {
		if err := m.askShard(m.route.Positions[k], ""); err != nil {
			return err
		}
	}
	return nil
}

// askShard asks the shard at a position for the new keys of rows that meet a condition, or the client's where that is "".
func (m *moving) askShard(at int, where string) error {
	cs := m.changes
	query := cs.client.lookup().execution.NewKeys(at, where)
	l, text := txn.Find(m.c.loans, query.Node), query.Text
	if m.ex != nil {
		var err error
		if text, err = cs.shards.asText(m.plan, &query, m.ex); err != nil {
			return err
		}
	}
	if l.Kept {
		if err := cs.client.state.Found.Settle(l.Conn, false); err != nil { // the question finds rows
			return err
		}
		cs.client.state.Found.Overwritten()
	}
	cs.effects.reachOn(l, text)
	type group struct {
		key  []value.Value
		rows uint64
	}
	var groups []group
	places := map[string]int{} // in groups, by the cells
	var cell []byte
	tooLong := false
	l.Started(cs.client.id, cs.client.observed.ShardSpan(l.Instance, cs.client.state.DB(), text))
	err := l.Conn.RawRowsWith(cs.client.task().query.attributes, text, func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		cell = cell[:0]
		for _, c := range cells {
			if c == nil {
				cell = append(cell, "N;"...)
				continue
			}
			cell = append(append(strconv.AppendInt(cell, int64(len(c)), 10), ':'), c...)
		}
		m.asked++
		place, known := places[string(cell)]
		if !known {
			if m.bytes += len(cell); m.bytes > chosenBytesMax {
				tooLong = true
				return
			}
			place = len(groups)
			places[string(cell)] = place
			g := group{}
			for k := range cells {
				g.key = append(g.key, givenKey(&definitions[k], cells[k]))
			}
			groups = append(groups, g)
		}
		groups[place].rows++
	})
	l.Ended(err)
	switch {
	case err != nil:
		return err
	case tooLong:
		return newError(KSFinishLimit, "the sharding keys that rows get are longer than "+strconv.Itoa(chosenBytesMax>>20)+" MB: change fewer rows at a time")
	}
	for _, g := range groups {
		if err := m.place(at, g.key, g.rows); err != nil {
			return err
		}
	}
	return nil
}

// givenKey is a value for a key column as a server gives it, with texts in UTF-8.
func givenKey(d *mysql.ColumnDefinition41, cell value.Cell) value.Value {
	if cell == nil {
		return value.Value{}
	}
	text := string(cell)
	switch d.Type {
	case mysql.TypeTiny, mysql.TypeShort, mysql.TypeInt24, mysql.TypeLong, mysql.TypeLongLong, mysql.TypeYear:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value.NewInt(n)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return value.NewUint(n)
		}
	case mysql.TypeNewDecimal, mysql.TypeDecimal:
		return value.NewDecimal(text)
	case mysql.TypeDouble:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return value.NewFloat(f)
		}
	case mysql.TypeDate, mysql.TypeNewDate, mysql.TypeDatetime, mysql.TypeTimestamp, mysql.TypeTime:
		return value.NewTemporal(text)
	}
	if d.Charset == binaryCollation {
		return value.NewBytes(text)
	}
	return value.NewString(text)
}

// place notes that so many rows of the shard at a position get a key.
func (m *moving) place(at int, key []value.Value, rows uint64) error {
	to, err := m.plan.Placed(key)
	if err != nil {
		return planError(err)
	}
	if to == at {
		return nil
	}
	condition, err := m.plan.WithKey(key)
	if err != nil {
		return planError(err)
	}
	k := slices.IndexFunc(m.strays, func(s strays) bool { return s.from == at && s.to == to })
	if k < 0 {
		k = len(m.strays)
		m.strays = append(m.strays, strays{from: at, to: to})
	}
	m.key = key
	s := &m.strays[k]
	if s.rows += rows; !slices.Contains(s.conditions[max(0, len(s.conditions)-8):], condition) { // more than once does no harm
		s.conditions = append(s.conditions, condition)
	}
	return nil
}

// asStored are the variables under which a row is read and written as it is, whatever the session has set.
var asStored = []string{
	"sql_mode", "'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'", "time_zone", utc, "sql_safe_updates", "0", "character_set_results", "NULL",
}

// move takes the strays to their shards.
func (m *moving) move(columns []movedColumn) error {
	if len(m.strays) == 0 {
		return nil
	}
	back, err := m.setAside(m.c.loans, asStored...)
	if err == nil {
		for k := range m.strays {
			if err = m.moveStrays(&m.strays[k], columns); err != nil {
				break
			}
		}
	}
	return back(err)
}

// moveStrays takes rows of one shard to another one.
func (m *moving) moveStrays(s *strays, columns []movedColumn) error {
	shards := m.plan.Target.Table.Shards
	from, to := shards[s.from], shards[s.to]
	source, target := physicalName(m.plan, from), physicalName(m.plan, to)
	var names, values []string
	for _, c := range columns {
		names, values = append(names, c.name), append(values, c.value)
	}
	into := "INSERT INTO " + target + " (" + strings.Join(names, ", ") + ") "
	rows := uint64(0)
	for part := range slices.Chunk(s.conditions, chosenBatch) {
		where := " FROM " + source + " WHERE " + strings.Join(part, " OR ")
		read := "SELECT " + strings.Join(values, ", ") + where
		l := txn.Find(m.c.loans, from.Node)
		var inserted uint64
		var err error
		if to.Node == from.Node {
			inserted, err = m.run(l, into+read)
		} else {
			inserted, err = m.carry(l, txn.Find(m.c.loans, to.Node), read+noLimit+" FOR UPDATE", into)
		}
		if err != nil {
			return err
		}
		deleted, err := m.run(l, "DELETE"+where)
		if err != nil {
			return err
		}
		if deleted != inserted {
			return m.astray()
		}
		rows += deleted
	}
	if rows < s.rows {
		return m.astray()
	}
	m.moved += rows
	return nil
}

// astray is the error of rows that are not where they were to be.
func (m *moving) astray() error {
	return newError(KSRefusedSharding, "rows of "+m.plan.Target.Parsed.Name+" have another sharding key than the statement was to give them, as a trigger may give them one: nothing was changed")
}

// physicalName writes the name of a physical table with its database.
func physicalName(p *plan.Plan, s router.Shard) string {
	db, _ := sqltext.QuoteIdent(s.DB, p.Mode) // the plan was made with them
	table, _ := sqltext.QuoteIdent(s.Table, p.Mode)
	return db + "." + table
}

// run runs a change of the proxy's own, and returns how many rows it changed. The ids in it are those that rows have: LAST_INSERT_ID() stays.
func (m *moving) run(l *txn.Lease, text string) (rows uint64, err error) {
	cs := m.changes
	if cs.client.entry.IsCancelled() {
		return 0, interrupted()
	}
	id, known := l.Conn.InsertID()
	span := cs.client.observed.OwnSpan(l.Instance, cs.client.state.DB(), text)
	l.Conn.Command(mysql.ComQuery, text)
	err = l.Conn.Flush()
	var ok mysql.OKPacket
	if err == nil {
		ok, err = l.Conn.ReadChange()
	}
	observe.EndSpan(span, err)
	if l.Conn.NoteInsertID(id); !known {
		l.Conn.DoubtInsertID()
	}
	return ok.AffectedRows, err
}

// carry inserts the rows that a query on one connection gives on another one, and returns how many there were.
func (m *moving) carry(from, to *txn.Lease, query, into string) (rows uint64, err error) {
	cs := m.changes
	collations := cs.client.schema.Nodes[from.Node].Info()
	var batch []byte
	var failure error
	flush := func() {
		if len(batch) == 0 || failure != nil {
			return
		}
		var n uint64
		n, failure = m.run(to, string(batch))
		rows += n
		batch = batch[:0]
	}
	span := cs.client.observed.OwnSpan(from.Instance, cs.client.state.DB(), query)
	err = from.Conn.RawRows(query, func(definitions []mysql.ColumnDefinition41, cells []value.Cell) {
		if failure != nil {
			return
		}
		if len(batch) == 0 {
			batch = append(append(batch, into...), "VALUES "...)
		} else {
			batch = append(batch, ", "...)
		}
		if batch = appendRow(batch, definitions, cells, collations); len(batch) >= finishBatch {
			flush()
		}
	})
	observe.EndSpan(span, err)
	if err != nil {
		return rows, err
	}
	flush()
	return rows, failure
}
