package sqlparse

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	tidb "github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// Verb is what a DDL statement does.
type Verb uint8

// The verbs.
const (
	OtherVerb Verb = iota
	CreateTable
	AlterTable
	DropTable
	DropView
	RenameTable
	CreateIndex
	DropIndex
	CreateView
)

// Definition is what a DDL statement says beyond the tables that it names.
type Definition struct {
	Verb Verb
	// Temporary is CREATE or DROP TEMPORARY TABLE; Query is CREATE TABLE ... SELECT; Like is CREATE TABLE ... LIKE.
	Temporary, Query, Like bool
	// IfExists is DROP TABLE IF EXISTS.
	IfExists bool
	// Renames says that tables get other names: RENAME TABLE, ALTER TABLE ... RENAME. The tables of the statement are then
	// pairs of the old and the new one.
	Renames bool
	// Columns are those that ALTER TABLE drops, renames or gives another type.
	Columns []ColumnChange
	// SetByServer are columns with ON UPDATE CURRENT_TIMESTAMP and generated ones.
	SetByServer []string
	// Emptied are columns that a foreign key sets to NULL or to their default, by ON DELETE or ON UPDATE.
	Emptied []string
	// Keys are the names of constraints and indexes, in the order of the text.
	Keys []KeyName
	// Collation is what CREATE TABLE and ALTER TABLE say of the whole table.
	Collation Collation
	// Converts says that ALTER TABLE ... CONVERT TO gives all columns of text another character set.
	Converts bool
	// Texts are the columns of text that CREATE TABLE makes, with what it says of their collations.
	Texts []TextColumn
	// List spans the names of DROP TABLE.
	List Span
	// AutoIncrement is where CREATE TABLE and ALTER TABLE have the ids begin; 0 where they do not say.
	AutoIncrement uint64
	// Uniques are the UNIQUE keys that it makes.
	Uniques []UniqueKey
	// Makes are the columns that CREATE TABLE makes.
	Makes []MadeColumn
	// Cascaded are columns that a foreign key changes along with the row that it refers to, by ON UPDATE CASCADE; Deletes says that one deletes rows, by ON
	// DELETE CASCADE.
	Cascaded []string
	Deletes  bool
	// DropsRows says that ALTER TABLE drops rows with their partitions, or takes in others.
	DropsRows bool
}

// Collation is how a statement names a collation, in lower case: by its name, by its character set of which it is the
// default, or not at all.
type Collation struct{ Name, Charset string }

// TextColumn is a column of characters in a definition.
type TextColumn struct {
	Name      string
	Collation Collation
}

// Family is what kind of values a column type holds.
type Family uint8

// The families.
const (
	OtherFamily Family = iota
	Integers
	UnsignedIntegers
	Texts
	ByteStrings
	Dates // DATE and DATETIME
)

// ColumnChange is what ALTER TABLE does to a column.
type ColumnChange struct {
	Name string
	// Gone says that no column of this name is left.
	Gone bool
	Type Family
	// Collation is what is said of a column of text.
	Collation Collation
}

// definition takes what a DDL statement says beyond its tables.
func (c *converter) definition(node ast.StmtNode) *Definition {
	d := &Definition{}
	c.national = nationalColumns(c.tokens)
	switch n := node.(type) {
	case *ast.CreateTableStmt:
		d.Verb = CreateTable
		d.Makes = c.madeColumns(n.Cols)
		d.Temporary = n.TemporaryKeyword != ast.TemporaryNone
		d.Query, d.Like = n.Select != nil, n.ReferTable != nil
		for _, col := range n.Cols {
			d.setByServer(col)
			c.uniqueColumn(d, col)
			if family(col.Tp) == Texts {
				d.Texts = append(d.Texts, TextColumn{c.name(col.Name.Name), c.collationOf(col)})
			}
		}
		for _, one := range n.Constraints {
			c.foreignKey(d, one)
			c.uniqueKey(d, one)
		}
		d.Collation = tableCollation(n.Options)
		d.AutoIncrement = autoIncrement(n.Options)
	case *ast.AlterTableStmt:
		d.Verb = AlterTable
		for _, spec := range n.Specs {
			c.alteration(d, spec)
		}
	case *ast.DropTableStmt:
		d.Verb, d.Temporary, d.IfExists = DropTable, n.TemporaryKeyword != ast.TemporaryNone, n.IfExists
		if n.IsView {
			d.Verb = DropView
		}
	case *ast.RenameTableStmt:
		d.Verb, d.Renames = RenameTable, true
	case *ast.CreateIndexStmt:
		d.Verb = CreateIndex
		if n.KeyType == ast.IndexKeyTypeUnique {
			d.Uniques = append(d.Uniques, c.uniqueOf(n.IndexName, n.IndexPartSpecifications))
		}
	case *ast.DropIndexStmt:
		d.Verb = DropIndex
	case *ast.CreateViewStmt:
		d.Verb = CreateView
	}
	d.Keys = keyNames(c.tokens, d.Verb, c.mariaDB)
	return d
}

