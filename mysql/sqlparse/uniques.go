package sqlparse

import "github.com/pingcap/tidb/pkg/parser/ast"

// UniqueKey is a UNIQUE key that a definition makes.
type UniqueKey struct {
	// Name is "" where the server gives it one.
	Name    string
	Columns []string
	// Partial says that it is also of beginnings of columns, or of expressions, which Columns has not.
	Partial bool
}

// uniqueKey takes a clause that makes a UNIQUE key. MySQL manual: "CREATE TABLE Statement".
func (c *converter) uniqueKey(d *Definition, one *ast.Constraint) {
	switch one.Tp {
	case ast.ConstraintUniq, ast.ConstraintUniqKey, ast.ConstraintUniqIndex:
		d.Uniques = append(d.Uniques, c.uniqueOf(one.Name, one.Keys))
	}
}

// uniqueOf makes a key of its parts.
func (c *converter) uniqueOf(name string, parts []*ast.IndexPartSpecification) UniqueKey {
	key := UniqueKey{Name: name}
	for _, part := range parts {
		if part.Column == nil || part.Length > 0 {
			key.Partial = true
			continue
		}
		key.Columns = append(key.Columns, c.name(part.Column.Name))
	}
	return key
}

// uniqueColumn takes the UNIQUE of a column's own definition.
func (c *converter) uniqueColumn(d *Definition, col *ast.ColumnDef) {
	for _, o := range col.Options {
		if o.Tp == ast.ColumnOptionUniqKey {
			d.Uniques = append(d.Uniques, UniqueKey{Columns: []string{c.name(col.Name.Name)}})
			return
		}
	}
}
