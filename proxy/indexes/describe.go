package indexes

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql/sqlparse"
	"kingshard/router"
	"kingshard/router/plan"
)

// Described is what a server says of a table.
type Described struct {
	Columns []DescribedColumn
	// Uniques are its UNIQUE keys, the primary key first, which is called PRIMARY.
	Uniques []sqlparse.UniqueKey
}

// DescribedColumn is a column as a server describes it.
type DescribedColumn struct {
	Name string
	// Kind is the name of its type, and Type all of it, with its collation.
	Kind, Type string
	Collation  string // "" of a column without one
	// SetByServer says that the server gives it other values than statements say.
	SetByServer bool
}

// Describe asks for a table's columns and keys; it has no columns where it is not there.
func Describe(c *backend.Conn, s router.Shard) (*Described, error) {
	d := &Described{}
	of := " WHERE TABLE_SCHEMA = " + text(s.DB) + " AND TABLE_NAME = " + text(s.Table)
	err := c.Rows("SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IFNULL(CHARACTER_SET_NAME, ''), IFNULL(COLLATION_NAME, ''), EXTRA FROM information_schema.COLUMNS"+of+" ORDER BY ORDINAL_POSITION", 6,
		func(row []string) {
			one := DescribedColumn{Name: row[0], Kind: strings.ToLower(row[1]), Type: row[2], Collation: row[4]}
			extra := strings.ToLower(row[5])
			one.SetByServer = strings.Contains(extra, "on update") || strings.Contains(extra, "virtual generated") || strings.Contains(extra, "stored generated")
			if row[3] != "" {
				one.Type += " CHARACTER SET " + row[3] + " COLLATE " + row[4]
			}
			d.Columns = append(d.Columns, one)
		})
	if err != nil {
		return nil, err
	}
	err = c.Rows("SELECT INDEX_NAME, IFNULL(COLUMN_NAME, ''), IFNULL(SUB_PART, '') FROM information_schema.STATISTICS"+of+" AND NON_UNIQUE = 0 ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX", 3,
		func(row []string) {
			if n := len(d.Uniques); n == 0 || d.Uniques[n-1].Name != row[0] {
				d.Uniques = append(d.Uniques, sqlparse.UniqueKey{Name: row[0]})
			}
			key := &d.Uniques[len(d.Uniques)-1]
			if row[1] == "" || row[2] != "" {
				key.Partial = true
				return
			}
			key.Columns = append(key.Columns, row[1])
		})
	return d, err
}

// unreferring refuses foreign keys of a table by which the server would change what an index has of its rows. MySQL manual: "FOREIGN KEY Constraints".
func unreferring(c *backend.Conn, s router.Shard, x *router.Index) (err error) {
	var refused error
	err = c.Rows("SELECT k.COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r "+
		"ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME "+
		"WHERE k.REFERENCED_TABLE_NAME IS NOT NULL AND k.TABLE_SCHEMA = "+text(s.DB)+" AND k.TABLE_NAME = "+text(s.Table), 3, func(row []string) {
		sets := strings.HasPrefix(row[1], "SET") || strings.HasPrefix(row[2], "SET") || row[2] == "CASCADE"
		switch {
		case row[1] == "CASCADE":
			refused = plan.DeletedByServer(x, x.Table.Name)
		case sets && (x.Has(row[0]) || slices.ContainsFunc(x.Table.Keys, func(key string) bool { return router.SameColumn(key, row[0]) })):
			refused = plan.SetByServer(x, x.Table.Name, row[0])
		}
	})
	if err != nil {
		return err
	}
	return refused
}

// Column finds a column by its name; nil where it is not there.
func (d *Described) Column(name string) *DescribedColumn {
	if d == nil {
		return nil
	}
	for k := range d.Columns {
		if router.SameColumn(d.Columns[k].Name, name) {
			return &d.Columns[k]
		}
	}
	return nil
}

// unplaced are the kinds of types that no index may have columns of.
var unplaced = []string{"float", "double", "timestamp", "time", "enum", "set", "bit", "json", "tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob",
	"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection", "geometrycollection", "vector", "uuid", "inet4", "inet6"}

// Definition is what the tables are made of that keep an index of the described table.
func (d *Described) Definition(x *router.Index) (*Definition, error) {
	of := &Definition{Index: x}
	order := of.named(d.Uniques)
	for _, name := range order {
		c := d.Column(name)
		if c == nil {
			return nil, fmt.Errorf("the rule of %s has the index %s of a column %s, which is not there", x.Table.Name, x.Name, name)
		}
		if c.SetByServer {
			return nil, plan.SetByServer(x, x.Table.Name, c.Name)
		}
		if slices.Contains(unplaced, c.Kind) {
			return nil, plan.UnplacedColumn(x.Table.Name, x, c.Name, c.Kind)
		}
		if c.Collation != "" {
			if err := plan.IndexMisfit(x, x.Table.Name, c.Name, c.Collation); err != nil {
				return nil, err
			}
		}
		of.Columns = append(of.Columns, Column{c.Name, c.Type})
	}
	for _, name := range x.Table.Keys {
		c := d.Column(name)
		if c == nil {
			return nil, fmt.Errorf("the sharding key %s of %s is not there", name, x.Table.Name)
		}
		if c.SetByServer {
			return nil, plan.SetByServer(x, x.Table.Name, c.Name)
		}
		of.Keys = append(of.Keys, Column{c.Name, c.Type})
	}
	return of, nil
}

// named gives the key the name of the table's own of the same columns, if there is one, and returns the columns in the order of that.
func (d *Definition) named(uniques []sqlparse.UniqueKey) (order []string) {
	d.Key = d.Index.Name
	for _, u := range uniques {
		if d.Index.Unique && !u.Partial && d.Index.Table.Over(u.Columns) == d.Index {
			if d.Key = u.Name; d.Key == "" {
				d.Key = u.Columns[0] // as servers name it
			}
			return u.Columns
		}
	}
	return d.Index.Columns
}

// Defined is what the tables are made of that keep an index of a table that is made by a definition.
func Defined(x *router.Index, d *sqlparse.Definition) (*Definition, error) {
	of := &Definition{Index: x}
	find := func(name string) (Column, error) {
		for _, c := range d.Makes {
			if !router.SameColumn(c.Name, name) {
				continue
			}
			kind := c.Type
			if c.Text && c.Collation.Charset != "" {
				kind += " CHARACTER SET " + c.Collation.Charset
			}
			switch {
			case !c.Text || c.Collation.Name == "":
			case c.Collation.Name == sqlparse.Bin:
				kind += " BINARY"
			default:
				kind += " COLLATE " + c.Collation.Name
			}
			return Column{c.Name, kind}, nil
		}
		return Column{}, plan.Refuse("the column %s, which the rule of %s names, is not defined", name, x.Table.Name)
	}
	for _, name := range of.named(d.Uniques) {
		c, err := find(name)
		if err != nil {
			return nil, err
		}
		of.Columns = append(of.Columns, c)
	}
	for _, name := range x.Table.Keys {
		c, err := find(name)
		if err != nil {
			return nil, err
		}
		of.Keys = append(of.Keys, c)
	}
	if d.Collation.Charset != "" {
		of.Options += " DEFAULT CHARACTER SET " + d.Collation.Charset
	}
	if d.Collation.Name != "" {
		of.Options += " COLLATE " + d.Collation.Name
	}
	return of, nil
}
