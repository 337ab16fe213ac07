package plan

import (
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
)

// distinctRows takes SELECT DISTINCT whose equal rows may be on several shards: the merge keeps the first of those that are
// equal in all items.
func (m *merger) distinctRows() string {
	var items []*keyItem
	for k, f := range m.s.Fields {
		switch {
		case f.Expr == nil:
			return "DISTINCT of a star over several shards"
		case f.Expr.Op == sqlparse.Const || f.Expr.Op == sqlparse.Param:
			continue // the same in all rows
		case f.Expr.Op != sqlparse.Column:
			return "DISTINCT of an expression over several shards" // whose type may depend on a shard's rows
		}
		if d := m.info.scope.definition(f.Expr); d != nil && d.Type == mysql.TypeBit {
			return "DISTINCT of bits over several shards" // which MariaDB shows as numbers or as bytes, as its plan has it
		}
		items = append(items, &keyItem{e: f.Expr, span: m.itemSpan(k)})
	}
	if len(items) == 0 {
		return "DISTINCT of constants over several shards"
	}
	if why := m.sortItems(items, "DISTINCT ordered by what is not in the select list"); why != "" {
		return why
	}
	m.shape.group, m.shape.distinct, m.shape.sorted = nil, true, true
	return ""
}
