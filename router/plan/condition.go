package plan

import (
	"errors"
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router/rule"
)

// operand is a value known when the plan runs: a constant, or a parameter by its number.
type operand struct {
	value value.Value
	param int // -1 for a constant
}

// of gives the value in an execution; of a parameter within VALUES that of a row.
func (o *operand) of(v *values, row int) (value.Value, bool) {
	if o.param < 0 {
		return o.value, true
	}
	return v.at(o.param, row)
}

// operandOf takes an expression whose value is known before it runs.
func operandOf(e *sqlparse.Expr) (operand, bool) {
	switch e.Op {
	case sqlparse.Const:
		return operand{value: e.Value, param: -1}, true
	case sqlparse.Param:
		return operand{param: e.Index}, true
	case sqlparse.Call:
		if v, ok := fold(e); ok {
			return operand{value: v, param: -1}, true
		}
	}
	return operand{}, false
}

// fold computes sums, differences and products of small integers.
func fold(e *sqlparse.Expr) (value.Value, bool) {
	const small = 1 << 30
	if e.Op == sqlparse.Const && e.Value.Kind() == value.Int && e.Value.Int() < small && e.Value.Int() > -small {
		return e.Value, true
	}
	if e.Op != sqlparse.Call || len(e.Args) != 2 {
		return value.Value{}, false
	}
	a, ok := fold(e.Args[0])
	b, ok2 := fold(e.Args[1])
	if !ok || !ok2 {
		return value.Value{}, false
	}
	switch e.Name {
	case "plus":
		return value.NewInt(a.Int() + b.Int()), true
	case "minus":
		return value.NewInt(a.Int() - b.Int()), true
	case "mul":
		return value.NewInt(a.Int() * b.Int()), true
	}
	return value.Value{}, false
}

type condOp uint8

const (
	condAll condOp = iota
	condNone
	condAnd
	condOr
	condIn      // the key equals one of values
	condBetween // lo and hi, nil for an open end
)

// cond is a condition on a key column: which values rows that meet it can have there. It is never narrower than the
// statement's condition.
type cond struct {
	op     condOp
	args   []*cond
	values []operand
	lo, hi *bound
	// nullSafe: of <=>, which NULL meets too.
	nullSafe bool
	// row: of a comparison of rows, for which servers look up rounded values in indexes.
	row bool
}

type bound struct {
	operand
	inclusive bool
}

var (
	all  = &cond{op: condAll}
	none = &cond{op: condNone}
)

func and(args ...*cond) *cond { return combined(condAnd, args, all, none) }

func or(args ...*cond) *cond { return combined(condOr, args, none, all) }

// combined leaves out what says nothing, and is what decides alone.
func combined(op condOp, args []*cond, nothing, alone *cond) *cond {
	var kept []*cond
	for _, a := range args {
		switch a.op {
		case alone.op:
			return alone
		case nothing.op:
			continue
		}
		kept = append(kept, a)
	}
	switch len(kept) {
	case 0:
		return nothing
	case 1:
		return kept[0]
	}
	return &cond{op: op, args: kept}
}

// condition tells what e being true (or, with negated, being false) says of a key column. isKey tells the column.
func condition(e *sqlparse.Expr, negated bool, isKey func(*sqlparse.Expr) bool) *cond {
	switch e.Op {
	case sqlparse.And, sqlparse.Or:
		args := make([]*cond, len(e.Args))
		for k, a := range e.Args {
			args[k] = condition(a, negated, isKey)
		}
		if (e.Op == sqlparse.And) != negated {
			return and(args...)
		}
		return or(args...)
	case sqlparse.Not:
		return condition(e.Args[0], !negated, isKey)
	case sqlparse.Const:
		if e.Value.IsNull() || e.Value.Kind() == value.Int && (e.Value.Int() == 0) != negated {
			return none
		}
	case sqlparse.Eq, sqlparse.NullSafeEq, sqlparse.Ne, sqlparse.Lt, sqlparse.Le, sqlparse.Gt, sqlparse.Ge:
		return comparison(e, negated, isKey)
	case sqlparse.In:
		if e.Negated == negated {
			return inList(e, isKey)
		}
	case sqlparse.Between:
		return between(e, e.Negated != negated, isKey)
	}
	return all
}

var mirrored = map[sqlparse.Op]sqlparse.Op{
	sqlparse.Lt: sqlparse.Gt, sqlparse.Le: sqlparse.Ge, sqlparse.Gt: sqlparse.Lt, sqlparse.Ge: sqlparse.Le,
	sqlparse.Eq: sqlparse.Eq, sqlparse.Ne: sqlparse.Ne, sqlparse.NullSafeEq: sqlparse.NullSafeEq,
}

var opposite = map[sqlparse.Op]sqlparse.Op{
	sqlparse.Lt: sqlparse.Ge, sqlparse.Le: sqlparse.Gt, sqlparse.Gt: sqlparse.Le, sqlparse.Ge: sqlparse.Lt,
	sqlparse.Eq: sqlparse.Ne, sqlparse.Ne: sqlparse.Eq, sqlparse.NullSafeEq: sqlparse.Ne,
}

