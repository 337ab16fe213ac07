package plan

import (
	"slices"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// A change of a reference table runs on each node, on that node's copy, and must make the same of all of them.

// copies reports whether the statement changes a table that several nodes have whole.
func (p *Plan) copies() bool {
	return p.Target != nil && p.Target.Table.Kind == router.Reference && len(p.Target.Table.Shards) > 1
}

// Copies reports whether the statement changes rows of a table that several nodes have whole.
func (p *Plan) Copies() bool {
	return p.copies() && (p.Statement.Insert != nil || p.Statement.Change != nil || p.Statement.Load != nil)
}

// ReadsBeside reports whether more than the values of the statement, and each row by itself, decide which rows of the copies change, or how: rows of other
// tables, or which ones come first.
func (p *Plan) ReadsBeside() bool {
	ch := p.Statement.Change
	return len(p.Refs) > 1 || p.Statement.Query != nil || ch != nil && ch.Limit != nil
}

// ownOfServer are functions, beside varying, whose value is a server's own, or hangs on the order in which it finds rows.
var ownOfServer = map[string]bool{
	"version": true, "ps_thread_id": true, "ps_current_thread_id": true, "icu_version": true, "binlog_gtid_pos": true, "master_gtid_wait": true,
	"group_concat": true, "json_arrayagg": true, "json_objectagg": true, "any_value": true, "st_collect": true, "row_number": true, "ntile": true, "first_value": true,
	"last_value": true, "nth_value": true, "lag": true, "lead": true, "rownum": true, "current_role": true,
}

// unlike returns what in an expression is not the same on every server; "" if there is nothing of the kind.
func unlike(e *sqlparse.Expr) (name string) {
	e.Walk(func(x *sqlparse.Expr) bool {
		switch {
		case x.Op == sqlparse.Variable && x.System:
			name = "a system variable"
		case x.Name != "" && x.Op != sqlparse.Column && x.Op != sqlparse.Variable && (varying[x.Name] || ownOfServer[x.Name]):
			name = x.Name
		}
		return name == ""
	})
	return name
}

// differs returns why the servers might make different things of a change of a table that several of them have whole; "" if they cannot.
func (b *builder) differs() string {
	p := b.p
	if !p.copies() {
		return ""
	}
	const change = "a change of a table on every node by "
	st, r := p.Statement, &p.Statement.Reaches
	for _, name := range r.Functions {
		if varying[name] || ownOfServer[name] {
			return change + name + ", which is not the same on each"
		}
	}
	switch {
	case r.SystemVariables:
		return change + "a system variable, which need not be the same on each"
	case r.Assigns, r.UserVariables && (st.Insert != nil || len(st.Change.Set) > 0):
		return change + "a user variable: give the value"
	}
	for _, t := range st.Tables {
		db := t.DB
		if db == "" {
			db = b.db
		}
		if b.analyzer.byTable[t] == nil && builtin(db) && !st.CTENames[lower(t.Name)] && lower(t.Name) != "dual" {
			return change + t.Name + ", which is each server's own"
		}
	}
	return b.unordered()
}

// unordered returns why rows that one server finds first need not be those of another.
func (b *builder) unordered() string {
	st := b.p.Statement
	const orderedBy = ", which may be other rows on each: ORDER BY its primary key"
	if ch := st.Change; ch != nil {
		switch {
		case st.Reaches.Limits > 0:
			return "a change of a table on every node by a query with LIMIT" + orderedBy[:len(orderedBy)-len(": ORDER BY its primary key")]
		case ch.Limit == nil && !(ch.Ignore && len(ch.Set) > 0), !ch.Multi && ordered(b.p.Target, ch.Order):
			return ""
		case ch.Limit != nil:
			return "UPDATE or DELETE with LIMIT of a table on every node" + orderedBy
		}
		return "UPDATE IGNORE of a table on every node, of whose rows other ones may be left out on each: ORDER BY its primary key"
	}
	in, q := st.Insert, st.Query
	if q == nil {
		if st.Reaches.Limits > 0 {
			return "a change of a table on every node by a query with LIMIT, which may be other rows on each"
		}
		return ""
	}
	first := in.Ignore || in.Replace || len(in.OnUpdate) > 0
	if !first && st.Reaches.Limits == 0 {
		return ""
	}
	limits := 0
	if q.Limit != nil {
		limits = 1
	}
	if s := q.Select; s != nil && s.From != nil && s.From.Table != nil && len(s.Group) == 0 && !s.Distinct && st.Reaches.Limits == limits {
		if r := b.analyzer.byTable[s.From.Table]; r != nil && ordered(r, q.Order) {
			return ""
		}
	}
	if first {
		return "INSERT ... SELECT with IGNORE or ON DUPLICATE KEY UPDATE, or REPLACE ... SELECT, into a table on every node, of which other rows may be left out on each: SELECT from one table, ORDER BY its primary key"
	}
	return "INSERT ... SELECT with LIMIT into a table on every node" + orderedBy
}

// ordered reports whether the items order rows of r in one way only: among them are the columns of its primary key.
func ordered(r *Ref, items []sqlparse.OrderItem) bool {
	keys := 0
	for _, d := range r.columns() {
		if d.Flags&primaryKeyFlag == 0 {
			continue
		}
		keys++
		if !slices.ContainsFunc(items, func(o sqlparse.OrderItem) bool {
			e := o.Expr
			return e.Op == sqlparse.Column && router.SameColumn(e.Name, d.Name) && (e.Table == "" || lower(e.Table) == lower(r.Parsed.Label()))
		}) {
			return false
		}
	}
	return keys > 0
}

// insertCopies plans INSERT of values: the rows that leave an AUTO_INCREMENT column to the table get their ids from its sequence, as servers that count by
// themselves need not have come equally far.
func (b *builder) insertCopies(in *sqlparse.Insert) error {
	b.p.Operator = Change{}
	if !slices.ContainsFunc(b.p.Target.columns(), isAuto) {
		return nil
	}
	shape, err := insertRows(b.p.Target, in, b.p.Statement.Text, b.p.Mode)
	if err != nil {
		return err
	}
	shape.copies = true
	b.p.Operator = shape
	return nil
}

// selectCopies plans INSERT ... SELECT.
func (b *builder) selectCopies(in *sqlparse.Insert) error {
	p := b.p
	for _, r := range p.Refs {
		if r.Table.Kind != router.Reference {
			p.Reason = "INSERT ... SELECT of rows that are not on every node into a table that is"
			return nil
		}
	}
	p.Operator, p.Reason = Change{}, ""
	if !slices.ContainsFunc(p.Target.columns(), isAuto) {
		return nil
	}
	columns, err := columnsOf(p.Target, in)
	if err != nil {
		return err
	}
	s := p.Statement.Query.Select
	if s == nil || slices.ContainsFunc(s.Fields, func(f sqlparse.Field) bool { return f.Expr == nil }) {
		return Refuse("INSERT ... SELECT of * or with a set operation into the table %s, which is on every node and has an AUTO_INCREMENT column: name the columns", in.Table.Name)
	}
	auto, err := autoIncrementOf(p.Target, columns, [][]*sqlparse.Expr{fieldExprs(s)}, p.Mode)
	switch {
	case err != nil:
		return err
	case auto.cell < 0 || auto.mayLeave(0):
		return Refuse("INSERT ... SELECT that leaves the AUTO_INCREMENT column %s to the table %s, which is on every node: give the ids", auto.column, in.Table.Name)
	}
	p.gainsIDs = p.Target
	return p.guardSelected(in, auto)
}

func isAuto(d mysql.ColumnDefinition41) bool { return d.Flags&autoIncrementFlag != 0 }
