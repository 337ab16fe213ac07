package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// judge tells how statements would run.
type judge struct {
	router  *router.Router
	columns *columns
	hinted  []string // nodes that hints may name
	mode    sqltext.Mode
	names   map[string]bool // of tables with a rule, in lower case

	// What many statements are judged with.
	digest    sqltext.Digest
	execution plan.Execution
	shapes    map[shapeKey]*shape
}

// shapeKey is what the texts of one form have in common.
type shapeKey struct {
	db, key string
	mode    sqltext.Mode
}

// shape is the plan of a form; none where its texts are planned one by one.
type shape struct {
	plan  *plan.Plan
	whole bool
}

// shapesMax bounds the plans kept; beyond it all are made again.
const shapesMax = 10_000

func newJudge(r *router.Router, c *columns, hinted []string) *judge {
	j := &judge{router: r, columns: c, hinted: hinted, mode: c.mode, names: map[string]bool{}, shapes: map[shapeKey]*shape{}}
	for _, t := range r.Tables() {
		j.names[strings.ToLower(t.Name)] = true
	}
	return j
}

func (j *judge) watched(name string) bool { return j.names[strings.ToLower(name)] }

// read plans a text; nil where no table with a rule is in it.
func (j *judge) read(text string, form bool, db string) (*plan.Plan, error) {
	return plan.Read(text, plan.Reading{Form: form, DB: db, Mode: j.mode, Router: j.router, Watched: j.watched, Catalog: j.columns.of})
}

// hint is the node that a statement's hint names; "" without one.
func (j *judge) hint(info *sqltext.Info) string {
	if info.NodeHint != "" && slices.Contains(j.hinted, info.NodeHint) {
		return info.NodeHint
	}
	return ""
}

// steps gives the steps of a statement as the proxy would take them. Keys over all shards count as built.
func (j *judge) steps(text, db string, info sqltext.Info) ([]plan.Step, error) {
	if node := j.hint(&info); node != "" {
		return []plan.Step{{Plan: "forward", Reason: "a hint names the node", Node: node, SQL: text}}, nil
	}
	if info.Class == sqltext.Explain {
		if inner, ok := sqlparse.Explained(text, j.mode); ok {
			text = inner
		}
	}
	text = j.withoutInto(text, &info)
	whole := []plan.Step{{Plan: "forward", Reason: "no table with a rule: the default node", Node: j.router.Default(), SQL: text}}
	if !mentions(text, j.mode, j.watched) {
		return whole, nil // it need not be understood: the server reads it
	}
	p, err := j.read(text, false, db)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return whole, nil
	}
	steps, err := plan.Explain(p)
	if err != nil {
		return nil, err
	}
	return append(plan.ExplainIndexes(p, built), steps...), nil
}

// withoutInto takes INTO @x out of a query: the proxy sets the variables, and the plan is that of the query.
func (j *judge) withoutInto(text string, info *sqltext.Info) string {
	switch info.Class {
	case sqltext.Select, sqltext.With, sqltext.Explain:
		if info.Has(sqltext.UserVarWrite) {
			if into, ok := sqlparse.CutInto(text, j.mode); ok {
				return into.Text
			}
		}
	}
	return text
}

// refusalOf is the error that a statement fails with before anything is sent: the proxy's, or one that a server would have; "" for what cannot be read.
func refusalOf(err error) string {
	if e, is := err.(*mysql.SQLError); is {
		return e.Message
	}
	if plan.IsRefusal(err) {
		return err.Error()
	}
	return ""
}

// built takes every key over all shards for one that is in use.
func built(*router.Index) bool { return true }

// mentions tells whether a word or a quoted name of a text is watched.
func mentions(text string, m sqltext.Mode, watched func(name string) bool) bool {
	l := sqltext.NewLexer(text, m)
	for {
		switch t := l.Next(); t.Kind {
		case sqltext.KindEOF:
			return false
		case sqltext.KindWord:
			if watched(text[t.Pos:t.End]) {
				return true
			}
		case sqltext.KindQuotedIdent:
			if t.End-t.Pos > 2 && watched(text[t.Pos+1:t.End-1]) {
				return true
			}
		}
	}
}