// alteration takes one clause of ALTER TABLE.
func (c *converter) alteration(d *Definition, spec *ast.AlterTableSpec) {
	switch spec.Tp {
	case ast.AlterTableOption:
		for _, o := range spec.Options {
			if o.Tp == ast.TableOptionCharset && o.UintValue == ast.TableOptionCharsetWithConvertTo {
				d.Converts = true
			}
		}
		if named := tableCollation(spec.Options); named != (Collation{}) {
			d.Collation = named
		}
		d.AutoIncrement = max(d.AutoIncrement, autoIncrement(spec.Options))
	case ast.AlterTableRenameTable:
		d.Renames = true
	case ast.AlterTableDropColumn:
		d.Columns = append(d.Columns, ColumnChange{Name: c.name(spec.OldColumnName.Name), Gone: true})
	case ast.AlterTableRenameColumn:
		old, now := c.name(spec.OldColumnName.Name), c.name(spec.NewColumnName.Name)
		if !strings.EqualFold(old, now) {
			d.Columns = append(d.Columns, ColumnChange{Name: old, Gone: true})
		}
	case ast.AlterTableModifyColumn, ast.AlterTableChangeColumn:
		for _, col := range spec.NewColumns {
			change := ColumnChange{Name: c.name(col.Name.Name), Type: family(col.Tp), Collation: c.collationOf(col)}
			if spec.OldColumnName != nil {
				change.Name = c.name(spec.OldColumnName.Name)
				change.Gone = !strings.EqualFold(change.Name, c.name(col.Name.Name))
			}
			d.Columns = append(d.Columns, change)
		}
	case ast.AlterTableDropPartition, ast.AlterTableTruncatePartition, ast.AlterTableExchangePartition, ast.AlterTableDropFirstPartition,
		ast.AlterTableImportPartitionTablespace, ast.AlterTableDiscardPartitionTablespace, ast.AlterTableImportTablespace, ast.AlterTableDiscardTablespace:
		d.DropsRows = true
	}
	for _, col := range spec.NewColumns {
		d.setByServer(col)
		c.uniqueColumn(d, col)
	}
	constraints := spec.NewConstraints
	if spec.Constraint != nil {
		constraints = append(constraints, spec.Constraint)
	}
	for _, one := range constraints {
		c.foreignKey(d, one)
		c.uniqueKey(d, one)
	}
}

// foreignKey notes what a foreign key does to rows. MySQL manual: "FOREIGN KEY Constraints".
func (c *converter) foreignKey(d *Definition, one *ast.Constraint) {
	if one.Tp != ast.ConstraintForeignKey {
		return
	}
	var columns []string
	for _, key := range one.Keys {
		if key.Column != nil {
			columns = append(columns, c.name(key.Column.Name))
		}
	}
	d.refers(one.Refer, columns...)
}

// refers notes what a foreign key over columns does to rows.
func (d *Definition) refers(refer *ast.ReferenceDef, columns ...string) {
	if empties(refer) {
		d.Emptied = append(d.Emptied, columns...)
	}
	if refer != nil && refer.OnUpdate != nil && refer.OnUpdate.ReferOpt == ast.ReferOptionCascade {
		d.Cascaded = append(d.Cascaded, columns...)
	}
	d.Deletes = d.Deletes || refer != nil && refer.OnDelete != nil && refer.OnDelete.ReferOpt == ast.ReferOptionCascade
}

