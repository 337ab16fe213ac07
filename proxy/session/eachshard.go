package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/proxy/ddl"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// eachShard runs DDL on the physical tables of its tables.
func (ds *definitions) eachShard(q *query, p *plan.Plan, r *plan.Route) (failed bool, err error) {
	if tables := globalTables(p); len(tables) > 0 {
		return ds.eachShardAlone(q, tables)
	}
	return ds.onEachShard(q, p, r)
}

// onEachShard runs DDL on every physical table, one outcome each. A failure does not undo what was done: the client hears which
// tables are done, and ADMIN DDL RESUME finishes the rest.
func (ds *definitions) onEachShard(q *query, p *plan.Plan, r *plan.Route) (failed bool, err error) {
	if err := ds.defaultsFollowed(p, r); err != nil {
		return true, err
	}
	if p.Operator.(*plan.Each).Known {
		keys, err := ds.keysThere(p.Target.Table)
		if err != nil {
			return true, err
		}
		route, err := p.Define(keys)
		if err != nil {
			return true, planError(err)
		}
		r = &route
	}
	if err := ds.leases.endForDDL(); err != nil {
		return true, err
	}
	if p.Statement.Kind == sqlparse.Maintain {
		return ds.maintain(p, r)
	}
	st := ddl.Statement{
		User: ds.client.entry.Name(), Text: strings.Clone(q.text), Setting: ds.settingFor(p), AsWanted: asWanted(p.Statement), Piecemeal: piecemeal(p.Statement),
	}
	names := make([][]mysql.TableName, len(r.Queries))
	for k, query := range r.Queries {
		step := ddl.Step{Node: query.Node, Text: strings.Clone(query.Text), Again: dropAgain(p.Statement, query.Text)}
		for _, shard := range query.Shards {
			step.Tables = append(step.Tables, shard.String())
		}
		st.Steps = append(st.Steps, step)
		names[k] = renames(p, query.Shards)
	}
	if names, err = ds.withIndexes(p, &st, names); err != nil {
		return true, err
	}
	d := definition{s: ds, run: ds.client.shared.DDL.Begin(st), names: names}
	if failed, err = d.carryOut(); !failed && err == nil && (len(d.warnings) == 0 || p.Statement.Definition == nil || p.Statement.Definition.Verb != sqlparse.CreateTable) {
		ds.idsDefined(p) // else the table may have been there
	}
	return failed, err
}

// settingFor returns what the connections of a statement are to carry: for the copies of a table one time, which a new column's DEFAULT CURRENT_TIMESTAMP gives
// the rows that are there.
func (ds *definitions) settingFor(p *plan.Plan) *backend.Setting {
	setting := ds.client.state.Setting()
	if t := p.Target; t == nil || t.Table.Kind != router.Reference || len(t.Table.Shards) < 2 || ds.client.state.Value("timestamp") != "" {
		return setting
	}
	now := time.Now()
	return setting.With("timestamp", fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000))
}

// Codes of errors that say that a definition is as it was wanted. MySQL manual: "Server Error Message Reference".
const (
	erTableExists        = 1050
	erBadTable           = 1051
	erDupFieldname       = 1060
	erNoSuchTable        = 1146
	erDupKeyname         = 1061
	erCantDropFieldOrKey = 1091
	erFKDupName          = 1826 // in MariaDB also of a CHECK constraint
	erCheckConstraintDup = 3822
	erCheckNotFound      = 3821
	erConstraintNotFound = 3940
)

// asWanted gives the errors that say of a statement that it was carried out before.
func asWanted(st *sqlparse.Statement) []uint16 {
	if st.Definition == nil {
		return nil
	}
	switch st.Definition.Verb {
	case sqlparse.CreateTable:
		return []uint16{erTableExists}
	case sqlparse.AlterTable, sqlparse.CreateIndex, sqlparse.DropIndex:
		if !st.Definition.Renames {
			return []uint16{erDupFieldname, erDupKeyname, erCantDropFieldOrKey, erFKDupName, erCheckConstraintDup, erCheckNotFound, erConstraintNotFound}
		}
	}
	return nil
}

