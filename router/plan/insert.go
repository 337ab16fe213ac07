package plan

import (
	"cmp"
	"slices"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// Insert sends the rows of an INSERT to their shards. It says where they are in the text and which value of each is the key.
type Insert struct {
	rows []sqlparse.RowSpan // none for the SET form and INSERT ... SELECT
	keys [][]operand        // by row; nil where they are ids that are still to be drawn
	// count is how many rows the text has; one of a form may stand for more.
	count int
	// auto is nil of a table that has no AUTO_INCREMENT column, or one shard.
	auto *autoIncrement
	// copies says that all rows go to all shards.
	copies bool
}

// insertPlan plans INSERT and REPLACE.
func (b *builder) insertPlan() error {
	p, in := b.p, b.p.Statement.Insert
	p.Target = b.analyzer.byTable[in.Table]
	if p.Target == nil {
		return Refuse("INSERT into %s together with sharded tables", in.Table.Name)
	}
	for _, row := range in.Rows {
		for _, e := range row {
			b.analyzer.expr(e, &blockInfo{scope: &scope{}})
		}
	}
	if len(in.OnUpdate) > 0 {
		if err := keyStays(p.Target); err != nil {
			return err
		}
	}
	if err := keyKept(p.Target, in.OnUpdate, p.Statement.Query == nil); err != nil {
		return err
	}
	p.givesIDs(p.Target, in.OnUpdate)
	for _, a := range in.OnUpdate {
		b.analyzer.expr(a.Expr, &blockInfo{scope: &scope{}})
	}
	why := b.differs()
	if p.Statement.Query != nil {
		return b.insertQuery(in, cmp.Or(why, b.assigned()))
	}
	if why != "" {
		p.Operator, p.Reason = Refused{}, why
		return nil
	}
	p.Operator = Refused{}
	switch kind := p.Target.Table.Kind; {
	case kind == router.Single:
		p.Reason = "INSERT of values that come from several nodes"
		return nil
	case len(b.analyzer.subs) > 0:
		p.Reason = "INSERT of values that come from sharded tables"
		return nil
	case kind == router.Reference:
		return b.insertCopies(in)
	}
	shape, err := insertRows(p.Target, in, p.Statement.Text, p.Mode)
	if err != nil {
		return err
	}
	p.Operator = shape
	return nil
}

// columnsOf gives the columns that an INSERT fills.
func columnsOf(t *Ref, in *sqlparse.Insert) ([]string, error) {
	if in.Columns != nil {
		return in.Columns, nil
	}
	if t.Columns == nil {
		return nil, Refuse("INSERT without a list of columns into the sharded table %s, whose columns are not known: give the list", in.Table.Name)
	}
	if !slices.ContainsFunc(in.Rows, func(row []*sqlparse.Expr) bool { return len(row) > 0 }) && len(in.Rows) > 0 {
		return nil, nil // VALUES ()
	}
	var names []string
	for _, d := range t.Columns {
		names = append(names, d.Name)
	}
	return names, nil
}

// insertRows finds the rows of an INSERT into a sharded table and their keys.
func insertRows(t *Ref, in *sqlparse.Insert, text string, m sqltext.Mode) (*Insert, error) {
	columns, err := columnsOf(t, in)
	if err != nil {
		return nil, err
	}
	shape := &Insert{count: len(in.Rows)}
	if shape.auto, err = autoIncrementOf(t, columns, in.Rows, m); err != nil {
		return nil, err
	}
	if !in.SetForm {
		rows, ok := sqlparse.ValuesRows(text, m)
		if !ok || len(rows) != len(in.Rows) {
			return nil, Refuse("this form of INSERT cannot be split over the shards of %s", in.Table.Name)
		}
		shape.rows = rows
	}
	for k, row := range in.Rows {
		if len(row) != len(columns) {
			return nil, Refuse("Column count doesn't match value count at row %d", k+1)
		}
	}
	if a := shape.auto; a != nil {
		if err := a.findPlaces(t, in, text, m); err != nil {
			return nil, err
		}
		if a.cell < 0 && slices.ContainsFunc(t.Table.Keys, func(key string) bool { return router.SameColumn(key, a.column) }) {
			return shape, nil
		}
	}
	at, err := keyPositions(t, columns)
	if err != nil {
		return nil, err
	}
	for k, row := range in.Rows {
		key := make([]operand, len(at))
		for i, column := range at {
			v, ok := operandOf(row[column])
			if a := shape.auto; a != nil && a.cell == column {
				v, ok = a.values[k], a.values[k].param != notKnown
			}
			if !ok {
				return nil, Refuse("the sharding key %s of %s must be a literal or a parameter in row %d: insert is too complex", t.Table.Keys[i], in.Table.Name, k+1)
			}
			key[i] = v
		}
		shape.keys = append(shape.keys, key)
	}
	return shape, nil
}

// keyPositions finds the key columns among the columns of an INSERT.
func keyPositions(t *Ref, columns []string) ([]int, error) {
	var at []int
	for _, key := range t.Table.Keys {
		found := lastColumn(columns, key)
		if found < 0 {
			return nil, Refuse("insert or replace not contain sharding key: give a value for column %s of %s", key, t.Parsed.Name)
		}
		at = append(at, found)
	}
	return at, nil
}

// lastColumn returns the number of the last of columns that has a name, -1 without one.
func lastColumn(columns []string, name string) int {
	for k, c := range slices.Backward(columns) {
		if router.SameColumn(c, name) {
			return k
		}
	}
	return -1
}

// insertQuery plans INSERT ... SELECT. why tells why copies of a table would not get the same rows of the statement as it is.
func (b *builder) insertQuery(in *sqlparse.Insert, why string) error {
	p := b.p
	info := b.analyzer.query(p.Statement.Query, nil)
	b.analyzer.subqueries()
	var err error
	if p.Operator, p.Reason = (Refused{}), why; why == "" {
		err = b.insertSelect(in, info)
	}
	_, refused := p.Operator.(Refused)
	follow := len(p.Target.Table.Indexes) > 0 // by the rows, which only the proxy has that reads them
	if err == nil && !refused && !follow || err != nil && !IsRefusal(err) {
		return err
	}
	if t := b.transferPlan(in); t != nil {
		if err != nil {
			p.Reason = err.Error()
		} else if follow && !refused {
			p.Reason = p.Target.Parsed.Name + " has keys over all shards"
		}
		p.Operator, p.gainsIDs, p.guarded, p.Target.from = t, nil, sqlparse.Span{}, nil
		return nil
	}
	return err
}

// insertSelect plans INSERT ... SELECT on the shard that the rows come from, where their key goes along.
func (b *builder) insertSelect(in *sqlparse.Insert, info *blockInfo) error {
	p, q := b.p, b.p.Statement.Query
	p.Operator, p.Reason = Refused{}, "INSERT ... SELECT whose rows may belong to other shards"
	if p.copies() {
		return b.selectCopies(in)
	}
	if p.Target.Table.Kind != router.Sharded {
		return nil
	}
	// Even one shard to read from says nothing of the shard to write to.
	var elsewhere error
	if len(p.Target.Table.Shards) > 1 {
		elsewhere = Refuse("%s", p.Reason)
	}
	if b.analyzer.apart != "" || q.Select == nil || q.Limit != nil || len(info.refs) == 0 {
		return elsewhere
	}
	columns, err := columnsOf(p.Target, in)
	if err != nil {
		return err
	}
	at, err := keyPositions(p.Target, columns)
	if err != nil {
		return err
	}
	s := q.Select
	for k, column := range at {
		if column >= len(s.Fields) {
			return elsewhere
		}
		for _, f := range s.Fields[:column+1] {
			if f.Expr == nil {
				return elsewhere
			}
		}
		from, sc := info.scope.key(s.Fields[column].Expr)
		if from.ref == nil || sc != info.scope || from.k != k || from.ref.nullable || !from.ref.Table.Colocated(p.Target.Table) || !from.ref.key[k].Joins(p.Target.key[k]) {
			return elsewhere
		}
		p.Target.from = append(p.Target.from, from.ref)
	}
	grouped := len(s.Group) > 0 || s.Distinct || fieldsHave(s, sqlparse.Aggregate)
	if s.Windows || s.Rollup || fieldsHave(s, sqlparse.Window) || grouped && !info.scope.byKey(s) {
		return elsewhere
	}
	auto, err := autoIncrementOf(p.Target, columns, [][]*sqlparse.Expr{fieldExprs(s)}, p.Mode)
	if err != nil {
		return err
	}
	if auto != nil && (auto.cell < 0 || auto.mayLeave(0)) {
		o, err := b.insertSelectIDs(in, auto)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(p.Refs, func(r *Ref) bool { return r.Table.Kind == router.Single }) {
			return needsAuto(auto.column, in.Table.Name)
		}
		p.Operator, p.Reason = o, ""
	} else {
		if auto != nil {
			p.gainsIDs = p.Target
			if err := p.guardSelected(in, auto); err != nil {
				return err
			}
		}
		p.Operator, p.Reason = Change{}, ""
	}
	for _, r := range p.Refs {
		if r.Table.Kind == router.Single {
			p.Operator, p.Reason = Refused{}, "the table "+r.Parsed.Name+" is on one node"
		}
	}
	return nil
}
