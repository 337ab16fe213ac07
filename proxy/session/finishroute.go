package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// noLimit ends a query whose rows are all wanted, whatever the session's sql_select_limit is.
const noLimit = " LIMIT 18446744073709551615"

// finishBatch is about how long one INSERT into a scratch table is, in bytes.
const finishBatch = 256 << 10

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

// borrow gets the connections of a statement, beside the transaction's where it ends: else temporary tables would be a part of that, of which a ROLLBACK warns. Where the scratch node gives none, the
// statement ends elsewhere.
func (f *finishing) borrow(beside bool) (err error) {
	for {
		f.node = f.route.Final(nil).Node
		if f.loans, err = f.s.shards.borrowReaders(f.q, f.plan, f.s.routing.finishNodes(f.route)); err != nil {
			return err
		}
		end := f.s.client.schema.Nodes[f.node]
		if f.route.ScratchNode {
			end = f.s.client.schema.Scratch
		} else if !beside {
			return nil
		}
		p, err := f.s.leases.freshConn(end, f.loans)
		if err == nil {
			f.loans = append(f.loans, txn.Lease{Pooled: p, Node: scratchLoan})
			return nil
		}
		if !f.route.ScratchNode || errors.Is(err, txn.ErrDeadlock) || f.s.client.entry.IsCancelled() {
			return f.s.leases.notBorrowed(f.loans, err)
		}
		f.s.leases.giveBack(f.loans)
		*f.route = *f.route.On(f.route.Nodes[1])
	}
}

// chooseEnd has a statement end on the schema's scratch node, where that suits it and serves. Else it is the least busy of the nodes that suit it alike, the first one of several; a session that has a connection
// of its own leaves it where it is.
func (ro *routing) chooseEnd(f *plan.Finishing) {
	nodes, on := f.Nodes, f.On
	if f.ScratchNode {
		if ro.servesScratch(f) {
			return
		}
		nodes = nodes[1:]
		*f = *on(nodes[0])
	}
	if len(nodes) < 2 || ro.client.txn.Holding() {
		return
	}
	least, busy := 0, ro.client.schema.Nodes[nodes[0]].Busy()
	for k, name := range nodes[1:] {
		if other := ro.client.schema.Nodes[name].Busy(); other < busy {
			least, busy = k+1, other
		}
	}
	if least > 0 {
		*f = *on(nodes[least])
	}
}

// servesScratch reports whether the schema's scratch node is up, and is not known to lack a database that the statement needs there.
func (ro *routing) servesScratch(f *plan.Finishing) bool {
	i := ro.client.schema.Scratch.Primary
	if i.State() == backend.Down {
		return false
	}
	lacks := func(db string) bool {
		has, known := i.HasDatabase(db)
		return db != "" && known && !has && !strings.ContainsFunc(db, func(r rune) bool { return r > unicode.MaxASCII }) // other names are not known
	}
	return !lacks(ro.client.state.DB()) && !slices.ContainsFunc(f.Scratch, func(s plan.Scratch) bool { return lacks(s.Ref.Table.DB) })
}