// piecemeal tells whether a server may have done a part of a statement that it answers with an error.
func piecemeal(st *sqlparse.Statement) bool {
	return st.Definition != nil && st.Definition.Verb == sqlparse.DropTable && len(st.Tables) > 1
}

// dropAgain makes the text of a DROP TABLE that may have run before: tables that are gone are no error. text is what a server
// got; "" stands for the same once more.
func dropAgain(st *sqlparse.Statement, text string) string {
	d := st.Definition
	if d == nil || d.Verb != sqlparse.DropTable || d.IfExists || d.List.Empty() {
		return ""
	}
	// Ahead of the names the text is the client's.
	return text[:d.List.Pos] + "IF EXISTS " + text[d.List.Pos:]
}

// definitions run statements about tables, rather than rows, on each of their shards.
type definitions struct {
	client  *client
	effects *effects
	leases  *leases
	routing *routing
	shards  *shards
	changes *changes
}

// definition is a DDL statement under way on its physical tables.
type definition struct {
	s   *definitions
	run *ddl.Run
	// names are the physical ones of each step with those that the client knows.
	names [][]mysql.TableName
	// resumed: it ran before, perhaps in another session, so it needs connections in the state of that time.
	resumed bool
	st      ddl.Statement

	mu sync.Mutex
	// Under mu while the steps run.
	broken   map[string]error
	changed  map[int]bool // the steps that have done something, by number
	total    mysql.OKPacket
	warnings []state.Warning
	first    *mysql.SQLError // the error of the first step that failed
	firstAt  int
}

// carryOut runs the steps that are not done and answers the client.
func (d *definition) carryOut() (failed bool, err error) {
	s := d.s
	// Whatever happens, the record ends: a panic leaves what is known.
	ended := false
	defer func() {
		if !ended {
			d.run.End()
		}
	}()
	d.st, d.broken, d.changed = d.run.Statement(), map[string]error{}, map[int]bool{}
	nodes := make([]string, len(d.st.Steps))
	var open []*backend.Node
	for k, step := range d.st.Steps {
		if step.Outcome == ddl.Done {
			continue
		}
		nodes[k] = step.Node
		n := s.client.snap.Nodes[step.Node]
		if n == nil {
			return true, newError(KSUnfinishedDDL, "node "+step.Node+" is not in the configuration any more: ADMIN DDL FORGET drops the record")
		}
		if !slices.Contains(open, n) {
			open = append(open, n)
		}
	}
	loans, err := s.shards.borrowEach(open, d.st.Setting, !d.resumed)
	if err != nil {
		return true, err
	}
	s.client.entry.GoOn()
	defer s.client.snap.ForgetPlans()
	s.client.shared.Log.Info("DDL begins", "conn", s.client.id, "user", s.client.entry.Name(), "ddl", d.run.ID(), "statement", withoutTexts(d.st.Text, s.client.mode()), "steps", len(d.st.Steps))
	intent := s.changes.intend(&change{text: d.st.Text, loans: loans})
	d.stages(loans, nodes)
	s.client.shared.HalfDone.End(intent)
	stateLost := s.shards.endEach(loans, d.broken)
	d.st = d.run.Statement()
	kept, dropped := d.run.End()
	ended = true
	for _, id := range dropped {
		s.client.shared.Log.Warn("unfinished DDL is forgotten: there is too much of it", "conn", s.client.id, "user", d.st.User, "ddl", id)
	}
	return d.answer(kept, stateLost)
}

// stages runs the steps by their stages, until one is not done.
func (d *definition) stages(loans []txn.Lease, nodes []string) {
	last := 0
	for _, step := range d.st.Steps {
		last = max(last, step.Stage)
	}
	for stage := range last + 1 {
		of := slices.Clone(nodes)
		for k, step := range d.st.Steps {
			if step.Stage != stage {
				of[k] = ""
			}
		}
		beside(loans, of, d.step)
		done := true
		for _, step := range d.run.Statement().Steps {
			done = done && (step.Stage != stage || step.Outcome == ddl.Done)
		}
		if !done {
			d.undo(loans, nodes)
			return
		}
	}
}

