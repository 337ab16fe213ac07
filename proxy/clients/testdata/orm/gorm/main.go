// Command gormshop is a shop written with GORM.
//
// usage: gormshop HOST:PORT DATABASE
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// errUndone has a transaction rolled back.
var errUndone = errors.New("undone")

func main() {
	dsn := fmt.Sprintf("root:root@tcp(%s)/%s?charset=utf8mb4&parseTime=True", os.Args[1], os.Args[2])
	db, err := gorm.Open(mysql.Open(dsn), &gorm.Config{PrepareStmt: true, Logger: logger.Discard})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := false
	for _, step := range []struct {
		name string
		do   func(db *gorm.DB) error
	}{{"introspect", introspect}, {"shop", shop}, {"many", many}, {"ids", ids}, {"related", related}, {"members", members}} {
		fmt.Println("==", step.name)
		if err := step.do(db); err != nil {
			failed = true
			fmt.Println("failed:", err)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// introspect reads the schema as migrations do.
func introspect(db *gorm.DB) error {
	m := db.Migrator()
	tables, err := m.GetTables()
	if err != nil {
		return err
	}
	slices.Sort(tables)
	fmt.Println(m.CurrentDatabase(), "tables", tables)
	fmt.Println("has", m.HasTable("users"), m.HasTable(&Order{}), m.HasTable("nothing"))
	fmt.Println("has", m.HasColumn(&User{}, "Country"), m.HasColumn(&User{}, "nothing"))
	fmt.Println("has", m.HasIndex(&User{}, "users_country_name"), m.HasIndex(&User{}, "nothing"), m.HasConstraint(&Order{}, "nothing"))
	for _, table := range []any{&User{}, &Order{}} {
		if err := describe(m, table); err != nil {
			return err
		}
	}
	return nil
}

// describe writes down a table with its columns and indexes.
func describe(m gorm.Migrator, table any) error {
	about, err := m.TableType(table)
	if err != nil {
		return err
	}
	comment, _ := about.Comment()
	fmt.Println(about.Schema(), about.Name(), about.Type(), comment)
	columns, err := m.ColumnTypes(table)
	if err != nil {
		return err
	}
	for _, c := range columns {
		full, _ := c.ColumnType()
		primary, _ := c.PrimaryKey()
		nullable, _ := c.Nullable()
		length, _ := c.Length()
		precision, scale, _ := c.DecimalSize()
		standard, hasDefault := c.DefaultValue()
		fmt.Println("  column", c.Name(), c.DatabaseTypeName(), full, primary, nullable, length, precision, scale, standard, hasDefault, c.ScanType())
	}
	indexes, err := m.GetIndexes(table)
	if err != nil {
		return err
	}
	for _, i := range indexes {
		primary, _ := i.PrimaryKey()
		unique, _ := i.Unique()
		fmt.Println("  index", i.Table(), i.Name(), i.Columns(), primary, unique)
	}
	return nil
}
