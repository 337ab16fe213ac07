package sqlparse

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	tidb "github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// MadeColumn is a column that a definition makes.
type MadeColumn struct {
	Name string
	// Type is its type as information_schema would have it, but for display widths.
	Type string
	// Placed says that rows of another table can be placed by it: it is a whole or an exact number, a text or bytes of a bounded length, or a DATE,
	// DATETIME or YEAR.
	Placed bool
	// Text says that it has a character set, and Collation what the definition says of that.
	Text      bool
	Collation Collation
}

func (c *converter) madeColumns(columns []*ast.ColumnDef) (made []MadeColumn) {
	for _, col := range columns {
		made = append(made, MadeColumn{
			Name: c.name(col.Name.Name), Type: typeText(col.Tp), Placed: placed(col.Tp), Text: family(col.Tp) == Texts, Collation: c.collationOf(col),
		})
	}
	return made
}

// typeText writes a type.
func typeText(t *types.FieldType) string {
	text := ""
	switch t.GetType() {
	case tidb.TypeTiny, tidb.TypeShort, tidb.TypeInt24, tidb.TypeLong, tidb.TypeLonglong:
		text = types.TypeToStr(t.GetType(), "")
	case tidb.TypeYear:
		return "year"
	default:
		text = t.CompactStr()
	}
	if tidb.HasUnsignedFlag(t.GetFlag()) {
		text += " unsigned"
	}
	return text
}

func placed(t *types.FieldType) bool {
	switch t.GetType() {
	case tidb.TypeTiny, tidb.TypeShort, tidb.TypeInt24, tidb.TypeLong, tidb.TypeLonglong, tidb.TypeNewDecimal, tidb.TypeVarchar, tidb.TypeVarString, tidb.TypeString,
		tidb.TypeDate, tidb.TypeNewDate, tidb.TypeDatetime, tidb.TypeYear:
		return true
	}
	return false
}