// undo takes back the steps that can be, where no others have done anything.
func (d *definition) undo(loans []txn.Lease, nodes []string) {
	steps := d.run.Statement().Steps
	for _, step := range steps {
		if d.resumed || step.Outcome == ddl.Unknown || step.Outcome == ddl.Done && step.Undo == "" {
			return
		}
	}
	beside(loans, nodes, func(l *txn.Lease, k int) bool {
		if steps[k].Outcome != ddl.Done {
			return true
		}
		if d.changed[k] {
			if _, _, err := define(l, steps[k].Undo, nil); err != nil {
				d.s.client.shared.Log.Warn("what DDL did ahead of what failed is still there", "conn", d.s.client.id, "node", l.Node, "tables", steps[k].Tables, "error", err)
				return true
			}
		}
		d.run.Set(k, ddl.Waiting, nil)
		return true
	})
}

// step runs one step; false ends those of its node.
func (d *definition) step(l *txn.Lease, k int) bool {
	if d.s.client.entry.IsCancelled() {
		return false
	}
	step := &d.st.Steps[k]
	text := step.Text
	if d.resumed && step.Again != "" {
		text = step.Again
	}
	d.s.effects.reachOn(l, text)
	l.Started(d.s.client.id, d.s.client.observed.ShardSpan(l.Instance, d.s.client.state.DB(), text))
	ok, warnings, err := define(l, text, d.namesOf(k))
	l.Ended(err)
	var sqlErr *mysql.SQLError
	isSQL := errors.As(err, &sqlErr)
	never := err != nil && !isSQL && l.Conn.NeverArrived()
	switch {
	case err == nil:
		d.run.Set(k, ddl.Done, nil)
	case never && step.Outcome != ddl.Unknown:
		d.run.Set(k, ddl.Waiting, err)
	case isSQL && step.Outcome == ddl.Unknown && slices.Contains(d.st.AsWanted, sqlErr.Code):
		d.run.Set(k, ddl.Done, nil)
		return true
	case isSQL && step.Outcome != ddl.Unknown && (!d.st.Piecemeal || sqlErr.Code == erBadTable):
		d.run.Set(k, ddl.Failed, err)
	default:
		d.run.Set(k, ddl.Unknown, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.changed[k] = ok.Warnings == 0
		if step.Own {
			break
		}
		addChange(&d.total, ok)
		for _, w := range warnings {
			w.Message = onceNamed(w.Message, d.namesOf(k))
			if len(d.warnings) < state.WarningsMax && !slices.Contains(d.warnings, w) {
				d.warnings = append(d.warnings, w) // every physical table's server says the same
			}
		}
	case isSQL:
		if d.first == nil || k < d.firstAt {
			d.first, d.firstAt = sqlErr, k
		}
	default:
		d.broken[l.Node] = err
	}
	return err == nil || isSQL
}

func (d *definition) namesOf(step int) []mysql.TableName {
	if d.names == nil {
		return nil
	}
	return d.names[step]
}

// onceNamed makes one of the names in a message's list that are the same table's to the client.
func onceNamed(text string, names []mysql.TableName) string {
	for _, n := range names {
		name := n.Schema + "." + n.Table
		for strings.Contains(text, name+","+name) {
			text = strings.ReplaceAll(text, name+","+name, name)
		}
	}
	return text
}

// define runs one statement on a connection, with the warnings that it leaves. Only the statement's own failure is an error: a
// connection that breaks afterwards is found out by its next use.
func define(l *txn.Lease, text string, names []mysql.TableName) (ok mysql.OKPacket, warnings []state.Warning, err error) {
	l.Conn.Command(mysql.ComQuery, text)
	if err := l.Conn.Flush(); err != nil {
		return ok, nil, err
	}
	if ok, err = l.Conn.ReadChange(); err != nil || ok.Warnings == 0 {
		return ok, nil, err
	}
	warnings, err = state.ReadWarnings(l.Pooled.Conn, names)
	var sqlErr *mysql.SQLError
	if err != nil && !errors.As(err, &sqlErr) {
		l.Conn.Close()
	}
	return ok, warnings, nil
}

// answer tells the client the outcome of all steps. kept says that the record is there to be resumed.
func (d *definition) answer(kept, stateLost bool) (failed bool, err error) {
	s := d.s
	unfinished, changed := false, false
	for _, step := range d.st.Steps {
		unfinished = unfinished || step.Outcome != ddl.Done
		changed = changed || step.Outcome == ddl.Done || step.Outcome == ddl.Unknown
	}
	switch {
	case !unfinished:
		s.client.shared.Log.Info("DDL is done", "conn", s.client.id, "ddl", d.run.ID())
		s.client.state.Diagnostics.Warnings, s.client.state.Diagnostics.ErrorCount = d.warnings, 0
		d.total.Warnings = uint16(len(d.warnings))
		d.total.Status = s.client.status()
		d.total.Info = infoWarnings(d.total.Info, d.total.Warnings)
		s.client.task().countWarned(&d.total, s.client.mode())
		s.client.state.Diagnostics.WarningCount = int(d.total.Warnings)
		s.client.state.Diagnostics.RowCount = int64(d.total.AffectedRows)
		s.client.conn.WriteOK(&d.total)
		return false, nil
	case !changed && d.first == nil:
		if len(d.broken) > 0 {
			return s.shards.failEach(notArrived(slices.Sorted(maps.Keys(d.broken))), stateLost)
		}
		return s.shards.failEach(interrupted(), stateLost)
	case !changed:
		e := *d.first
		// A table of which no part is there is missing as a whole.
		e.Message = onceNamed(mysql.RenameText(e.Code, e.Message, d.namesOf(d.firstAt)), d.namesOf(d.firstAt))
		return s.shards.failEach(&e, stateLost)
	}
	s.client.shared.Log.Error("DDL is not done on every physical table", "conn", s.client.id, "user", d.st.User, "ddl", d.run.ID(),
		"statement", withoutTexts(d.st.Text, s.client.mode()), "done", tablesOf(d.st.Steps, loggedMax, ddl.Done),
		"unknown", tablesOf(d.st.Steps, loggedMax, ddl.Unknown), "failed", tablesOf(d.st.Steps, loggedMax, ddl.Failed),
		"not_tried", tablesOf(d.st.Steps, loggedMax, ddl.Waiting))
	return s.shards.failEach(newError(KSUnfinishedDDL, d.unfinished(kept)), stateLost)
}

// Bounds of the tables that an error and a line of the log name for each outcome.
const (
	shownMax  = 4
	loggedMax = 1000
)

// errorTextMax is the length in bytes of the longest server's message within ours.
const errorTextMax = 160

// unfinished words what is done and what is not.
func (d *definition) unfinished(kept bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "DDL %d is not done on every physical table", d.run.ID())
	if kept {
		fmt.Fprintf(&b, ", ADMIN DDL RESUME %d finishes it", d.run.ID()) // early, as some clients cut long messages
	}
	cause := ""
	for _, o := range []ddl.Outcome{ddl.Done, ddl.Failed, ddl.Unknown, ddl.Waiting} {
		if tables := tablesOf(d.st.Steps, shownMax, o); tables != "" {
			fmt.Fprintf(&b, "; %v: %s", o, tables)
		}
	}
	for _, step := range d.st.Steps {
		if cause == "" {
			cause = step.Error
		}
	}
	if len(cause) > errorTextMax {
		cause = strings.ToValidUTF8(cause[:errorTextMax], "") + "..."
	}
	if cause != "" {
		b.WriteString("; " + cause)
	}
	return b.String()
}

// tablesOf names the physical tables of the steps with an outcome, shown of them at most.
func tablesOf(steps []ddl.Step, shown int, o ddl.Outcome) string {
	var names []string
	for _, step := range steps {
		if step.Outcome == o {
			names = append(names, step.Tables...)
		}
	}
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], " "), more)
	}
	return strings.Join(names, " ")
}
