package sqlparse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	tidb "github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	driver "github.com/pingcap/tidb/pkg/parser/test_driver"

	"kingshard/mysql/value"
)

var binaryOps = map[opcode.Op]Op{
	opcode.LogicAnd: And, opcode.LogicOr: Or, opcode.LogicXor: Xor, opcode.EQ: Eq, opcode.NullEQ: NullSafeEq, opcode.NE: Ne,
	opcode.LT: Lt, opcode.LE: Le, opcode.GT: Gt, opcode.GE: Ge,
}

// expr takes an expression; nil for nil.
func (c *converter) expr(n ast.ExprNode) *Expr {
	switch n := n.(type) {
	case nil:
		return nil
	case *ast.ParenthesesExpr:
		return c.expr(n.Expr)
	case *driver.ParamMarkerExpr:
		return &Expr{Op: Param, Index: c.params[n.Offset]}
	case *driver.ValueExpr:
		return constant(n)
	case *ast.ColumnNameExpr:
		c.qualifier(n.Name)
		return &Expr{Op: Column, DB: c.name(n.Name.Schema), Table: c.name(n.Name.Table), Name: c.name(n.Name.Name)}
	case *ast.BinaryOperationExpr:
		op, known := binaryOps[n.Op]
		e := &Expr{Op: op, Args: []*Expr{c.expr(n.L), c.expr(n.R)}}
		if !known {
			e.Op, e.Name = Call, n.Op.String()
		}
		return e
	case *ast.UnaryOperationExpr:
		return c.unary(n)
	case *ast.BetweenExpr:
		return &Expr{Op: Between, Negated: n.Not, Args: []*Expr{c.expr(n.Expr), c.expr(n.Left), c.expr(n.Right)}}
	case *ast.PatternInExpr:
		return c.in(n)
	case *ast.IsNullExpr:
		return &Expr{Op: IsNull, Negated: n.Not, Args: []*Expr{c.expr(n.Expr)}}
	case *ast.PatternLikeOrIlikeExpr:
		return &Expr{Op: Call, Name: "like", Negated: n.Not, Args: c.exprs([]ast.ExprNode{n.Expr, n.Pattern})}
	case *ast.RowExpr:
		return &Expr{Op: Row, Args: c.exprs(n.Values)}
	case *ast.SubqueryExpr:
		return &Expr{Op: Scalar, Query: c.query(n.Query)}
	case *ast.ExistsSubqueryExpr:
		c.asked(n)
		sub := c.expr(n.Sel)
		return &Expr{Op: Exists, Negated: n.Not, Query: sub.Query}
	case *ast.CompareSubqueryExpr:
		e := &Expr{Op: Quantify, Args: []*Expr{c.expr(n.L)}}
		if sub := c.expr(n.R); sub != nil {
			e.Query = sub.Query
		}
		return e
	case *ast.AggregateFuncExpr:
		e := &Expr{Op: Aggregate, Name: strings.ToLower(n.F), Distinct: n.Distinct, Args: c.exprs(n.Args)}
		if n.Order != nil {
			e.Ordered = true
			for _, item := range n.Order.Items {
				e.Args = append(e.Args, c.expr(item.Expr))
			}
		}
		return e
	case *ast.WindowFuncExpr:
		e := &Expr{Op: Window, Name: strings.ToLower(n.Name), Args: c.exprs(n.Args)}
		e.Partition, e.Over = c.window(&n.Spec)
		return e
	case *ast.VariableExpr:
		return &Expr{Op: Variable, Name: n.Name, System: n.IsSystem, Args: c.exprs([]ast.ExprNode{n.Value})}
	case *ast.PositionExpr:
		if n.P != nil {
			return c.expr(n.P)
		}
		return &Expr{Op: Position, Index: n.N}
	case *ast.DefaultExpr:
		e := &Expr{Op: Default}
		if n.Name != nil {
			c.qualifier(n.Name)
			e.Name = c.name(n.Name.Name)
		}
		return e
	case *ast.MatchAgainst:
		return c.match(n)
	case *ast.ValuesExpr:
		e := &Expr{Op: Values}
		if n.Column != nil {
			c.qualifier(n.Column.Name)
			e.Name = c.name(n.Column.Name.Name)
		}
		return e
	case *ast.FuncCallExpr:
		return c.call(n)
	}
	return c.other(n)
}

// The names of MATCH (columns) AGAINST (words), a Call whose arguments are the columns and the words behind them.
const (
	Match         = "match against"                      // in natural language mode
	MatchBoolean  = "match against in boolean mode"      // whether a row has the words depends on no other row
	MatchExpanded = "match against with query expansion" // the words are added to by what rows have
)

func (c *converter) match(n *ast.MatchAgainst) *Expr {
	c.st.Matches++
	e := &Expr{Op: Call, Name: Match}
	switch {
	case n.Modifier.WithQueryExpansion():
		e.Name = MatchExpanded
	case n.Modifier.IsBooleanMode():
		e.Name = MatchBoolean
	}
	for _, name := range n.ColumnNames {
		c.qualifier(name)
		e.Args = append(e.Args, &Expr{Op: Column, DB: c.name(name.Schema), Table: c.name(name.Table), Name: c.name(name.Name)})
	}
	e.Args = append(e.Args, c.expr(n.Against))
	return e
}

