package plan

import (
	"fmt"
	"slices"
	"sync/atomic"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/rule"
)

// Catalog gives the columns of a table as a shard describes them, with the columns' own character sets; nil when they
// are not known. Invisible are those that a star does not stand for.
type Catalog func(*router.Table) (columns, invisible []mysql.ColumnDefinition41)

// Plan is how one statement is run.
type Plan struct {
	Statement *sqlparse.Statement
	Mode      sqltext.Mode
	// Refs are the references to tables that have a place: all of the statement's, those without a rule on the default
	// node.
	Refs []*Ref
	// Target is the table that an INSERT, UPDATE, DELETE or DDL is about; nil for queries.
	Target *Ref
	// ReadOnly: a query that takes no locks.
	ReadOnly bool
	// Keeper is a table of the proxy's own, which keeps an index, that the statement may change: only the proxy itself does that. nil: there is none.
	Keeper *Ref
	// Operator is what is done where the statement concerns several shards.
	Operator Operator
	// Reason says why the operator is not a simpler one; of Refused it is what the client hears.
	Reason string

	// keeps are the indexes whose entries the statement may change.
	keeps []*router.Index
	// watches are the tables whose rows it may change, of those that DDL may give indexes.
	watches []*router.Table
	lookup  *Lookup
	// moves is what an UPDATE gives the sharding key; nil where rows keep theirs.
	moves *Move
	// gainsIDs is the table that gets ids which only the servers know: rows that a query finds bring them, or rows of the table get others. nil: none.
	gainsIDs *Ref
	edits    []edit
	// again are those of edits that write common table expressions; unplaced are the names of such whose places in the text are not known.
	again    []edit
	unplaced []string
	// guarded is where an INSERT ... SELECT computes the AUTO_INCREMENT column.
	guarded sqlparse.Span
	router  *router.Router
	// short are the parameters of a form whose literals may have shortChars characters at the most for the plan to serve a text.
	short      []int
	shortChars int
	// texts are the statements for one server that executions of prepared ones send, by position, as they are needed; nil
	// where they are not kept.
	texts []atomic.Pointer[Query]
}

// Ref is one reference to a table.
type Ref struct {
	Table *router.Table
	// Parsed is what the text says. Columns are the table's, nil when they are not known; invisible are those that a star does not stand for.
	Parsed    *sqlparse.Table
	Columns   []mysql.ColumnDefinition41
	invisible []mysql.ColumnDefinition41

	all      rule.Set // every position
	index    int      // in the plan's Refs
	key      []rule.Column
	own      []*cond     // conditions that rows of this reference must meet to matter
	tuple    [][]operand // by key column: values that it must equal
	equals   []equals    // what columns of indexes must equal
	from     []*Ref      // references whose key is equal, so that their conditions hold here too
	nullable bool        // on the side of an outer join that may be missing
	sub      bool        // in a subquery or a derived table
	block    *sqlparse.Select
	// reductions are by what other references the rows that are collected of it can be reduced.
	reductions []Reduction
	// collected: a reference table whose rows are collected with the others, see collectWith.
	collected bool
}

// Guesses tells whether the plan was made without knowing the type of a key column, or the columns of a table whose copies change, so that it is not to
// be kept.
func (p *Plan) Guesses() bool {
	return slices.ContainsFunc(p.Refs, func(r *Ref) bool { return (len(r.Table.Keys) > 0 || r == p.Target && p.copies()) && r.Columns == nil })
}

// refusal is an error that refuses a statement.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// Refuse makes the error of a statement that cannot be planned.
func Refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// IsRefusal tells whether err refuses the statement, rather than saying that it could not be read.
func IsRefusal(err error) bool { _, ok := err.(*refusal); return ok }

// builder makes one plan.
type builder struct {
	p        *Plan
	analyzer *analyzer
	db       string
	catalog  Catalog
}

// Build plans a statement. db is the current database. The plan is nil when the statement touches no table that has a
// rule, so that it goes on as it is.
func Build(st *sqlparse.Statement, m sqltext.Mode, r *router.Router, db string, c Catalog) (*Plan, error) {
	refs, any := references(st, m, r, db, c)
	if !any {
		return nil, nil
	}
	b := &builder{p: &Plan{Statement: st, Mode: m, Refs: refs, Operator: Refused{}, router: r}, analyzer: newAnalyzer(refs), db: db, catalog: c}
	err := b.build()
	if b.p.Keeper = b.p.keeper(); err == nil && b.p.Keeper == nil {
		b.keepIndexes()
		b.p.findLookup()
	}
	switch {
	case b.analyzer.crowded:
		return nil, joinTooMany(m)
	case !b.analyzer.budget.take(0):
		return nil, errTooLarge
	case err != nil:
		return nil, err
	}
	if err := b.p.unquotable(); err != nil {
		return nil, err
	}
	if b.p.edits, err = b.p.tableEdits(); err != nil {
		return nil, err
	}
	b.p.keepTexts()
	return b.p, nil
}

// build plans by the kind of statement.
func (b *builder) build() error {
	for _, r := range b.p.Refs {
		if r.Table.Rule != nil && r.Parsed.At.Empty() {
			// Sent as it is, the logical name would reach a server.
			return Refuse("where the text names the table %s is not clear: write the name in backticks", r.Parsed.Name)
		}
		if b.p.Statement.CTENames[lower(r.Parsed.Name)] && r.Table.Kind == router.Sharded {
			return Refuse("a common table expression has the name of the sharded table %s: give it another name", r.Parsed.Name)
		}
	}
	switch b.p.Statement.Kind {
	case sqlparse.SelectKind:
		return b.selectPlan()
	case sqlparse.InsertKind:
		return b.insertPlan()
	case sqlparse.UpdateKind, sqlparse.DeleteKind:
		return b.changePlan()
	case sqlparse.TruncateKind, sqlparse.DDL, sqlparse.Maintain:
		return b.eachPlan()
	case sqlparse.Describe, sqlparse.Explain:
		b.p.Operator, b.p.ReadOnly = Forward{}, true
		return nil
	case sqlparse.Lock:
		return Refuse("LOCK TABLES of the sharded table %s: use transactions, and dumps that were made with --skip-add-locks", b.p.Refs[0].Parsed.Name)
	case sqlparse.LoadData:
		return b.loadPlan()
	}
	return Refuse("a statement of this kind cannot name the sharded table %s", b.p.ruled().Parsed.Name)
}
