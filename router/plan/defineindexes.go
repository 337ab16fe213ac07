package plan

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/rule"
)

// defineIndexes refuses definitions that keys over the shards could not be kept for, and UNIQUE keys that would hold inside each shard only though nobody
// said so. It notes the columns of indexes whose collations are left to defaults, the indexes that must have all rows for the definition to be right, and
// the keys that are to get an index.
func (o *Each) defineIndexes(d *sqlparse.Definition, target *Ref, refs []*Ref) error {
	for _, r := range refs {
		switch {
		case !d.Renames:
		case r.Table.GlobalUnique:
			return Refuse("RENAME of the table %s, whose UNIQUE keys hold over its shards by unique: global, in tables that are named after it: CREATE TABLE the other one, and INSERT INTO ... SELECT its rows", r.Parsed.Name)
		case len(r.Table.Indexes) > 0:
			return Refuse("RENAME of the table %s, which has indexes over its shards in tables that are named after it: take them out of the rule first", r.Parsed.Name)
		}
	}
	for _, u := range d.Uniques {
		x, unnamed, err := target.keptBy(u)
		switch {
		case err != nil:
			return err
		case unnamed:
			key, err := keyMade(target, d, u)
			if err != nil {
				return err
			}
			o.New = append(o.New, key)
		case x != nil && d.Verb != sqlparse.CreateTable:
			o.Needed = append(o.Needed, x)
		}
	}
	for _, x := range target.Table.Indexes {
		if d.Verb == sqlparse.CreateTable && x.Given && !made(x, d) {
			continue // of a table of that name before
		}
		if err := indexAlteration(target, x, d); err != nil {
			return err
		}
		if d.Verb != sqlparse.CreateTable {
			continue
		}
		if d.Like {
			for _, c := range x.Columns {
				o.Unnamed = append(o.Unnamed, Unnamed{Column: c, Like: true, Index: x})
			}
			continue
		}
		of, err := indexColumns(target, x, d)
		if err != nil {
			return err
		}
		o.Unnamed = append(o.Unnamed, of...)
	}
	return nil
}

// made reports whether a CREATE TABLE makes the key that an index keeps, as far as its text tells.
func made(x *router.Index, d *sqlparse.Definition) bool {
	return slices.ContainsFunc(d.Uniques, func(u sqlparse.UniqueKey) bool { return !u.Partial && x.Table.Over(u.Columns) == x })
}

// keptBy returns the index that keeps a UNIQUE key over all shards; nil where the shards keep it by themselves. unnamed says that it is to get an index.
func (r *Ref) keptBy(u sqlparse.UniqueKey) (x *router.Index, unnamed bool, err error) {
	t := r.Table
	if t.Kind != router.Sharded || len(t.Shards) < 2 {
		return nil, false, nil
	}
	whole := true
	for _, key := range t.Keys {
		whole = whole && slices.ContainsFunc(u.Columns, func(c string) bool { return router.SameColumn(c, key) })
	}
	if whole {
		return nil, false, nil
	}
	if x := t.Over(u.Columns); x != nil && x.Unique && !u.Partial {
		return x, false, nil
	}
	if t.LocalUnique {
		return nil, false, nil
	}
	columns := strings.Join(u.Columns, ", ")
	switch {
	case u.Partial:
		return nil, false, Refuse("a UNIQUE key of %s of beginnings of columns, or of expressions, and without the sharding key (%s), would hold inside each sub-table only: say unique: local in the rule for that",
			r.Parsed.Name, strings.Join(t.Keys, ", "))
	case t.GlobalUnique:
		return nil, true, nil
	}
	return nil, false, Refuse("UNIQUE (%s) of %s, without the sharding key (%s), would hold inside each sub-table only: name it in the rule, as unique: [[%s]], to have it hold over all of them, or say unique: global or unique: local there",
		columns, r.Parsed.Name, strings.Join(t.Keys, ", "), columns)
}

// indexAlteration refuses an ALTER TABLE of columns that an index has.
func indexAlteration(r *Ref, x *router.Index, d *sqlparse.Definition) error {
	cure := fmt.Sprintf("KS INDEX DROP %s %s first, and KS INDEX BUILD afterwards", r.Parsed.Name, x.Name)
	if x.Given {
		cure = "drop its UNIQUE key first, and add it afterwards"
	}
	if d.Converts {
		return Refuse("CONVERT TO of %s, whose index %s is kept in a table of its own: %s", r.Parsed.Name, x.Name, cure)
	}
	if d.DropsRows {
		return Refuse("an ALTER TABLE of %s that drops rows with their partitions, or takes in others, whose entries the index %s would keep: DELETE the rows, or KS INDEX DROP %s %s first, and KS INDEX BUILD afterwards",
			r.Parsed.Name, x.Name, r.Parsed.Name, x.Name)
	}
	if d.Deletes {
		return DeletedByServer(x, r.Parsed.Name)
	}
	for _, c := range slices.Concat(d.SetByServer, d.Emptied, d.Cascaded) {
		if x.Has(c) || r.keyOf(c) >= 0 {
			return SetByServer(x, r.Parsed.Name, c)
		}
	}
	for _, c := range d.Columns {
		if x.Has(c.Name) || r.keyOf(c.Name) >= 0 {
			return Refuse("%s is a column of the index %s of %s, which is kept in a table of its own, and cannot be changed there: %s", c.Name, x.Name, r.Parsed.Name, cure)
		}
	}
	return nil
}