// empties reports whether a foreign key sets its columns to NULL or to their default.
func empties(refer *ast.ReferenceDef) bool {
	sets := func(o ast.ReferOptionType) bool { return o == ast.ReferOptionSetNull || o == ast.ReferOptionSetDefault }
	return refer != nil && (refer.OnDelete != nil && sets(refer.OnDelete.ReferOpt) || refer.OnUpdate != nil && sets(refer.OnUpdate.ReferOpt))
}

// setByServer notes a column whose values the server makes.
func (d *Definition) setByServer(col *ast.ColumnDef) {
	for _, o := range col.Options {
		if o.Tp == ast.ColumnOptionOnUpdate || o.Tp == ast.ColumnOptionGenerated {
			d.SetByServer = append(d.SetByServer, col.Name.Name.O)
		}
		if o.Tp == ast.ColumnOptionReference {
			d.refers(o.Refer, col.Name.Name.O)
		}
	}
}

// Bin is the name of the collation that BINARY gives a column of text whose character set its definition leaves to the table.
const Bin = "_bin"

// collationOf is what the definition of a column of text says of its collation.
func (c *converter) collationOf(col *ast.ColumnDef) (named Collation) {
	if family(col.Tp) != Texts {
		return named
	}
	named = Collation{strings.ToLower(col.Tp.GetCollate()), strings.ToLower(col.Tp.GetCharset())}
	if named.Charset == "" && c.national[strings.ToLower(c.name(col.Name.Name))] {
		named.Charset = "utf8mb3"
	}
	if col.Tp.GetFlag()&tidb.BinaryFlag != 0 {
		named.Name = named.Charset + Bin
	}
	for _, o := range col.Options {
		if o.Tp == ast.ColumnOptionCollate {
			named.Name = strings.ToLower(o.StrValue)
		}
	}
	return named
}

// nationalColumns are the names, in lower case, in front of NCHAR, NVARCHAR and NATIONAL: the character set of such columns is utf8mb3,
// whatever the table's, which the parser does not tell. MySQL manual: "The National Character Set".
func nationalColumns(tokens []token) map[string]bool {
	names := map[string]bool{}
	for k := 1; k < len(tokens); k++ {
		if t := tokens[k]; is(t, "national") || is(t, "nchar") || is(t, "nvarchar") {
			names[strings.ToLower(tokens[k-1].word)] = true
		}
	}
	return names
}

// tableCollation is what the options of CREATE TABLE say.
func tableCollation(options []*ast.TableOption) (named Collation) {
	for _, o := range options {
		switch o.Tp {
		case ast.TableOptionCharset:
			named.Charset = strings.ToLower(o.StrValue)
		case ast.TableOptionCollate:
			named.Name = strings.ToLower(o.StrValue)
		}
	}
	return named
}

// autoIncrement is the AUTO_INCREMENT of the options of CREATE TABLE; 0 without one.
func autoIncrement(options []*ast.TableOption) (next uint64) {
	for _, o := range options {
		if o.Tp == ast.TableOptionAutoIncrement {
			next = o.UintValue
		}
	}
	return next
}

func family(t *types.FieldType) Family {
	if t == nil {
		return OtherFamily
	}
	switch t.GetType() {
	case tidb.TypeTiny, tidb.TypeShort, tidb.TypeInt24, tidb.TypeLong, tidb.TypeLonglong:
		if t.GetFlag()&tidb.UnsignedFlag != 0 {
			return UnsignedIntegers
		}
		return Integers
	case tidb.TypeVarchar, tidb.TypeVarString, tidb.TypeString, tidb.TypeBlob, tidb.TypeTinyBlob, tidb.TypeMediumBlob, tidb.TypeLongBlob:
		if t.GetCharset() == "binary" {
			return ByteStrings
		}
		return Texts
	case tidb.TypeDate, tidb.TypeDatetime:
		return Dates
	}
	return OtherFamily
}
