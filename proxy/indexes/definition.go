package indexes

import (
	"strings"

	"kingshard/router"
)

// Definition is what the tables that keep an index are made of.
type Definition struct {
	Index *router.Index
	// Key is the name of the key that a unique index has, as errors of servers have it.
	Key string
	// Columns are those of the index, in the order of its key; Keys are those of the sharding key that are not among them.
	Columns, Keys []Column
	// Options follow the definition.
	Options string
}

// Column is a column as the indexed table has it.
type Column struct {
	Name string
	// Type is its type with what it says of the character set and the collation.
	Type string
}

// Create writes the statement that makes one of the tables.
func (d *Definition) Create(s router.Shard) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE IF NOT EXISTS " + quoted(s) + " (")
	var columns, all []string
	for _, c := range d.Columns {
		columns = append(columns, quote(c.Name))
	}
	for _, c := range append(append([]Column{}, d.Columns...), d.Keys...) {
		all = append(all, quote(c.Name))
		b.WriteString(quote(c.Name) + " " + c.Type + " NOT NULL, ")
	}
	if d.Index.Unique {
		b.WriteString("UNIQUE KEY " + quote(d.Key) + " (" + strings.Join(columns, ", ") + ")")
	} else {
		b.WriteString(quote(router.RowsColumn) + " BIGINT NOT NULL, PRIMARY KEY (" + strings.Join(all, ", ") + ")")
	}
	b.WriteString(") ENGINE=InnoDB" + d.Options)
	return b.String()
}