// asked notes the star of EXISTS (SELECT * ...), which asks for rows and for no column of theirs.
func (c *converter) asked(n *ast.ExistsSubqueryExpr) {
	sub, _ := n.Sel.(*ast.SubqueryExpr)
	if sub == nil {
		return
	}
	if s, ok := sub.Query.(*ast.SelectStmt); ok && s.From != nil && !s.Distinct && s.GroupBy == nil && s.Having == nil && s.OrderBy == nil && s.Fields != nil {
		for _, f := range s.Fields.Fields {
			if f.WildCard != nil {
				c.unread = append(c.unread, f.WildCard)
			}
		}
	}
}

func (c *converter) exprs(list []ast.ExprNode) []*Expr {
	var out []*Expr
	for _, n := range list {
		if e := c.expr(n); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// other takes an expression of which only the operands matter.
func (c *converter) other(n ast.ExprNode) *Expr {
	e := &Expr{Op: Call}
	if n, ok := n.(*ast.FuncCastExpr); ok {
		e.Name = "cast"
		e.Args = c.exprs([]ast.ExprNode{n.Expr})
		return e
	}
	n.Accept(visitor(func(child ast.Node) bool {
		if child == ast.Node(n) {
			return true
		}
		switch child := child.(type) {
		case ast.ExprNode:
			if x := c.expr(child); x != nil {
				e.Args = append(e.Args, x)
			}
			return false
		case ast.ResultSetNode:
			e.Args = append(e.Args, &Expr{Op: Scalar, Query: c.query(child)})
			return false
		}
		return true
	}))
	return e
}

func (c *converter) unary(n *ast.UnaryOperationExpr) *Expr {
	x := c.expr(n.V)
	switch n.Op {
	case opcode.Not, opcode.Not2:
		return &Expr{Op: Not, Args: []*Expr{x}}
	case opcode.Plus:
		return x
	case opcode.Minus:
		if x.Op == Const {
			if v, ok := negate(x.Value); ok {
				return &Expr{Op: Const, Value: v}
			}
		}
		return &Expr{Op: Call, Name: "neg", Args: []*Expr{x}}
	}
	return &Expr{Op: Call, Name: n.Op.String(), Args: []*Expr{x}}
}

// negate gives -v of a number literal.
func negate(v value.Value) (value.Value, bool) {
	switch v.Kind() {
	case value.Int:
		return value.NewInt(-v.Int()), true
	case value.Uint:
		if v.Uint() == 1<<63 {
			return value.NewInt(-1 << 63), true
		}
	case value.Decimal:
		return value.NewDecimal("-" + v.Text()), true
	case value.Float:
		return value.NewFloat(-v.Float()), true
	}
	return value.Value{}, false
}

func (c *converter) in(n *ast.PatternInExpr) *Expr {
	e := &Expr{Op: In, Negated: n.Not, Args: []*Expr{c.expr(n.Expr)}}
	if n.Sel != nil {
		sub := c.expr(n.Sel)
		e.Op, e.Query = InQuery, sub.Query
		return e
	}
	e.Args = append(e.Args, c.exprs(n.List)...)
	return e
}

// window takes a window, and gives the expressions of PARTITION BY by themselves.
func (c *converter) window(w *ast.WindowSpec) (partition []*Expr, over *Over) {
	if w.PartitionBy != nil {
		for _, item := range w.PartitionBy.Items {
			partition = append(partition, c.expr(item.Expr))
		}
	}
	return partition, &Over{Order: c.order(w.OrderBy), Rows: w.Frame != nil && w.Frame.Type == ast.Rows, Named: w.OnlyAlias || w.Name.O != "" || w.Ref.O != ""}
}

// constant takes a literal.
func constant(n *driver.ValueExpr) *Expr {
	e := &Expr{Op: Const}
	switch n.Kind() {
	case driver.KindNull:
	case driver.KindInt64:
		e.Value = value.NewInt(n.GetInt64())
	case driver.KindUint64:
		e.Value = value.NewUint(n.GetUint64())
	case driver.KindFloat32, driver.KindFloat64:
		e.Value = value.NewFloat(n.GetFloat64())
	case driver.KindMysqlDecimal:
		e.Value = value.NewDecimal(n.GetMysqlDecimal().String())
	case driver.KindString:
		e.Value = value.NewString(n.GetString())
		if cs := n.Type.GetCharset(); cs != "" && cs != tidb.DefaultCharset && cs != "utf8" {
			return &Expr{Op: Call, Name: "introducer"} // a string in a character set of its own
		}
	case driver.KindBytes, driver.KindBinaryLiteral:
		e.Value = value.NewBytes(string(n.GetBytes()))
	default:
		return &Expr{Op: Call}
	}
	return e
}
