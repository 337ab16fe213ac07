package plan

import (
	"errors"
	"slices"
	"strconv"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// Load sends the lines of the file of a LOAD DATA to their shards. It says which fields of a line it looks at.
type Load struct {
	// Fields is the number of fields that the statement reads of a line.
	Fields int
	// Keys are the fields of the key columns, in order; none for a table that is whole on every node. -1 is the AUTO_INCREMENT column, where it
	// is left out.
	Keys []int
	// Auto is the field of the AUTO_INCREMENT column, -1 without one.
	Auto int
	// Leaves says that the statement leaves the AUTO_INCREMENT column out: that is then the first column of the shards' statements, and each line
	// has its id ahead of its fields.
	Leaves bool
	// Variables are the user variables that fields go to: a file leaves the last line's values in them.
	Variables []LoadVariable

	auto string // name of the AUTO_INCREMENT column
	// utf8 and foreign are the key columns for files in UTF-8 and in other character sets.
	utf8, foreign []rule.Column
}

// LoadVariable is a field that goes to a user variable.
type LoadVariable struct {
	Field int
	Name  string
}

// loadPlan plans LOAD DATA.
func (b *builder) loadPlan() error {
	p, l := b.p, b.p.Statement.Load
	t := b.analyzer.byTable[l.Table]
	p.Target = t
	if t.Table.Kind == router.Single || t.Table.Kind == router.Sharded && len(t.Table.Shards) == 1 {
		p.Operator, p.Reason = Refused{}, "LOAD DATA into a table of several servers"
		return nil
	}
	if !l.Local {
		return Refuse("LOAD DATA into the sharded table %s reads a file of one server, and rows of it belong to others: use LOAD DATA LOCAL", l.Table.Name)
	}
	shape, err := loadShape(t, l)
	if err != nil {
		return err
	}
	p.Operator = shape
	return nil
}

// loadShape makes the shape of a LOAD DATA into a table of several servers.
func loadShape(t *Ref, l *sqlparse.Load) (*Load, error) {
	shape := &Load{Auto: -1}
	fields, err := fieldsOf(t, l)
	if err != nil {
		return nil, err
	}
	shape.takeFields(fields)
	if err := checkSet(t, l); err != nil {
		return nil, err
	}
	if err := shape.takeAuto(t, l, fields); err != nil {
		return nil, err
	}
	return shape, shape.takeKeys(t, l, fields)
}

// fieldsOf returns where the fields of a line go: as the statement lists it, or else to the columns of the table in their order.
func fieldsOf(t *Ref, l *sqlparse.Load) ([]sqlparse.LoadField, error) {
	fields := l.Fields
	if fields == nil {
		if t.Columns == nil {
			return nil, Refuse("LOAD DATA into the sharded table %s, whose columns are not known", l.Table.Name)
		}
		for _, d := range t.Columns {
			fields = append(fields, sqlparse.LoadField{Name: d.Name})
		}
	}
	if len(fields) == 0 {
		return nil, Refuse("LOAD DATA of no columns into the sharded table %s", l.Table.Name)
	}
	return fields, nil
}

// takeFields counts the fields and finds those that go to variables.
func (shape *Load) takeFields(fields []sqlparse.LoadField) {
	shape.Fields = len(fields)
	for k, f := range fields {
		if f.Variable {
			shape.Variables = append(shape.Variables, LoadVariable{k, f.Name})
		}
	}
}

// checkSet refuses values that a shard computes in another way than one server.
func checkSet(t *Ref, l *sqlparse.Load) error {
	for _, a := range l.Set {
		if t.keyOf(a.Column) >= 0 {
			return Refuse("the sharding key %s of %s must come from a field of the file as it is, not from SET", a.Column, l.Table.Name)
		}
		switch {
		case a.Expr.Has(sqlparse.Scalar, sqlparse.Exists, sqlparse.InQuery, sqlparse.Quantify):
			return Refuse("LOAD DATA into the sharded table %s with a subquery in SET", l.Table.Name)
		case assigns(a.Expr):
			return Refuse("LOAD DATA into the sharded table %s with a variable that goes from line to line", l.Table.Name)
		case t.Table.Kind == router.Reference:
			if name := unlike(a.Expr); name != "" {
				return Refuse("a change of a table on every node by %s, which is not the same on each", name)
			}
		}
	}
	return nil
}

// assigns tells whether an expression gives a user variable a value.
func assigns(e *sqlparse.Expr) bool {
	return !e.All(func(x *sqlparse.Expr) bool { return x.Op != sqlparse.Variable || len(x.Args) == 0 })
}

// fieldOf returns the number of the field that goes to a column, -1 without one.
func fieldOf(fields []sqlparse.LoadField, column string) int {
	return slices.IndexFunc(fields, func(f sqlparse.LoadField) bool { return !f.Variable && router.SameColumn(f.Name, column) })
}

// takeAuto finds the field of the AUTO_INCREMENT column.
func (shape *Load) takeAuto(t *Ref, l *sqlparse.Load, fields []sqlparse.LoadField) error {
	for _, d := range t.columns() {
		if d.Flags&autoIncrementFlag == 0 {
			continue
		}
		if slices.ContainsFunc(l.Set, func(a sqlparse.Assignment) bool { return router.SameColumn(a.Column, d.Name) }) {
			return Refuse("LOAD DATA into the sharded table %s must give the AUTO_INCREMENT column %s by a field, or leave it out, not by SET", l.Table.Name, d.Name)
		}
		shape.Auto, shape.auto = fieldOf(fields, d.Name), d.Name
		shape.Leaves = shape.Auto < 0
		if shape.Leaves && l.Fields == nil {
			return Refuse("LOAD DATA that leaves the invisible AUTO_INCREMENT column %s out must list its columns", d.Name)
		}
		if shape.Leaves && l.FieldsTerminated == "" {
			return Refuse("LOAD DATA that leaves the AUTO_INCREMENT column %s out needs FIELDS TERMINATED BY", d.Name)
		}
	}
	return nil
}

// takeKeys finds the fields of the key.
func (shape *Load) takeKeys(t *Ref, l *sqlparse.Load, fields []sqlparse.LoadField) error {
	for _, key := range t.Table.Keys {
		k := fieldOf(fields, key)
		if k < 0 && !(shape.Leaves && router.SameColumn(shape.auto, key)) {
			return Refuse("LOAD DATA must give the sharding key: column %s of %s is not among the fields of the file", key, l.Table.Name)
		}
		if t.column(key) == nil {
			return Refuse("LOAD DATA into the sharded table %s, whose columns are not known", l.Table.Name)
		}
		shape.Keys = append(shape.Keys, k)
	}
	for _, c := range t.key {
		c.Foreign = false
		shape.utf8 = append(shape.utf8, c)
		c.Foreign = true
		shape.foreign = append(shape.foreign, c)
	}
	return nil
}

func needsAuto(column, table string) error {
	return Refuse("AUTO_INCREMENT column %s of the sharded table %s needs a value: each sub-table would count for itself", column, table)
}

// noID refuses a value for an AUTO_INCREMENT column that a server would make a number of, or an error.
func noID(column, table string) error {
	return Refuse("AUTO_INCREMENT column %s of the sharded table %s must be given a whole number, or be left to the table", column, table)
}

// LoadID gives the id that a line's field of the AUTO_INCREMENT column has; draws says that it leaves the id to the table. A 0 does so unless
// zeroStays. Errors are refusals.
func (p *Plan) LoadID(field value.Value, zeroStays bool) (id uint64, draws bool, err error) {
	if field.IsNull() {
		return 0, true, nil
	}
	id, err = strconv.ParseUint(field.Text(), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // one that is too large is the largest
		return 0, false, noID(p.Operator.(*Load).auto, p.Target.Parsed.Name)
	}
	return id, id == 0 && !zeroStays, nil
}

// LoadShard gives the position of the shard of a line of a Load, by its key as the file has it. utf8 tells whether the file is in UTF-8. Errors are
// refusals.
func (p *Plan) LoadShard(key []value.Value, utf8 bool) (position int, err error) {
	t, l := p.Target, p.Operator.(*Load)
	columns := l.foreign
	if utf8 {
		columns = l.utf8
	}
	position, err = t.Table.Place(key, columns)
	if errors.Is(err, rule.ErrNoShard) || errors.Is(err, rule.ErrConvert) {
		return 0, Refuse("%s: %v", t.Parsed.Name, err)
	}
	return position, err
}

// loads are the shards that the lines go to, with the statement of each.
func (e *Execution) loads() Route {
	t := e.plan.Target.Table
	r := Route{Operator: e.plan.Operator, Positions: rule.All(len(t.Shards))}
	for _, at := range r.Positions {
		e.stand(at)
		r.Queries = append(r.Queries, *e.whole(t.Shards[at].Node))
	}
	return r
}