func comparison(e *sqlparse.Expr, negated bool, isKey func(*sqlparse.Expr) bool) *cond {
	op, l, r := e.Op, e.Args[0], e.Args[1]
	if negated {
		op = opposite[op]
	}
	if l.Op == sqlparse.Row && r.Op == sqlparse.Row && len(l.Args) == len(r.Args) && op == sqlparse.Eq {
		parts := make([]*cond, len(l.Args))
		for k := range l.Args {
			parts[k] = comparison(&sqlparse.Expr{Op: sqlparse.Eq, Args: []*sqlparse.Expr{l.Args[k], r.Args[k]}}, false, isKey)
			if parts[k].op == condIn {
				parts[k].row = true
			}
		}
		return and(parts...)
	}
	if a, ok := fold(l); ok {
		if b, ok := fold(r); ok {
			return constant(op, a.Int(), b.Int())
		}
	}
	if !isKey(l) {
		l, r, op = r, l, mirrored[op]
	}
	if !isKey(l) {
		return all
	}
	v, ok := operandOf(r)
	if !ok {
		return all
	}
	switch op {
	case sqlparse.Eq:
		return &cond{op: condIn, values: []operand{v}}
	case sqlparse.NullSafeEq:
		return &cond{op: condIn, values: []operand{v}, nullSafe: true}
	case sqlparse.Lt, sqlparse.Le:
		return &cond{op: condBetween, hi: &bound{v, op == sqlparse.Le}}
	case sqlparse.Gt, sqlparse.Ge:
		return &cond{op: condBetween, lo: &bound{v, op == sqlparse.Ge}}
	}
	return all
}

// constant is a comparison of two numbers.
func constant(op sqlparse.Op, a, b int64) *cond {
	is := false
	switch op {
	case sqlparse.Eq, sqlparse.NullSafeEq:
		is = a == b
	case sqlparse.Ne:
		is = a != b
	case sqlparse.Lt:
		is = a < b
	case sqlparse.Le:
		is = a <= b
	case sqlparse.Gt:
		is = a > b
	case sqlparse.Ge:
		is = a >= b
	}
	if is {
		return all
	}
	return none
}

func inList(e *sqlparse.Expr, isKey func(*sqlparse.Expr) bool) *cond {
	left, at := e.Args[0], -1
	if left.Op == sqlparse.Row {
		for k, a := range left.Args {
			if isKey(a) {
				at = k
				break
			}
		}
		if at < 0 {
			return all
		}
	} else if !isKey(left) {
		return all
	}
	c := &cond{op: condIn, row: at >= 0}
	for _, item := range e.Args[1:] {
		if at >= 0 {
			if item.Op != sqlparse.Row || len(item.Args) <= at {
				return all
			}
			item = item.Args[at]
		}
		v, ok := operandOf(item)
		if !ok {
			return all
		}
		c.values = append(c.values, v)
	}
	return c
}

func between(e *sqlparse.Expr, negated bool, isKey func(*sqlparse.Expr) bool) *cond {
	if !isKey(e.Args[0]) {
		return all
	}
	lo, ok := operandOf(e.Args[1])
	hi, ok2 := operandOf(e.Args[2])
	switch {
	case !ok && !ok2:
		return all
	case negated && (!ok || !ok2):
		return all
	case negated:
		return or(&cond{op: condBetween, hi: &bound{lo, false}}, &cond{op: condBetween, lo: &bound{hi, false}})
	}
	c := &cond{op: condBetween}
	if ok {
		c.lo = &bound{lo, true}
	}
	if ok2 {
		c.hi = &bound{hi, true}
	}
	return c
}

// shards gives the positions of a reference's table at which rows that meet the condition can be.
func (c *cond) shards(r *Ref, e *Execution) rule.Set {
	every := r.all
	switch c.op {
	case condNone:
		return nil
	case condAnd:
		set := every
		for _, a := range c.args {
			set = r.meet(set, a.shards(r, e))
		}
		return set
	case condOr:
		var set rule.Set
		for _, a := range c.args {
			set = set.Union(a.shards(r, e))
		}
		return set
	case condIn:
		return c.in(r, e)
	case condBetween:
		lo, empty, ok := c.lo.of(&e.values)
		hi, empty2, ok2 := c.hi.of(&e.values)
		if !ok || !ok2 {
			return every
		}
		if empty || empty2 {
			return nil
		}
		return r.Table.Between(lo, hi, r.key[0])
	}
	return every
}

