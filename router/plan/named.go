package plan

import (
	"kingshard/mysql/sqlparse"
)

// named are the columns that a statement names: those of certain references, and the names that may be of any.
type named struct {
	of    map[*Ref]map[string]bool
	loose map[string]bool
	every bool // a star may name any column
}

// names reports whether a column of a reference may be named.
func (n *named) names(r *Ref, column string) bool {
	return n.of[r][lower(column)] || n.loose[lower(column)]
}

// named finds the columns that a statement names outside of conditions that are settled, of which there may be none.
func (a *analyzer) named(st *sqlparse.Statement, s *settled) *named {
	mentions, every := st.Columns()
	n := &named{map[*Ref]map[string]bool{}, map[string]bool{}, every}
	found, seen := map[string]int{}, map[*sqlparse.Expr]bool{}
	var look func(e *sqlparse.Expr, block *scope, settled bool)
	look = func(e *sqlparse.Expr, block *scope, settled bool) {
		e.Walk(func(x *sqlparse.Expr) bool {
			if s != nil && s.exprs[x] && !settled {
				look(x, block, true)
				return false
			}
			if x.Op != sqlparse.Column || seen[x] {
				return true
			}
			r, _, at := block.resolve(x)
			if at == nil || !block.certain(x, at) {
				return true
			}
			seen[x] = true
			found[lower(x.Name)]++
			if r != nil && !settled {
				if n.of[r] == nil {
					n.of[r] = map[string]bool{}
				}
				n.of[r][lower(x.Name)] = true
			}
			return true
		})
	}
	for _, block := range a.blocks {
		for _, e := range exprsOf(block.block) {
			look(e, block, s != nil && s.blocks[block])
		}
	}
	for name, times := range mentions { // the rest is named where nothing tells which reference is meant: in ORDER BY, USING, windows
		n.loose[name] = found[name] < times
	}
	return n
}

// exprsOf lists the expressions of a query block.
func exprsOf(s *sqlparse.Select) (list []*sqlparse.Expr) {
	for _, j := range joinsOn(s.From) {
		list = append(list, j.On)
	}
	list = append(append(list, fieldExprs(s)...), s.Group...)
	for _, e := range []*sqlparse.Expr{s.Where, s.Having} {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// joinsOn lists the joins with ON, in the order in which their ONs stand in the text.
func joinsOn(f *sqlparse.From) (list []*sqlparse.Join) {
	if f == nil || f.Join == nil {
		return nil
	}
	list = append(joinsOn(f.Join.Left), joinsOn(f.Join.Right)...)
	if f.Join.On != nil {
		list = append(list, f.Join)
	}
	return list
}
