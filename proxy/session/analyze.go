package session

import (
	"strconv"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/exec"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// analysis is what the steps of a query that EXPLAIN ANALYZE runs have taken, in the order in which they began. A nil one measures nothing.
type analysis struct{ steps []*measuredStep }

// measuredStep is a statement that a server got.
type measuredStep struct {
	plan.Step
	rows, bytes uint64 // that it gave
	took        time.Duration
	// inserted and inserting are the bytes of the INSERTs that brought the rows elsewhere, and their time, which took is without; zero for none.
	inserted  int
	inserting time.Duration

	began  time.Time
	source *exec.Source // of one whose rows are merged
	ended  bool
}

// analyze runs a query on sharded tables for nobody to get its rows, and answers with what each of its steps gave and took. In all else the query runs
// as the client's.
func (s composer) analyze(q *query, text string) (failed bool, err error) {
	c := &s.client
	text, ok := sqlparse.Explained(text, c.mode())
	if !ok {
		return true, newError(KSRefusedSharding, "EXPLAIN ANALYZE of sharded tables: use it followed by the query")
	}
	p, err := c.schema.Plans.get(text, c.state.DB(), c.mode())
	switch {
	case err != nil:
		return true, s.leases.unreadable(text, err)
	case p == nil:
		return true, newError(KSRefusedSharding, "EXPLAIN of this form of statement is not known")
	case p.Statement.Kind != sqlparse.SelectKind:
		return true, newError(KSRefusedSharding, "EXPLAIN ANALYZE carries the statement out: of sharded tables it is for queries; use EXPLAIN for a change")
	}
	planned, err := plan.Explain(p)
	if err != nil {
		return true, planError(err)
	}
	a := new(analysis)
	began := time.Now()
	rows, bytes, err := s.analyzed(a, q, text)
	if err != nil {
		return true, err
	}
	a.end(&planned[0], rows, bytes, time.Since(began))
	c.noWarnings()
	c.writeTable(analyzeColumns(), a.rows(plan.ExplainIndexes(p, c.shared.Indexes.Built)))
	return false, nil
}

// analyzed runs the query, and returns what the client would have got of it.
func (s composer) analyzed(a *analysis, q *query, text string) (rows, bytes uint64, err error) {
	c := &s.client
	inner := query{text: text, info: sqltext.Classify(text, c.mode()), attributes: q.attributes, verdict: q.verdict, quota: q.quota}
	had := c.observed.Work
	c.task().analysis, c.sink = a, newSink(errorKept)
	c.sink.drops = true
	defer func() {
		_ = c.sink.conn.Flush()
		c.sink.conn.Release()
		c.task().analysis, c.sink = nil, nil
	}()
	handled, failed, err := s.sharded(&inner)
	if !handled && err == nil {
		failed, err = s.analyzedWhole(a, &inner)
	}
	if err == nil && failed {
		err = heardInstead(c)
	}
	return c.observed.Rows - had.Rows, c.observed.Bytes - had.Bytes, err
}

// errorKept is how much is kept of the answer that nobody gets: an error.
const errorKept = 4 << 10

// heardInstead is the error that the query was answered with.
func heardInstead(c *client) error {
	if answer, _, _ := c.sink.read(nil); answer.err != nil {
		return answer.err
	}
	for _, w := range c.state.Diagnostics.Warnings { // it came behind rows
		if w.Level == "Error" {
			return mysql.NewSQLError(w.Code, w.Message)
		}
	}
	return newError(KSStatementBroken, "")
}

// analyzedWhole runs the query on the one server that has its rows.
func (s composer) analyzedWhole(a *analysis, q *query) (failed bool, err error) {
	step := a.begin(plan.Step{Plan: "forward", SQL: q.text})
	if q.node != nil {
		step.Node = q.node.Name
	}
	for _, n := range q.rename {
		step.Shards = append(step.Shards, n.FromSchema+"."+n.FromTable)
	}
	had := s.client.observed.Work
	failed, err = s.exchanges.forward(q)
	step.took, step.ended = time.Since(step.began), true
	step.rows, step.bytes = s.client.observed.Rows-had.Rows, s.client.observed.Bytes-had.Bytes
	return failed, err
}

// toldMax is how much of a statement's text is told, in bytes: lists of values may be long.
const toldMax = 16 << 10

// told is what is told of a text.
func told(text string) string {
	if len(text) <= toldMax {
		return strings.Clone(text)
	}
	return strings.ToValidUTF8(text[:toldMax], "") + "…"
}

// begin notes that a step begins.
func (a *analysis) begin(s plan.Step) *measuredStep {
	s.SQL = told(s.SQL)
	step := &measuredStep{Step: s, began: time.Now()}
	a.steps = append(a.steps, step)
	return step
}

// restart forgets the steps of an attempt that is made again.
func (a *analysis) restart() {
	if a != nil {
		a.steps = nil
	}
}

// merges notes that a shard was sent its query, whose rows are merged.
func (a *analysis) merges(q *plan.Query, l *txn.Lease, src *exec.Source) {
	if a == nil {
		return
	}
	step := a.begin(plan.StepOf("merge", "", q))
	step.source = src
	counts := src.AtEnd
	src.AtEnd = func(e *mysql.SQLError) {
		counts(e)
		step.took, step.bytes, step.ended = time.Since(step.began), l.Received(), true
	}
}

// end makes the statement's reason, and what would help it, those of the steps, and adds what the client would have got.
func (a *analysis) end(planned *plan.Step, rows, bytes uint64, took time.Duration) {
	for k, step := range a.steps {
		if step.source != nil {
			step.rows = step.source.Rows()
		}
		if step.Plan != "forward" {
			step.Reason = planned.Reason
		}
		if k == 0 {
			step.Help = planned.Help
		}
	}
	a.steps = append(a.steps, &measuredStep{Step: plan.Step{Plan: "result"}, rows: rows, bytes: bytes, took: took, ended: true})
}

// rows are those of the answer; ahead are steps that are not measured.
func (a *analysis) rows(ahead []plan.Step) (out [][]string) {
	millis := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds()*1000, 'f', 3, 64) }
	for _, step := range ahead {
		out = append(out, append(explainRow(len(out)+1, &step), nullText, nullText, nullText, nullText, nullText))
	}
	for _, step := range a.steps {
		row := append(explainRow(len(out)+1, &step.Step), strconv.FormatUint(step.rows, 10))
		if step.ended {
			row = append(row, strconv.FormatUint(step.bytes, 10), millis(step.took))
		} else {
			row = append(row, nullText, nullText) // the rest of its rows was not wanted
		}
		if step.inserted > 0 {
			row = append(row, strconv.Itoa(step.inserted), millis(step.inserting))
		} else {
			row = append(row, nullText, nullText)
		}
		out = append(out, row)
	}
	return out
}

