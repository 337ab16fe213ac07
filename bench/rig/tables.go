package rig

import (
	"context"
	"fmt"
	"strings"

	"kingshard/mysql/mysqltest"
)

// The databases. DB has tables that are read or changed in place, InsertDB those that grow.
const (
	DB       = "bench"
	InsertDB = "bench_insert"
)

// Rows is the number of rows of sbtest1, of events and of each of their copies; ids go from 1.
const Rows = 100_000

// Sizes of the other tables.
const (
	WideColumns = 400 // of wide, the id included
	WideRows    = 1000
	BlobRows    = 64 // of blobs, each with BlobBytes
	BlobBytes   = 100_000
	AmountMax   = 100_000 // of events; amounts are spread evenly below
	Groups      = 10      // of events
)

// ScatterShards are the numbers of shards that events comes in.
var ScatterShards = []int{2, 4, 8}

const sysbenchColumns = `id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '',
 pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k)`

const eventColumns = `id BIGINT NOT NULL PRIMARY KEY, grp INT NOT NULL, amount INT NOT NULL, note VARCHAR(40) NOT NULL, KEY amount (amount)`

// countedColumns are those of counted, of which each sub-table has no rows at first: its ids are brought, or drawn.
const countedColumns = `id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, grp INT NOT NULL, note VARCHAR(40) NOT NULL`

// numbers gives n from 1 to 100000.
const numbers = `(SELECT 1 + a.d + 10*b.d + 100*c.d + 1000*e.d + 10000*f.d AS n FROM digits a, digits b, digits c, digits e, digits f) numbers`

// fill makes all tables of a server, the large ones with so many rows.
func fill(ctx context.Context, s *mysqltest.RealServer, rows int) error {
	db, err := s.DB("")
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range schema(rows) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return nil
}

// schema gives the statements that make and fill the tables.
func schema(rows int) []string {
	statements := []string{"CREATE DATABASE " + InsertDB, "CREATE DATABASE " + DB, "USE " + DB,
		"CREATE TABLE digits (d INT NOT NULL PRIMARY KEY)", "INSERT INTO digits VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)"}
	from := fmt.Sprintf(" FROM %s WHERE n <= %d", numbers, rows)
	for _, table := range []string{"sbtest1", "sbtest1_0000"} {
		statements = append(statements,
			"CREATE TABLE "+InsertDB+"."+table+" ("+sysbenchColumns+")",
			"CREATE TABLE "+table+" ("+sysbenchColumns+")",
			"INSERT INTO "+table+" SELECT n, (n * 7919) % 100000, REPEAT(LPAD(n, 10, '0'), 12), REPEAT(LPAD(n, 10, '7'), 6)"+from)
	}
	statements = append(statements, wideTable()...)
	statements = append(statements,
		"CREATE TABLE blobs (id INT NOT NULL PRIMARY KEY, b MEDIUMTEXT NOT NULL)",
		fmt.Sprintf("INSERT INTO blobs SELECT n, REPEAT('0123456789', %d) FROM %s WHERE n <= %d", BlobBytes/10, numbers, BlobRows),
		"CREATE TABLE sink (id INT NOT NULL PRIMARY KEY, b MEDIUMTEXT NOT NULL)",
		"CREATE TABLE counted ("+countedColumns+")",
		"CREATE TABLE events ("+eventColumns+")",
		fmt.Sprintf("INSERT INTO events SELECT n, n %% %d, (n * 7919) %% %d, CONCAT('note ', n)", Groups, AmountMax)+from)
	for _, shards := range ScatterShards {
		for i := range shards {
			table := fmt.Sprintf("events_of%d_%04d", shards, i)
			statements = append(statements, "CREATE TABLE "+table+" ("+eventColumns+")",
				fmt.Sprintf("INSERT INTO %s SELECT * FROM events WHERE id %% %d = %d", table, shards, i),
				fmt.Sprintf("CREATE TABLE counted_of%d_%04d (%s)", shards, i, countedColumns))
		}
	}
	return append(statements, "ANALYZE TABLE sbtest1, sbtest1_0000, wide, events")
}

// wideTable makes a table of WideColumns columns c0 to c399, c0 being the key. In ascii a row fits on a page of MySQL, which
// counts the longest that it may be.
func wideTable() []string {
	columns, values := []string{"c0 INT NOT NULL PRIMARY KEY"}, []string{"n"}
	for i := 1; i < WideColumns; i++ {
		columns = append(columns, fmt.Sprintf("c%d VARCHAR(12) CHARACTER SET ascii NOT NULL", i))
		values = append(values, fmt.Sprintf("n + %d", i))
	}
	return []string{
		"CREATE TABLE wide (" + strings.Join(columns, ", ") + ")",
		fmt.Sprintf("INSERT INTO wide SELECT %s FROM %s WHERE n <= %d", strings.Join(values, ", "), numbers, WideRows),
	}
}

// emptyInsertTables takes away what a run inserted.
func emptyInsertTables(ctx context.Context, s *mysqltest.RealServer) error {
	db, err := s.DB(InsertDB)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, table := range []string{"sbtest1", "sbtest1_0000"} {
		if _, err := db.ExecContext(ctx, "TRUNCATE TABLE "+table); err != nil {
			return err
		}
	}
	return nil
}
