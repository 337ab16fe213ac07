package sqlparse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"kingshard/mysql/sqltext"
)

// DateLiteral is the name of DATE '2026-01-01' as a call.
const DateLiteral = ast.DateLiteral

// parserNames are functions by names that the parser makes up for other spellings.
var parserNames = map[string]bool{
	ast.DateLiteral: true, ast.TimeLiteral: true, ast.TimestampLiteral: true, ast.CharFunc: true, ast.InsertFunc: true, ast.JSONMemberOf: true,
}

// operatorNames are the names that trees have for operators: a function called so is another.
var operatorNames = map[string]bool{
	"plus": true, "minus": true, "mul": true, "div": true, "intdiv": true, "neg": true, "cast": true, "introducer": true, "bitand": true,
	"bitor": true, "bitxor": true, "leftshift": true, "rightshift": true, "bitneg": true,
}

// collective are functions of the servers that the parser takes for functions of one row: their value is of several.
var collective = map[string]bool{
	"st_collect": true, "median": true, "percentile_cont": true, "percentile_disc": true, "rownum": true, "grouping": true,
}

// call takes the call of a function. One that the servers' manuals do not list is a loadable or a stored function, which may be
// an aggregate: nothing in the text tells, so that it is taken for one.
func (c *converter) call(n *ast.FuncCallExpr) *Expr {
	e := &Expr{Op: Call, Name: strings.ToLower(c.text(n.FnName.O)), Args: c.exprs(n.Args)}
	switch {
	case n.Schema.O != "", operatorNames[e.Name]:
		e.Op, e.Name, e.Unlisted = Aggregate, "function "+e.Name, true
	case collective[e.Name]:
		e.Op = Aggregate
	case !parserNames[e.Name] && !sqltext.ListedFunction(e.Name, c.mariaDB):
		e.Op, e.Unlisted = Aggregate, true
	}
	return e
}