// analyzeColumns describes the rows of EXPLAIN ANALYZE.
func analyzeColumns() []mysql.ColumnDefinition41 {
	kind, number, real := mysql.TypeVarString, mysql.TypeLongLong, mysql.TypeDouble
	return ownDefinitions([]string{"id", "plan", "reason", "node", "shards", "sql", "help", "scratch", "rows", "bytes", "ms", "insert_bytes", "insert_ms"},
		[]mysql.ColumnType{number, kind, kind, kind, kind, kind, kind, kind, number, number, real, number, real},
		[][]string{{"", "", nullText, "", "", "", nullText, nullText, nullText, nullText, nullText, nullText, nullText}}) // what may be NULL
}

// gathers is collect, measured where that is wanted.
func (f *finishing) gathers(into string, query *plan.Query, scratch *plan.Scratch) error {
	a := f.s.client.task().analysis
	if a == nil || f.plan == nil {
		return f.collect(into, query, scratch)
	}
	f.step = a.begin(plan.GatherOf(f.plan, scratch.Ref, query))
	defer func() { f.step = nil }()
	err := f.collect(into, query, scratch)
	f.step.took, f.step.ended = time.Since(f.step.began)-f.step.inserting, true
	return err
}

// reads notes what the last statement of a connection gave.
func (step *measuredStep) reads(from *txn.Lease) {
	if step != nil {
		step.bytes = from.Received()
	}
}

// keeps notes that rows came from a table of the server that collects them.
func (step *measuredStep) keeps(rows uint64) {
	if step != nil {
		step.rows = rows
	}
}

// inserts runs an INSERT of collected rows.
func (step *measuredStep) inserts(rows int, text []byte, run func(string) error) error {
	if step == nil {
		return run(string(text))
	}
	began := time.Now()
	err := run(string(text))
	step.rows, step.inserted, step.inserting = step.rows+uint64(rows), step.inserted+len(text), step.inserting+time.Since(began)
	return err
}

// answers is final, measured where that is wanted.
func (f *finishing) answers() (mysql.Response, error) {
	a := f.s.client.task().analysis
	if a == nil {
		return f.final()
	}
	step := a.begin(plan.Step{Plan: "finish", Node: f.node})
	res, err := f.final()
	step.took, step.rows, step.bytes, step.ended = time.Since(step.began), res.Rows, res.Bytes, true
	step.SQL = told(f.text)
	return res, err
}
