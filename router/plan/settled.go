package plan

import (
	"slices"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/value"
	"kingshard/router"
)

// settled are the conditions that the shards look at and that no row of a scratch table fails: the final statement is without them, and without the columns and the tables that only they
// name.
type settled struct {
	exprs map[*sqlparse.Expr]bool
	// blocks are those of their subqueries.
	blocks map[*scope]bool
	// gone are the tables of their subqueries.
	gone map[*Ref]bool
	// places are the conditions in the text.
	places []sqlparse.Span
	// values are those that the conditions compare with, and what they have to be: others might have the server warn, once for each row.
	values []settledValue
}

// settledValue is a value that a condition compares with.
type settledValue struct {
	operand operand
	kind    comparedAs
}

// comparedAs is what a value is compared as.
type comparedAs uint8

const (
	asUnknown comparedAs = iota // of a value that is compared otherwise than below
	asNumber
	asText
	asDate
	asCount // a small whole number
	asWords // words that have no error in them for a full-text index
)

// settle finds the conditions of the filters that are settled, nil without any. Those of tables that are not collected are not.
func (b *builder) settle(filters map[*Ref][]filter) *settled {
	s := &settled{exprs: map[*sqlparse.Expr]bool{}, blocks: map[*scope]bool{}, gone: map[*Ref]bool{}}
	depends := !b.p.Mode.MariaDB && b.analyzer.dependsOnGroup(b.p.Statement.Query)
	for _, r := range b.p.Refs {
		if r.Table.Kind != router.Sharded && !r.collected {
			continue
		}
		for _, f := range filters[r] {
			if f.expr == nil || depends && f.expr.Has(sqlparse.Eq, sqlparse.NullSafeEq, sqlparse.In, sqlparse.Not, sqlparse.InQuery, sqlparse.Exists) { // by which MySQL may know that a column is the same in all rows
				continue
			}
			before := len(s.values)
			if !s.silent(f.expr, f.block, b.analyzer) {
				s.values = s.values[:before]
				continue
			}
			s.exprs[f.expr] = true
			for _, q := range queriesIn(f.expr) {
				s.blocks[b.analyzer.scopeOf[q.Select]] = true
			}
			s.places = append(s.places, f.alternatives[0][0])
			for _, beside := range f.beside {
				s.gone[beside] = true
			}
		}
	}
	if len(s.places) == 0 {
		return nil
	}
	return s
}

// silent reports whether a condition of a block never makes a server warn, and notes the values on which that depends.
func (s *settled) silent(e *sqlparse.Expr, block *scope, a *analyzer) bool {
	all := func(list []*sqlparse.Expr, in *scope) bool {
		return !slices.ContainsFunc(list, func(x *sqlparse.Expr) bool { return !s.silent(x, in, a) })
	}
	switch e.Op {
	case sqlparse.And, sqlparse.Or, sqlparse.Not:
		return all(e.Args, block)
	case sqlparse.Eq, sqlparse.NullSafeEq, sqlparse.Ne, sqlparse.Lt, sqlparse.Le, sqlparse.Gt, sqlparse.Ge, sqlparse.Between, sqlparse.In:
		return s.compares(e.Args, block)
	case sqlparse.IsNull:
		return e.Args[0].Op == sqlparse.Column
	case sqlparse.Call:
		if e.Name == sqlparse.MatchBoolean {
			words := e.Args[len(e.Args)-1]
			if block.outer != nil { // a server may never look at it, nor see an error in it
				return s.value(words, asWords)
			}
			return words.Op == sqlparse.Const || words.Op == sqlparse.Param
		}
		return e.Name == "like" && s.kindOf(e.Args[0], block) == asText && s.compares(e.Args, block)
	case sqlparse.Exists, sqlparse.InQuery:
		inner := a.scopeOf[e.Query.Select]
		if inner == nil || e.Op == sqlparse.InQuery && (len(inner.block.Fields) != 1 || !sameKind(s.kindOf(e.Args[0], block), s.kindOf(inner.block.Fields[0].Expr, inner))) {
			return false
		}
		conditions := []*sqlparse.Expr{inner.block.Where, inner.block.Having}
		for _, j := range joinsOn(inner.block.From) {
			conditions = append(conditions, j.On)
		}
		return all(slices.DeleteFunc(conditions, func(x *sqlparse.Expr) bool { return x == nil }), inner)
	}
	return false
}

func sameKind(a, b comparedAs) bool { return a != asUnknown && a == b }

// compares reports whether operands are of one kind, and notes the values among them.
func (s *settled) compares(args []*sqlparse.Expr, block *scope) bool {
	kind := asUnknown
	for _, x := range args {
		if k := s.kindOf(x, block); kind == asUnknown {
			kind = k
		} else if k != asUnknown && k != kind {
			return false
		}
	}
	if kind == asUnknown {
		return false
	}
	for _, x := range args {
		if s.kindOf(x, block) == asUnknown && !s.value(x, kind) {
			return false
		}
	}
	return true
}

