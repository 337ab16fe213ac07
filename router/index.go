package router

import (
	"cmp"
	"fmt"
	"strings"

	"kingshard/config"
)

// Index is a key over all shards of a sharded table, which a table of the proxy's own keeps. It is not changed after New.
type Index struct {
	// Name is what errors call it.
	Name string
	// Columns are in lower case.
	Columns []string
	// Strings is how texts in Columns are placed, as the configuration has it.
	Strings string
	// Given says that DDL has given it to the table, whose rule does not name it.
	Given bool
	// Unique: no two rows of the table have the same values, unless one is NULL.
	Unique bool
	// Table is the indexed table, and Lookup what keeps the index: sharded by Columns, which it has beside Table's Keys. Rows with a NULL in Columns
	// are not in it. Where the index is not unique it counts the rows of each combination in the column [RowsColumn].
	Table, Lookup *Table
	// Definition differs where what keeps the one of two indexes cannot be read and changed as that of the other.
	Definition string
}

// RowsColumn is the column of a lookup table that counts rows.
const RowsColumn = "ks_rows"

// newIndexes gives t the indexes of its rule.
func (t *Table) newIndexes(s *config.Shard) error {
	for _, list := range []struct {
		indexes []config.Index
		unique  bool
	}{{s.Unique, true}, {s.Lookup, false}} {
		for k := range list.indexes {
			x := &list.indexes[k]
			if len(x.Columns) == 0 {
				continue
			}
			rule := s.IndexRule(x)
			lookup, err := newTable(&rule, nil)
			if err != nil {
				return err
			}
			index := &Index{Name: x.IndexName(), Strings: x.Strings, Given: x.Given(), Unique: list.unique, Table: t, Lookup: lookup}
			for _, c := range x.Columns {
				index.Columns = append(index.Columns, strings.ToLower(c))
			}
			lookup.Keeps = index
			index.Definition = strings.ToLower(fmt.Sprintf("unique %v (%q), of rows by (%q), strings %s, in %v", index.Unique, index.Columns, t.Keys, cmp.Or(rule.Strings, "exact"), lookup.Shards))
			t.Indexes = append(t.Indexes, index)
		}
	}
	return nil
}

// Lookups are the tables that keep the table's indexes.
func (t *Table) Lookups() (tables []*Table) {
	for _, x := range t.Indexes {
		tables = append(tables, x.Lookup)
	}
	return tables
}

// Over returns the index of those columns, in whatever order; nil without one.
func (t *Table) Over(columns []string) *Index {
	for _, x := range t.Indexes {
		if len(x.Columns) == len(columns) && x.Has(columns...) {
			return x
		}
	}
	return nil
}

// Has reports whether all columns are among the index's.
func (x *Index) Has(columns ...string) bool {
	for _, name := range columns {
		found := false
		for _, c := range x.Columns {
			found = found || SameColumn(c, name)
		}
		if !found {
			return false
		}
	}
	return true
}