// indexColumns refuses a CREATE TABLE that lacks columns of an index, or has them of a type that cannot be placed by, or of a collation that the index does
// not follow.
func indexColumns(r *Ref, x *router.Index, d *sqlparse.Definition) (unnamed []Unnamed, err error) {
	for _, name := range x.Columns {
		k := slices.IndexFunc(d.Makes, func(c sqlparse.MadeColumn) bool { return router.SameColumn(c.Name, name) })
		if k < 0 {
			return nil, Refuse("the rule of %s has the index %s of a column %s, which is not defined", r.Parsed.Name, x.Name, name)
		}
		c := d.Makes[k]
		if !c.Placed {
			return nil, UnplacedColumn(r.Parsed.Name, x, c.Name, c.Type)
		}
		if !c.Text {
			continue
		}
		named := namedCollation(d, c.Collation)
		if named.Name == "" {
			unnamed = append(unnamed, Unnamed{Column: c.Name, Charset: named.Charset, Index: x})
		} else if err := (Unnamed{Column: c.Name, Index: x}).Misfit(r, named.Name); err != nil {
			return nil, err
		}
	}
	return unnamed, nil
}

// DeletedByServer refuses a foreign key by which rows of a table go that no statement names, so that an index would keep their entries.
func DeletedByServer(x *router.Index, table string) error {
	return Refuse("ON DELETE CASCADE in %s, whose rows the server would delete without their entries in the index %s: use RESTRICT", table, x.Name)
}

// SetByServer refuses a column of an index, or of the sharding key, to which the server gives other values than statements say.
func SetByServer(x *router.Index, table, column string) error {
	return Refuse("the column %s of %s, whose index %s has its values: by ON UPDATE CURRENT_TIMESTAMP, an expression, or a foreign key with SET NULL or CASCADE, the server would change it without the index",
		column, table, x.Name)
}

// UnplacedColumn refuses a column of an index by whose values no shard can be found.
func UnplacedColumn(table string, x *router.Index, column, kind string) error {
	return Refuse("the column %s of the index %s of %s has the type %s, by which rows cannot be placed: an index is of whole and exact numbers, CHAR and VARCHAR, BINARY and VARBINARY, DATE, DATETIME and YEAR",
		column, x.Name, table, kind)
}

// Misfit refuses a collation for the column, if the rule of what it is a key of, r's table or an index of that, does not follow it.
func (u Unnamed) Misfit(r *Ref, collation string) error {
	if u.Index == nil {
		return r.Misfit(u.Column, collation)
	}
	return IndexMisfit(u.Index, r.Parsed.Name, u.Column, collation)
}

// IndexMisfit refuses a collation of a column of an index of a table, if the index does not follow it.
func IndexMisfit(x *router.Index, table, column, collation string) error {
	of := x.Lookup.Rule
	if rule.Follows(of, collation) {
		return nil
	}
	cure := "give it a _bin collation"
	if fold := rule.FoldFor(collation); fold != "" {
		cure += ", or the index strings: " + fold
	}
	return Refuse("the column %s of the index %s of %s has the collation %s, which calls texts equal that the index, with strings: %s, places apart: %s",
		column, x.Name, table, collation, rule.FoldName(of), cure)
}

// keeper returns a table of the statement that keeps an index, where the statement may change it: clients only read it.
func (p *Plan) keeper() *Ref {
	switch p.Statement.Kind {
	case sqlparse.SelectKind, sqlparse.Describe, sqlparse.Explain, sqlparse.Maintain:
		return nil
	case sqlparse.InsertKind, sqlparse.LoadData:
		if p.Target.Table.Keeps == nil {
			return nil
		}
		return p.Target
	}
	for _, r := range p.Refs {
		if r.Table.Keeps != nil {
			return r
		}
	}
	return nil
}

// UniqueHolds refuses a UNIQUE key for the table that would hold inside each shard only, unless the rule says so; unnamed says that it is to get an index.
func (r *Ref) UniqueHolds(u sqlparse.UniqueKey) (unnamed bool, err error) {
	_, unnamed, err = r.keptBy(u)
	return unnamed, err
}
