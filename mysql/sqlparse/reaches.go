package sqlparse

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Reaches is what INSERT, REPLACE, UPDATE or DELETE asks for anywhere in its text, subqueries and clauses of no other use included.
type Reaches struct {
	// Functions are the names of functions that it calls, in lower case, each once; GROUP_CONCAT and its like only where nothing orders them.
	Functions []string
	// UserVariables and SystemVariables say that it names such; Assigns that it gives one a value.
	UserVariables, SystemVariables, Assigns bool
	// Limits counts the LIMIT clauses of queries.
	Limits int
}

func (c *converter) reaches(node ast.Node) {
	r := &c.st.Reaches
	add := func(name string) {
		if name = strings.ToLower(name); !slices.Contains(r.Functions, name) {
			r.Functions = append(r.Functions, name)
		}
	}
	node.Accept(visitor(func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncCallExpr:
			add(c.text(n.FnName.O))
		case *ast.WindowFuncExpr:
			add(n.Name)
		case *ast.AggregateFuncExpr:
			if n.Order == nil {
				add(n.F)
			}
		case *ast.VariableExpr:
			r.SystemVariables = r.SystemVariables || n.IsSystem
			r.UserVariables = r.UserVariables || !n.IsSystem
			r.Assigns = r.Assigns || n.Value != nil
		case *ast.SelectStmt:
			if n.Limit != nil {
				r.Limits++
			}
		case *ast.SetOprStmt:
			if n.Limit != nil {
				r.Limits++
			}
		}
		return true
	}))
}
