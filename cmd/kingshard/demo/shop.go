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

// makeTables makes the shop's database anew on the nodes' primaries, and in it the physical tables, as the rules of the schema
// name them.
func makeTables(ctx context.Context, nodes []*node, schema config.Schema) error {
	r, err := router.New(schema, router.Options{Zone: time.Local})
	if err != nil {
		return err
	}
	on := map[string]*sql.DB{}
	for _, n := range nodes {
		db, err := n.primary.DB("")
		if err != nil {
			return err
		}
		defer db.Close()
		on[n.name] = db
		// A directory that was kept has a shop from the last time, maybe of other rules.
		for _, sql := range []string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database + " CHARACTER SET utf8mb4"} {
			if _, err := db.ExecContext(ctx, sql); err != nil {
				return fmt.Errorf("make the shop database on %s: %w", n.name, err)
			}
		}
	}
	tables, _ := shopStatements()
	for _, statement := range tables {
		name, columns, _ := strings.Cut(strings.TrimPrefix(statement, createTable), " ")
		shards := []router.Shard{{Node: r.Default(), DB: database, Table: name}}
		if t := r.Table(database, name); t != nil {
			shards = t.Shards
		}
		for _, s := range shards {
			table := s.DB + "." + s.Table
			if _, err := on[s.Node].ExecContext(ctx, createTable+table+" "+columns); err != nil {
				return fmt.Errorf("make the table %s on %s: %w", table, s.Node, err)
			}
		}
	}
	return nil
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
