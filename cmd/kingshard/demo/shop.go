package demo

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"kingshard/config"
	"kingshard/router"
)

//go:embed shop.sql
var shopText string

// shopStatements are those of shop.sql: tables first, then rows.
func shopStatements() (tables, rows []string) {
	var lines []string
	for line := range strings.Lines(shopText) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	for _, statement := range strings.Split(strings.Join(lines, ""), ";\n") {
		statement = strings.TrimSpace(statement)
		switch {
		case strings.HasPrefix(statement, createTable):
			tables = append(tables, statement)
		case statement != "":
			rows = append(rows, statement)
		}
	}
	return tables, rows
}

const createTable = "CREATE TABLE "

// loadedFile is in a directory whose servers have the whole shop.
const loadedFile = "shop-loaded"

// physicalTable is a table of a server with the statement that makes it.
type physicalTable struct {
	node, db, table string
	create          string
}

// physicalTables are those of the shop, as the rules of the schema name them.
func physicalTables(schema config.Schema) ([]physicalTable, error) {
	r, err := router.New(schema, router.Options{Zone: time.Local})
	if err != nil {
		return nil, err
	}
	var all []physicalTable
	statements, _ := shopStatements()
	for _, statement := range statements {
		name, columns, _ := strings.Cut(strings.TrimPrefix(statement, createTable), " ")
		shards := []router.Shard{{Node: r.Default(), DB: database, Table: name}}
		if t := r.Table(database, name); t != nil {
			shards = t.Shards
		}
		for _, s := range shards {
			all = append(all, physicalTable{s.Node, s.DB, s.Table, createTable + s.DB + "." + s.Table + " " + columns})
		}
	}
	return all, nil
}

// makeTables makes the shop's database anew on the nodes' primaries, and in it the physical tables.
func makeTables(ctx context.Context, on map[string]*sql.DB, tables []physicalTable) error {
	for node, db := range on {
		// A start that was broken off may have left some of them.
		for _, sql := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database + " CHARACTER SET utf8mb4"} {
			if _, err := db.ExecContext(ctx, sql); err != nil {
				return fmt.Errorf("make the shop database on %s: %w", node, err)
			}
		}
	}
	for _, t := range tables {
		if _, err := on[t.node].ExecContext(ctx, t.create); err != nil {
			return fmt.Errorf("make the table %s.%s on %s: %w", t.db, t.table, t.node, err)
		}
	}
	return nil
}

// checkTables says which of the tables is missing in a shop that was kept: another release may have had other rules.
func checkTables(ctx context.Context, on map[string]*sql.DB, tables []physicalTable, dir string) error {
	for _, t := range tables {
		var n int
		err := on[t.node].QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", t.db, t.table).Scan(&n)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("the shop that %s keeps has no table %s.%s on %s: choose another directory, or remove this one to begin anew", dir, t.db, t.table, t.node)
		}
	}
	return nil
}

// openPrimaries opens a driver's pool for each node's primary, by name, which the caller closes.
func openPrimaries(nodes []*node) (map[string]*sql.DB, error) {
	on := map[string]*sql.DB{}
	for _, n := range nodes {
		db, err := n.primary.DB("")
		if err != nil {
			return on, err
		}
		on[n.name] = db
	}
	return on, nil
}

// loadRows inserts the rows through the proxy, which brings each to its shard.
func loadRows(ctx context.Context, addr string) error {
	db, err := openShop(addr)
	if err != nil {
		return err
	}
	defer db.Close()
	_, rows := shopStatements()
	for _, statement := range rows {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("load the shop through the proxy: %w", err)
		}
	}
	return nil
}

// openShop opens a driver's pool for the shop's user on the proxy, which the caller closes.
func openShop(addr string) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = shopUser, shopPassword, "tcp", addr, database
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