// value notes a value that is to be of a kind; it reports false for what is no value, or is one of another kind.
func (s *settled) value(x *sqlparse.Expr, kind comparedAs) bool {
	if x.Op != sqlparse.Const && x.Op != sqlparse.Param {
		return false
	}
	o, ok := operandOf(x)
	if !ok || o.param < 0 {
		return ok && kind.takes(o.value)
	}
	s.values = append(s.values, settledValue{o, kind})
	return true
}

// kindOf returns what an operand is compared as; asUnknown for a bare value, which is compared as what is on the other side, and for what may warn.
func (s *settled) kindOf(x *sqlparse.Expr, block *scope) comparedAs {
	switch {
	case x == nil:
	case x.Op == sqlparse.Column:
		return kindOfColumn(block.definition(x))
	case x.Op == sqlparse.Aggregate && len(x.Args) == 1 && !x.Unlisted:
		switch of := s.kindOf(x.Args[0], block); {
		case x.Name == "count":
			return asNumber
		case x.Name == "min" || x.Name == "max" || x.Name == "sum" && of == asNumber:
			return of
		}
	case x.Op != sqlparse.Call:
	case x.Name == sqlparse.DateLiteral:
		if len(x.Args) == 1 && s.value(x.Args[0], asDate) {
			return asDate
		}
	case (x.Name == "date_add" || x.Name == "date_sub") && len(x.Args) == 3:
		if s.kindOf(x.Args[0], block) == asDate && x.Args[0].Op == sqlparse.Call && s.value(x.Args[1], asCount) {
			return asDate
		}
	case x.Name == "substring" || x.Name == "substr" || x.Name == "left" || x.Name == "right":
		if s.kindOf(x.Args[0], block) == asText && !slices.ContainsFunc(x.Args[1:], func(n *sqlparse.Expr) bool { return !s.value(n, asCount) }) {
			return asText
		}
	}
	return asUnknown
}

// kindOfColumn returns what a column is compared as.
func kindOfColumn(d *mysql.ColumnDefinition41) comparedAs {
	switch {
	case d == nil:
	case PlainNumber(d) || d.Type == mysql.TypeFloat || d.Type == mysql.TypeDouble:
		return asNumber
	case d.Type == mysql.TypeDate || d.Type == mysql.TypeNewDate || d.Type == mysql.TypeDatetime:
		return asDate
	case (d.Type == mysql.TypeVarchar || d.Type == mysql.TypeVarString || d.Type == mysql.TypeString || d.Type == mysql.TypeBlob) && d.Flags&(enumFlag|setFlag) == 0 && d.Charset != 63:
		return asText
	}
	return asUnknown
}

// takes reports whether a value is of the kind.
func (k comparedAs) takes(v value.Value) bool {
	switch v.Kind() {
	case value.Int, value.Uint:
		return k == asNumber || k == asCount && v.Int() >= -1000 && v.Int() <= 1000 && v.Uint() <= 1<<63
	case value.Decimal, value.Float:
		return k == asNumber
	case value.String:
		switch k {
		case asText:
			return true
		case asWords:
			return plainWords(v.Text())
		case asCount:
			return len(v.Text()) > 0 && len(v.Text()) <= 3 && !slices.ContainsFunc([]byte(v.Text()), func(c byte) bool { return c < '0' || c > '9' })
		case asDate:
			t, err := time.Parse(time.DateOnly, v.Text())
			if err != nil {
				t, err = time.Parse(time.DateTime, v.Text())
			}
			return err == nil && t.Year() >= 1000 && t.Year() < 8000
		}
	}
	return false
}

// holds reports whether the values of an execution are such that no condition warns.
func (s *settled) holds(values *values) bool {
	for _, v := range s.values {
		for k := range values.count(v.operand.param) {
			x, ok := values.element(v.operand.param, k)
			if !ok || !v.kind.takes(x) {
				return false
			}
		}
	}
	return true
}

// settlesAll reports whether the values of an execution leave all conditions of a plan settled that may be. Where a value leaves one open, a form's plan settles none, and a plan of the text itself
// all others.
func (p *Plan) settlesAll(values *values) bool {
	f, finishes := p.Operator.(*Finish)
	return !finishes || f.narrowed == nil || f.narrowed.holds(values)
}

// edits are the conditions' places, where the final statement has TRUE.
func (s *settled) edits() (list []edit) {
	for _, span := range s.places {
		list = append(list, edit{span: span, settled: true})
	}
	return list
}