// finishNodes lists the nodes that a query asks which is finished on one of them, the first, or on the scratch node.
func (ro *routing) finishNodes(f *plan.Finishing) (nodes []*backend.Node) {
	if !f.ScratchNode {
		nodes = append(nodes, ro.client.schema.Nodes[f.Final(nil).Node])
	}
	for _, scratch := range f.Scratch {
		asked := ro.nodesOf(scratch.Queries)
		if scratch.Plain != nil {
			asked = append(asked, ro.client.schema.Nodes[scratch.Plain.Node]) // for the definition, where no rows matter
		}
		for _, n := range asked {
			if !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// scratchLoan names the connection beside those to the nodes that are read from; no node has an empty name.
const scratchLoan = ""

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

// variableValue is a variable and a value as SQL text.
type variableValue struct{ name, value string }

// ofScratch are variables that a client has set for its own tables, and what they have to be where scratch tables are made and filled.
var ofScratch = [...]variableValue{
	{"transaction_read_only", "0"}, {"sql_safe_updates", "0"}, {"sql_require_primary_key", "0"}, {"explicit_defaults_for_timestamp", "1"},
	{"default_storage_engine", "'InnoDB'"}, {"default_tmp_storage_engine", "'InnoDB'"},
}

// writable lets scratch tables be made on a connection whatever the session has set for its own, until restore is called.
func (sh *shards) writable(p backend.Pooled) (restore func(error) error, err error) {
	var back []func(error) error
	restore = func(failure error) error {
		for _, one := range back {
			failure = one(failure)
		}
		return failure
	}
	for _, v := range ofScratch {
		if has := sh.client.state.Value(v.name); has == "" || has == v.value {
			continue
		}
		one, err := sh.setAside(p, v.name, v.value)
		if err != nil {
			return nil, restore(err)
		}
		back = append(back, one)
	}
	return restore, nil
}

// fill makes the scratch tables and collects their rows.
func (f *finishing) fill() (err error) {
	var back func(error) error
	defer func() {
		if back != nil {
			err = back(err)
		}
	}()
	if f.ex != nil && f.plan.Mode != f.s.client.mode() {
		return preparedOtherwise()
	}
	if err := f.describe(); err != nil {
		return err
	}
	scratches := f.route.Scratch
	if f.aside && f.route.Describe == nil {
		for _, s := range f.route.Rest {
			if s.Ref.Parsed.At.Empty() {
				return refuse("where the text names the table " + s.Ref.Parsed.Name + " is not clear: write the name in backticks")
			}
		}
		scratches = append(slices.Clone(scratches), f.route.Rest...)
	}
	order := f.reduce(scratches)
	if err := order.fits(); err != nil {
		return err
	}
	for k := range scratches {
		scratch, err := order.next()
		if err != nil {
			return err
		}
		name := "ks_scratch_" + strconv.Itoa(k)
		mode := f.plan.Mode
		db, ok := sqltext.QuoteIdent(scratch.Ref.Table.DB, mode)
		if !ok {
			return unreadableName()
		}
		table := db + "." + name
		f.names[scratch.Ref] = name
		list, target := nameList(scratch.Columns, mode), ""
		if target = " (" + list + ")"; list == "" {
			list, target = "*", ""
		}
		run := f.exec
		if k == 0 {
			run = f.begin
		}
		if err := run("DROP TEMPORARY TABLE IF EXISTS " + table); err != nil {
			return err
		}
		like := "SELECT " + list + " FROM " + scratch.Model
		if scratch.Plain != nil {
			like = "SELECT " + list + " FROM " + table + "_model"
			if err := f.model(scratch, table+"_model"); err != nil {
				return named(err, renames(f.plan, scratch.Ref.Table.Shards))
			}
			f.made = append(f.made, table+"_model")
		}
		if scratch.Like != nil {
			var err error
			if like, err = f.literals(scratch.Like); err != nil {
				return err
			}
		}
		f.s.effects.reachOn(f.last, like)
		if err := f.exec("CREATE TEMPORARY TABLE " + table + keysOf(scratch, mode) + " IGNORE AS " + like + " LIMIT 0"); err != nil {
			return named(err, renames(f.plan, scratch.Ref.Table.Shards))
		}
		f.made = append(f.made, table)
		documents := f.documents(scratch)
		if len(documents) > 0 && back == nil {
			// Rows that the table has are not checked again: under IGNORE those that fail would be left out.
			if back, err = f.s.shards.setAside(f.last.Pooled, "check_constraint_checks", "0"); err != nil {
				return err
			}
		}
		if err := f.complete(table, scratch.Invisible, documents); err != nil {
			return err
		}
		into := "INSERT IGNORE INTO " + table + target + " "
		before := f.limits.bytes
		queries, reduced, err := order.queries(scratch)
		if err != nil {
			return named(err, renames(f.plan, scratch.Ref.Table.Shards))
		}
		for i := range queries {
			query := queries[i]
			if reduced && f.ex != nil { // the text is of this execution alone, and not to be prepared
				if query.Text, err = f.literals(&query); err != nil {
					return err
				}
				if query.Moved != "" {
					moved := query
					moved.Text = query.Moved
					if query.Moved, err = f.literals(&moved); err != nil {
						return err
					}
				}
				query.Args = nil
			}
			err := f.gathers(into, &query, scratch)
			f.noteLarge(scratch, f.limits.bytes-before)
			if err != nil {
				return named(err, renames(f.plan, query.Shards))
			}
		}
		order.there[scratch.Ref] = table
		if err := f.copies(scratch, name); err != nil {
			return err
		}
	}
	return nil
}

// copies makes the copies of a scratch table, which is full.
func (f *finishing) copies(scratch *plan.Scratch, name string) (err error) {
	if scratch.Copies < 1 {
		return nil
	}
	restore, err := f.s.shards.setAside(f.last.Pooled, "time_zone", utc) // or TIMESTAMPs may go as local times
	if err != nil {
		return err
	}
	defer func() { err = restore(err) }()
	db, _ := sqltext.QuoteIdent(scratch.Ref.Table.DB, f.plan.Mode)
	target, list := "", "*"
	if len(scratch.Columns) > 0 {
		list = nameList(scratch.Columns, f.plan.Mode)
		target = " (" + list + ")"
	}
	for k := 1; k <= scratch.Copies; k++ {
		table := db + "." + plan.CopyName(name, k)
		if err := f.exec("DROP TEMPORARY TABLE IF EXISTS " + table); err != nil {
			return err
		}
		if err := f.exec("CREATE TEMPORARY TABLE " + table + " LIKE " + db + "." + name); err != nil {
			return err
		}
		f.made, f.copied[scratch.Ref] = append(f.made, table), k
		if err := f.exec("INSERT IGNORE INTO " + table + target + " SELECT " + list + " FROM " + db + "." + name); err != nil {
			return err
		}
	}
	return nil
}

// keysOf writes the keys of a scratch table, "" for none.
func keysOf(scratch *plan.Scratch, mode sqltext.Mode) string {
	var list []string
	if len(scratch.Key) > 0 {
		list = append(list, "PRIMARY KEY ("+nameList(scratch.Key, mode)+")")
	}
	for _, columns := range scratch.Indexes {
		list = append(list, "KEY ("+nameList(columns, mode)+")")
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// named gives an error of a server the names that the client knows.
func named(err error, names []mysql.TableName) error {
	var sqlErr *mysql.SQLError
	if !errors.As(err, &sqlErr) {
		return err
	}
	e := *sqlErr
	mysql.RenameError(&e, names)
	return &e
}

// nameList writes the names of columns, with which the plan was made, as identifiers with commas between them.
func nameList(names []string, mode sqltext.Mode) string {
	var b strings.Builder
	for k, name := range names {
		if k > 0 {
			b.WriteString(", ")
		}
		text, _ := sqltext.QuoteIdent(name, mode)
		b.WriteString(text)
	}
	return b.String()
}

// describe asks for the columns of the result where the final statement's own are others.
func (f *finishing) describe() error {
	query := f.route.Describe
	if query == nil {
		return nil
	}
	if err := f.s.shards.sendTo(f.last, query.Text, query.Args, f.ex); err != nil {
		return err
	}
	names := renames(f.plan, query.Shards)
	var err error
	f.definitions, err = f.last.Conn.ReadColumns()
	f.last.Ended(err)
	if err != nil {
		return named(err, names)
	}
	for k := range f.definitions {
		f.definitions[k].Rename(names)
	}
	return nil
}

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

// ownCharsets has a server send texts in their columns' own character sets, until restore is called, as that of setAside.
func (sh *shards) ownCharsets(p backend.Pooled) (restore func(error) error, err error) {
	return sh.setAside(p, "character_set_results", "NULL")
}

// utc is the time zone in which no local time repeats itself.
const utc = "'+00:00'"

// setAside gives a variable of a connection another value than the session's. restore gives it back the session's, whatever became of
// what was done meanwhile, whose error it takes and hands on: a connection that has another value must not go to anybody else.
func (sh *shards) setAside(p backend.Pooled, name, value string) (restore func(error) error, err error) {
	return sh.carryAside(p, sh.client.state.Setting().With(name, value)) // each of several variables by itself: Apply sends the differences
}

// carryAside has a connection carry another setting than the session's until restore is called; see setAside.
func (sh *shards) carryAside(p backend.Pooled, other *backend.Setting) (restore func(error) error, err error) {
	have := sh.client.state.Setting()
	if err := p.Conn.Apply(have, other); err != nil {
		return nil, err
	}
	return func(failure error) error {
		var refused *mysql.SQLError
		if failure != nil && !errors.As(failure, &refused) {
			return failure // the connections are closed
		}
		if err := p.Conn.Apply(other, have); err != nil {
			return fmt.Errorf("variables cannot be set back: %w", notSQL(err))
		}
		return failure
	}, nil
}

// notSQL makes an error one that closes the connections, even if a server has given it.
func notSQL(err error) error { return errors.New(err.Error()) }

// literals writes the values of an execution into a text: its rows are wanted as text.
func (f *finishing) literals(query *plan.Query) (string, error) {
	if f.ex == nil {
		return query.Text, nil
	}
	return f.s.shards.asText(f.plan, query, f.ex)
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

// appendRow writes a row as a list of literals that mean the same under any character set and sql_mode.
func appendRow(b []byte, definitions []mysql.ColumnDefinition41, cells []value.Cell, info *backend.Info) []byte {
	b = append(b, '(')
	for k, cell := range cells {
		if k > 0 {
			b = append(b, ',')
		}
		d := &definitions[k]
		switch {
		case cell == nil:
			b = append(b, "NULL"...)
		case isText(d):
			b = appendText(b, d, cell, info)
		case d.Type == mysql.TypeDate || d.Type == mysql.TypeDatetime || d.Type == mysql.TypeTimestamp || d.Type == mysql.TypeTime:
			b = append(append(append(b, '\''), cell...), '\'')
		case d.Type == mysql.TypeBit:
			b = appendHex(b, cell)
		case (d.Type == mysql.TypeDouble || d.Type == mysql.TypeFloat) && bytes.IndexByte(cell, 'e') < 0:
			b = append(append(b, cell...), "e0"...) // a DECIMAL has not the digits that a DOUBLE may be written with
		default:
			b = append(b, cell...)
		}
	}
	return append(b, ')')
}

func isText(d *mysql.ColumnDefinition41) bool {
	switch d.Type {
	case mysql.TypeVarchar, mysql.TypeVarString, mysql.TypeString, mysql.TypeBlob, mysql.TypeTinyBlob, mysql.TypeMediumBlob, mysql.TypeLongBlob,
		mysql.TypeEnum, mysql.TypeSet, mysql.TypeJSON, mysql.TypeGeometry, mysql.TypeVector:
		return true
	}
	return false
}

func appendText(b []byte, d *mysql.ColumnDefinition41, cell []byte, info *backend.Info) []byte {
	charset := ""
	switch {
	case d.Type == mysql.TypeJSON:
		charset = "utf8mb4"
	case d.Charset != binaryCollation && info != nil:
		charset = info.Collations[d.Charset].Charset
	}
	if charset != "" {
		b = append(append(append(b, '_'), charset...), ' ')
	}
	if len(cell) == 0 {
		return append(b, "''"...)
	}
	return appendHex(b, cell)
}

func appendHex(b, cell []byte) []byte {
	const digits = "0123456789ABCDEF"
	b = append(b, "X'"...)
	for _, c := range cell {
		b = append(b, digits[c>>4], digits[c&15])
	}
	return append(b, '\'')
}

// final runs the client's statement on the scratch tables and forwards the result.
func (f *finishing) final() (res mysql.Response, err error) {
	if f.route != nil {
		query := f.route.Final(f.names)
		f.text, f.args = query.Text, query.Args
		f.rename = renames(f.plan, query.Shards)
		for ref, name := range f.names {
			one := mysql.TableName{
				FromSchema: ref.Table.DB, FromTable: name, Schema: ref.Table.DB, Table: ref.Table.Name, Flags: f.plan.KeyFlags(ref), Hidden: plan.IndexFlags,
				KeyFlags: ref.OtherKeys(), Columns: query.Columns,
			}
			f.rename = append(f.rename, one)
			for k := 1; k <= f.copied[ref]; k++ {
				one.FromTable = plan.CopyName(name, k)
				f.rename = append(f.rename, one)
			}
		}
	}
	if f.s.client.entry.IsCancelled() {
		return res, interrupted()
	}
	if err := f.limitJoin(); err != nil {
		return res, err
	}
	if err := f.s.shards.sendTo(f.last, f.text, f.args, f.ex); err != nil {
		return res, err
	}
	patch := f.s.client.patchFn
	if f.aside {
		patch = func(ok *mysql.OKPacket) {
			f.s.client.patchOK(ok)
			ok.Status |= f.s.client.status() & mysql.ServerStatusInTrans
		}
	}
	res, err = mysql.ForwardResult(f.s.client.out(), f.last.Conn.Conn, mysql.ForwardOptions{Status: f.s.client.status(), Patch: f.warning(patch), Rename: f.rename,
		Definitions: f.definitions, AsDefined: f.asDefined, Quota: f.s.client.quota(f.q), PatchError: f.s.client.patchExpired, Hold: syntaxError})
	if err == nil && res.Held {
		f.last.Ended(res.Err)
		return res, res.Err
	}
	if err == nil || f.last.Received() >= wrapsMin {
		f.s.client.task().repeatable = nil // the client has, or may have, a part of it
	}
	if err != nil {
		f.last.Ended(err)
		return res, err
	}
	if res.Kind == mysql.ResponseErr {
		f.last.Ended(res.Err)
	} else {
		f.last.Ended(nil)
	}
	if res.Cut {
		return res, f.s.client.cutOff(f.last.Pooled, f.q, &res)
	}
	f.s.exchanges.observe(f.last.Pooled, f.q, &res)
	f.s.client.state.Found.Told()
	if res.Kind != mysql.ResponseErr && f.s.client.state.Diagnostics.WarningCount > 0 {
		// What follows makes the server forget them.
		if err := f.s.client.fetchWarnings(f.last.Pooled, f.rename); err != nil {
			return res, err
		}
		if f.warned != nil {
			f.s.client.state.Diagnostics.Add([]state.Warning{*f.warned})
		}
	}
	if res.Kind == mysql.ResponseRows && f.plan != nil && f.plan.CalcFoundRows() {
		err = f.last.Conn.Rows("SELECT FOUND_ROWS() LIMIT 1", 1, func(row []string) {
			n, _ := strconv.ParseUint(row[0], 10, 64)
			f.s.client.state.Found = state.FoundRowsOf(n)
		})
	}
	return res, err
}
