package plan

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// NewKey is a UNIQUE key that is to hold over all shards.
type NewKey struct {
	sqlparse.UniqueKey
	// Collations are those of its columns of text that CREATE TABLE names, and Unnamed its columns of text whose collations that leaves to defaults.
	Collations []string
	Unnamed    []Unnamed
}

// keyMade takes a UNIQUE key that a definition makes.
func keyMade(target *Ref, d *sqlparse.Definition, u sqlparse.UniqueKey) (NewKey, error) {
	key := NewKey{UniqueKey: u}
	for _, name := range u.Columns {
		same := func(other string) bool { return router.SameColumn(other, name) }
		if d.Converts || slices.ContainsFunc(d.Columns, func(c sqlparse.ColumnChange) bool { return same(c.Name) }) {
			return key, Refuse("UNIQUE (%s) of %s, whose column %s the same statement changes: change it by a statement of its own first", strings.Join(u.Columns, ", "), target.Parsed.Name, name)
		}
		k := slices.IndexFunc(d.Makes, func(c sqlparse.MadeColumn) bool { return same(c.Name) })
		if k < 0 || !d.Makes[k].Text {
			continue
		}
		if named := namedCollation(d, d.Makes[k].Collation); named.Name == "" {
			key.Unnamed = append(key.Unnamed, Unnamed{Column: name, Charset: named.Charset})
		} else {
			key.Collations = append(key.Collations, named.Name)
		}
	}
	return key, nil
}

// Strings returns how an index places texts of columns with collations, as the configuration has it; an index without them needs none.
func (k *NewKey) Strings(table string, collations []string) (strings string, err error) {
	if len(collations) == 0 {
		return "", nil
	}
	if fold := rule.FoldFor(collations...); fold != "" && fold != asciiFold {
		return fold, nil
	}
	return "", Refuse("UNIQUE (%s) of %s, of texts with the collations %s, by which no texts can be placed in full: give them others, or name the key in the rule with its strings",
		list(k.Columns), table, list(collations))
}

// asciiFold is the fold that refuses other texts than those of ASCII.
const asciiFold = "ascii_ci"

func list(names []string) string { return strings.Join(names, ", ") }
