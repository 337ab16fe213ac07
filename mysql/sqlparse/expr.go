package sqlparse

import (
	"slices"

	"kingshard/mysql/value"
)

// Op is what an expression does.
type Op uint8

// The operations. Whatever routing has no use for is Call: it has its operands, nothing more is known.
const (
	Call   Op = iota // function, operator, CASE, LIKE, ...; Name is the function's in lower case, or ""
	Column           // Table and Name
	Const            // Value
	Param            // Index
	Row              // (a, b)
	And
	Or
	Xor
	Not
	Eq
	NullSafeEq
	Ne
	Lt
	Le
	Gt
	Ge
	In        // Args[0] IN the rest; Negated
	InQuery   // Args[0] IN Query; Negated
	Between   // Args: value, low, high; Negated
	IsNull    // Negated
	Exists    // Query; Negated
	Scalar    // (subquery)
	Quantify  // Args[0] op ANY/ALL Query
	Aggregate // Name, Distinct, Args, Unlisted; Order for GROUP_CONCAT
	Window    // Name, Args; Partition, Over
	Variable  // user or system variable
	Position  // ORDER BY 1: Index
	Default   // DEFAULT, DEFAULT(Name)
	Values    // VALUES(col)
)

// Expr is an expression.
type Expr struct {
	Op        Op
	Name      string // column, function or aggregate
	DB, Table string // a column's qualifiers
	Args      []*Expr
	Value     value.Value
	Index     int
	Negated   bool
	Distinct  bool
	System    bool // of a variable: not the user's
	// Unlisted says of an aggregate that it may be a function of another kind: the servers' manuals do not list it, and
	// CREATE AGGREGATE FUNCTION makes aggregates that are called as any function is.
	Unlisted bool
	// AllWith says that more than arguments decide an aggregate: ORDER BY inside.
	Ordered   bool
	Partition []*Expr
	Over      *Over
	Query     *Query
}

// Over is what decides a window beside its partition.
type Over struct {
	Order []OrderItem
	Rows  bool // the frame is of rows, so that of those which are equal in order some may be in it and some not
	Named bool // more of it stands in a WINDOW clause
}

// Walk calls f for e and all expressions under it, subqueries' own not included, until f returns false for a branch.
func (e *Expr) Walk(f func(*Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, a := range e.Args {
		a.Walk(f)
	}
	for _, p := range e.Partition {
		p.Walk(f)
	}
}

// Has tells whether e or an expression under it, subqueries left out, is of one of the operations.
func (e *Expr) Has(ops ...Op) bool {
	found := false // not by All: ops would escape
	e.Walk(func(x *Expr) bool {
		found = found || slices.Contains(ops, x.Op)
		return !found
	})
	return found
}

// All tells whether f holds for e and all expressions under it, subqueries left out. It asks no more of them once it does not.
func (e *Expr) All(f func(*Expr) bool) bool {
	ok := true
	e.Walk(func(x *Expr) bool {
		ok = ok && f(x)
		return ok
	})
	return ok
}