// in gives the positions of the values in a list.
func (c *cond) in(r *Ref, e *Execution) rule.Set {
	if len(c.values) == 1 && e.count(c.values[0].param) == 1 {
		v, ok := c.values[0].of(&e.values, 0)
		if c.nullSafe && v.IsNull() {
			return r.all
		}
		return r.only(c.place(r, v, ok))
	}
	e.marks = append(e.marks[:0], make([]bool, len(r.all))...)
	marked := 0
	for _, o := range c.values {
		for k := range e.count(o.param) {
			v, ok := o.value, true
			if o.param >= 0 {
				v, ok = e.element(o.param, k)
			}
			switch position, where := c.place(r, v, ok); {
			case where == everywhere:
				return r.all
			case where == here && !e.marks[position]:
				e.marks[position] = true
				marked++
			}
		}
	}
	if marked == len(r.all) {
		return r.all
	}
	set := make(rule.Set, 0, marked)
	for position, is := range e.marks {
		if is {
			set = append(set, position)
		}
	}
	return set
}

// only is the set of what place found.
func (r *Ref) only(position int, w where) rule.Set {
	switch w {
	case here:
		return r.all[position : position+1]
	case nowhere:
		return nil
	}
	return r.all
}

// of gives a bound's value; empty says that it is NULL, which nothing compares with.
func (b *bound) of(values *values) (out *rule.Bound, empty, ok bool) {
	if b == nil {
		return nil, false, true
	}
	v, ok := b.operand.of(values, 0)
	return &rule.Bound{Value: v, Inclusive: b.inclusive}, v.IsNull(), ok
}

type where uint8

const (
	nowhere where = iota
	here
	everywhere
)

// place finds the shard of a key of one column that the condition asks for. ok says that the value is known.
func (c *cond) place(r *Ref, v value.Value, ok bool) (int, where) {
	switch {
	case !ok:
		return 0, everywhere
	case v.IsNull():
		return 0, nowhere
	case c.row && mayRound(v, r.key[0].Class):
		return 0, everywhere
	}
	key := [1]value.Value{v}
	position, err := r.Table.Seek(key[:], r.key)
	if c.row && errors.Is(err, rule.ErrNoMatch) {
		return 0, everywhere
	}
	return placed(position, err)
}

// mayRound tells whether a server may take another value of a column's type for one that it looks up in an index.
func mayRound(v value.Value, c rule.Class) bool {
	switch c {
	case rule.CharBinary, rule.CharCI, rule.Bytes, rule.Unknown:
		return false
	}
	return v.Kind() != value.Int && v.Kind() != value.Uint && (v.Kind() != value.String || strings.Contains(v.Text(), "."))
}

// placed tells where the outcome of Seek says that rows with the key can be.
func placed(position int, err error) (int, where) {
	switch {
	case errors.Is(err, rule.ErrNoShard):
		return 0, nowhere
	case err != nil:
		return 0, everywhere
	}
	return position, here
}

// Shards gives the positions at which rows of this reference can matter, by the values of the statement's parameters.
func (r *Ref) Shards(args []value.Value) rule.Set {
	return r.shards(&Execution{values: values{bound: args}})
}

func (r *Ref) shards(e *Execution) rule.Set {
	set := r.all
	if len(r.Table.Keys) == 0 || r.Table.Rule == nil {
		return set
	}
	if len(r.from) == 0 {
		return r.narrow(set, r, e)
	}
	for _, f := range r.reach() {
		set = r.narrow(set, f, e)
	}
	return set
}

// narrow takes the conditions of a reference whose key is r's.
func (r *Ref) narrow(set rule.Set, f *Ref, e *Execution) rule.Set {
	for _, c := range f.own {
		set = r.meet(set, c.shards(r, e))
	}
	if e.lookedUp && f == e.plan.lookup.ref && (f == r || r.Table.Colocated(f.Table)) { // a position is one of f's table
		set = r.meet(set, e.found)
	}
	if len(f.tuple) > 1 && len(f.tuple) == len(r.Table.Keys) {
		set = r.meet(set, r.tupleShards(f.tuple, e))
	}
	return set
}

// meet is the intersection, without work where one of the sets is all.
func (r *Ref) meet(a, b rule.Set) rule.Set {
	switch {
	case len(a) == len(r.all):
		return b
	case len(b) == len(r.all):
		return a
	}
	return a.Intersect(b)
}

func (r *Ref) tupleShards(tuple [][]operand, e *Execution) rule.Set {
	if slices.ContainsFunc(tuple, func(values []operand) bool { return len(values) == 0 }) {
		return r.all
	}
	e.tuple = e.tuple[:0]
	for k := range tuple {
		v, ok := tuple[k][0].of(&e.values, 0)
		if !ok {
			return r.all
		}
		if v.IsNull() {
			return nil
		}
		e.tuple = append(e.tuple, v)
	}
	return r.only(placed(r.Table.Seek(e.tuple, r.key)))
}

// reach gives the reference and those whose conditions hold for it.
func (r *Ref) reach() []*Ref {
	seen := []*Ref{r}
	for k := 0; k < len(seen); k++ {
	next:
		for _, f := range seen[k].from {
			for _, s := range seen {
				if s == f {
					continue next
				}
			}
			seen = append(seen, f)
		}
	}
	return seen
}