// tablesOf lists the tables with a rule that a statement names: those of its plan, or without one those whose names are in the text. Those of another
// database have its name, too.
func (j *judge) tablesOf(text, db string, p *plan.Plan) (list []string) {
	add := func(t *router.Table) {
		name := t.Name
		if t.DB != db {
			name = t.DB + "." + name
		}
		if t.Keeps == nil && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	switch {
	case p != nil:
		for _, r := range p.Refs {
			if j.watched(r.Table.Name) {
				add(r.Table)
			}
		}
		return list
	case !mentions(text, j.mode, j.watched):
		return nil
	}
	named := map[string]bool{}
	mentions(text, j.mode, func(name string) bool {
		named[strings.ToLower(name)] = true
		return false
	})
	for _, t := range j.router.Tables() {
		if named[strings.ToLower(t.Name)] && (t.DB == db || named[strings.ToLower(t.DB)]) {
			add(t)
		}
	}
	return list
}

// class is how a statement runs, what needs the most attention first.
type class uint8

// The classes.
const (
	refused class = iota
	unreadable
	tooLong
	finished
	changedNodes
	changedNode
	looked
	merged
	oneShard
	unsharded
	ofSession
	administration
	classes // how many there are
)

// classNames are their names, and what they mean.
var classNames = [classes]struct{ name, about string }{
	refused:        {"refused", "an error of the proxy, before anything is sent"},
	unreadable:     {"unreadable", "they name a table with a rule, and the proxy cannot read them"},
	tooLong:        {"too long", "longer than this report reads; not judged"},
	finished:       {"finished", "rows or groups are collected in temporary tables, and a server runs the rest"},
	changedNodes:   {"several nodes", "changes on several nodes: transaction_mode says whether all keep them or none"},
	changedNode:    {"one node", "changes of several sub-tables on one node, in one transaction"},
	looked:         {"looked up", "a key over all shards tells which of them are asked"},
	merged:         {"merged", "several shards are asked, and their rows merged as they come"},
	oneShard:       {"one shard", "forwarded to one server as they are, with the names of sub-tables"},
	unsharded:      {"unsharded", "no table with a rule: forwarded to the default node as they are"},
	ofSession:      {"session", "settings, transactions and the like, which the proxy keeps for its client"},
	administration: {"administration", "accounts, replication, the server: by the user's rights, or refused; docs/sql-support.md"},
}

// outcome is how one execution of a statement would run.
type outcome struct {
	class  class
	where  string // on how many shards
	reason string
	plan   *plan.Plan // nil where there is none
}

// sessionClasses are those of statements that are never planned.
var sessionClasses = map[sqltext.Class]bool{
	sqltext.Empty: true, sqltext.Set: true, sqltext.Use: true, sqltext.ShowWarnings: true, sqltext.ShowErrors: true, sqltext.ShowProcesslist: true, sqltext.Begin: true,
	sqltext.Commit: true, sqltext.Rollback: true, sqltext.RollbackTo: true, sqltext.Savepoint: true, sqltext.ReleaseSavepoint: true, sqltext.XA: true,
	sqltext.UnlockTables: true, sqltext.Kill: true, sqltext.Prepare: true, sqltext.Execute: true, sqltext.Deallocate: true,
}

// adminClasses are those of statements that may be refused by what they are.
var adminClasses = map[sqltext.Class]bool{
	sqltext.Handler: true, sqltext.ChangeReplication: true, sqltext.BinlogStmt: true, sqltext.Flush: true, sqltext.Grant: true, sqltext.Admin: true,
}

// outcome judges one execution. The text is that of one statement.
func (j *judge) outcome(text, db string, info *sqltext.Info) outcome {
	switch {
	case info.Class == sqltext.Set && setsServer(text, j.mode):
		return outcome{class: administration}
	case info.Class == sqltext.Set && sqltext.Mentions(text, "select") && mentions(text, j.mode, j.watched):
		query, _, ok := sqltext.SelectOfSet(text, j.mode)
		if !ok {
			return outcome{class: refused, reason: "SET to a query that may name a sharded table: run the query and set its value"}
		}
		of := sqltext.Classify(query, j.mode)
		text, info = query, &of
	case sessionClasses[info.Class]:
		return outcome{class: ofSession}
	}
	if node := j.hint(info); node != "" {
		return outcome{class: unsharded, reason: "a hint names the node " + node}
	}
	if !mentions(text, j.mode, j.watched) {
		return withoutRule(info)
	}
	if info.Class == sqltext.Explain {
		return outcome{class: ofSession, reason: "EXPLAIN shows the proxy's plan"}
	}
	text = j.withoutInto(text, info)
	p, bound, err := j.planned(text, db)
	switch {
	case err != nil:
		return failure(err)
	case p == nil:
		return withoutRule(info)
	case !bound:
		j.execution.Bind(p, nil)
	}
	o, again := j.routed(p)
	if again && bound { // a plan of the form does not tell
		if p, err = j.read(text, false, db); err != nil {
			return failure(err)
		}
		j.execution.Bind(p, nil)
		o, _ = j.routed(p)
	}
	o.plan = p
	return o
}

// setsServer tells SET of what is not the session's.
func setsServer(text string, m sqltext.Mode) bool {
	list, _ := sqltext.ParseSet(text, m)
	return slices.ContainsFunc(list, func(a sqltext.Assignment) bool {
		switch a.Scope {
		case sqltext.Global, sqltext.Persist, sqltext.PersistOnly, sqltext.Password, sqltext.ResourceGroup:
			return true
		}
		return false
	})
}

func withoutRule(info *sqltext.Info) outcome {
	if adminClasses[info.Class] {
		return outcome{class: administration}
	}
	return outcome{class: unsharded}
}

func failure(err error) outcome {
	if text := refusalOf(err); text != "" {
		return outcome{class: refused, reason: text}
	}
	return outcome{class: unreadable, reason: err.Error()}
}

// planned gives the plan of a text. bound says that it is that of the text's form, and that the execution has the text's values.
func (j *judge) planned(text, db string) (p *plan.Plan, bound bool, err error) {
	if j.digest.Scan(text, j.mode) {
		key := shapeKey{db, string(j.digest.Key), j.mode}
		s := j.shapes[key]
		if s == nil {
			s = &shape{whole: true}
			if form, ok := plan.Form(text, &j.digest); ok {
				if made, err := j.read(form, true, db); err == nil && made != nil {
					s.plan, s.whole = made, false
				}
			}
			if len(j.shapes) >= shapesMax {
				clear(j.shapes)
			}
			j.shapes[key] = s
		}
		if !s.whole && j.execution.BindText(s.plan, text, &j.digest) {
			return s.plan, true, nil
		}
	}
	p, err = j.read(text, false, db)
	return p, false, err
}

// routed judges a plan that is bound to its values. again says that only a plan of the text itself tells.
func (j *judge) routed(p *plan.Plan) (o outcome, again bool) {
	r, err := j.execution.Route()
	if l := p.Lookup(); l != nil && (err == nil && r.One == nil || err != nil && plan.IsRefusal(err)) {
		return outcome{class: looked, where: "the shards of the key " + l.Index.Name}, false
	}
	switch {
	case errors.Is(err, plan.ErrOwnText):
		return o, true
	case errors.Is(err, plan.ErrDraws):
		return j.drawn(p), false
	case errors.Is(err, plan.ErrTransfers):
		return j.composed(p, "the rows are read, and inserted as those of VALUES, through the proxy"), false
	case errors.Is(err, plan.ErrPicks):
		return j.composed(p, "a query finds the rows, which are changed by their keys"), false
	case err != nil:
		return failure(err), false
	case r.One != nil:
		return outcome{class: oneShard, reason: keeping(p)}, false
	}
	if r.Finishing != nil {
		return j.finishes(p, &r), false
	}
	var shards []router.Shard
	for k := range r.Queries {
		shards = append(shards, r.Queries[k].Shards...)
	}
	total := len(j.sharded(p).Shards)
	if p.ReadOnly || p.Target == nil {
		o = outcome{class: merged, where: shardsOf(len(shards), total), reason: p.Reason}
		if _, groups := r.Operator.(*plan.Finish); groups {
			o.class = finished
		}
		return o, false
	}
	for _, at := range r.Targets {
		if to := p.Target.Table.Shards[at]; !slices.Contains(shards, to) {
			shards = append(shards, to)
		}
	}
	o = changed(shards)
	o.where = shardsOf(max(len(shards), len(r.Queries)), len(p.Target.Table.Shards)) + o.where
	o.reason = keeping(p)
	if _, moves := r.Operator.(*plan.Move); moves {
		o.reason = "rows may get a sharding key of another shard: those that do move there"
	}
	return o, false
}

// composed is a change that several statements carry out.
func (j *judge) composed(p *plan.Plan, how string) outcome {
	var shards []router.Shard
	for _, r := range p.Changed() {
		shards = append(shards, r.Table.Shards...)
	}
	o := changed(shards)
	o.where = fmt.Sprintf("up to %d shards", len(shards)) + o.where
	o.reason = strings.TrimPrefix(p.Reason+": "+how, ": ")
	return o
}

// keeping says that a change is one of keys over all shards, too.
func keeping(p *plan.Plan) string {
	if len(p.Keeps()) == 0 {
		return ""
	}
	return "entries of the key " + p.Keeps()[0].Name + " follow the rows, in one transaction"
}

// sharded is the table with the most shards.
func (j *judge) sharded(p *plan.Plan) *router.Table {
	t := p.Refs[0].Table
	for _, r := range p.Refs {
		if r.Table.Kind == router.Sharded && (t.Kind != router.Sharded || len(r.Table.Shards) > len(t.Shards)) {
			t = r.Table
		}
	}
	return t
}

// drawn is an INSERT whose ids are drawn from a sequence first.
func (j *judge) drawn(p *plan.Plan) outcome {
	const why = "ids are drawn for its rows first"
	if j.execution.InsertRows() == 1 || len(p.Target.Table.Shards) == 1 {
		return outcome{class: oneShard, reason: why}
	}
	var shards []router.Shard
	for _, r := range p.Changed() {
		shards = append(shards, r.Table.Shards...)
	}
	o := changed(shards)
	o.where = fmt.Sprintf("up to %d shards", len(shards)) + o.where
	o.reason = why
	return o
}

// changed is a change of shards.
func changed(shards []router.Shard) outcome {
	nodes := map[string]bool{}
	for _, s := range shards {
		nodes[s.Node] = true
	}
	if len(nodes) > 1 {
		return outcome{class: changedNodes, where: fmt.Sprintf(" of %d nodes", len(nodes))}
	}
	return outcome{class: changedNode}
}

// shardsOf says how many of a table's shards are asked.
func shardsOf(n, total int) string {
	if n >= total {
		return fmt.Sprintf("all %d shards", total)
	}
	return fmt.Sprintf("some of %d shards", total)
}

// finishes is a statement of which rows are collected.
func (j *judge) finishes(p *plan.Plan, r *plan.Route) outcome {
	o := outcome{class: finished, reason: p.Reason}
	var collects []string
	for _, s := range r.Finishing.Scratch {
		if s.Like != nil || s.Ref == nil {
			continue
		}
		text := s.Ref.Parsed.Label()
		switch {
		case s.Conditions > 0:
			text += fmt.Sprintf(" (%s, the rows that meet %s)", count(len(s.Columns), "column"), count(s.Conditions, "condition"))
		case len(s.Reductions) > 0:
			text += fmt.Sprintf(" (%s, the rows that others meet)", count(len(s.Columns), "column"))
		default:
			text += fmt.Sprintf(" (%s of all rows)", count(len(s.Columns), "column"))
		}
		collects = append(collects, text)
	}
	if len(collects) == 0 {
		o.where = "groups of each shard"
		return o
	}
	o.where = "collects " + strings.Join(collects, ", ")
	return o
}

// count says so many things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
