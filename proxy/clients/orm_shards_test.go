package clients

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// ormDB is the applications' database.
const ormDB = "shop"

// ormLocations is how many sub-tables of a table either node has.
const ormLocations = 2

// ormTables are the tables of the applications that are sharded, with their sharding keys.
var ormTables = map[string]string{"users": "id", "orders": "user_id", "notes": "owner", "baskets": "id", "items": "basket_id", "members": "id"}

// ormKeys are the columns of members that have keys over all shards.
var ormKeys = []string{"email", "name"}

// migrationTables are those in which ORMs note which migrations have run: tables without a rule.
var migrationTables = []string{"schema_migrations", "ar_internal_metadata", "migrations"}

// ormPlace is where an application runs.
type ormPlace struct {
	name         string
	endpoint     endpoint
	sharded      bool
	createTables func(t *testing.T)
	check        func(t *testing.T) // after a run
}

// ormPlaces gives the places of one kind of server; the first is the server itself.
func ormPlaces(t *testing.T, kind mysqltest.Kind) []ormPlace {
	t.Helper()
	server := mysqltest.Shared(t, kind)
	plain := func(t *testing.T) { createORMTables(t, server, "") }
	idle := func(t *testing.T) { noTransactions(t, server) }
	places := []ormPlace{
		{name: "direct", endpoint: direct(server), createTables: plain, check: idle},
		{name: "proxy", endpoint: startProxy(t, server), createTables: plain, check: idle},
	}
	second, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.Stop(); err != nil {
			t.Error(err)
		}
	})
	nodes := []*mysqltest.RealServer{server, second}
	sharded := startShardedProxy(t, nodes)
	return append(places, ormPlace{
		name: "sharded", endpoint: sharded, sharded: true,
		createTables: func(t *testing.T) {
			beginIDs(t, sharded)
			for k, node := range nodes {
				createORMTables(t, node, ormSuffixes(k, ormLocations)...)
			}
		},
		check: func(t *testing.T) {
			for k, node := range nodes {
				noTransactions(t, node)
				checkORMPlacement(t, node, k)
			}
			checkORMKeys(t, nodes)
		},
	})
}

// beginIDs has the ids that are drawn begin at 1: the tables of the application before are dropped past the proxy.
func beginIDs(t *testing.T, e endpoint) {
	t.Helper()
	db, err := sql.Open("mysql", "root:root@tcp("+e.addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, table := range []string{"notes", "baskets", "items", "members"} {
		if _, err := db.Exec("KS SEQUENCE " + ormDB + "." + table + " SET 1 FORCE"); err != nil {
			t.Fatal(err)
		}
	}
}

// ormSuffixes are those of the sub-tables on the node with index k, of so many on each.
func ormSuffixes(k, locations int) []string {
	var suffixes []string
	for n := k * locations; n < (k+1)*locations; n++ {
		suffixes = append(suffixes, fmt.Sprintf("_%04d", n))
	}
	return suffixes
}

// createORMTables makes the database anew with the tables of testdata/orm/schema.sql, once with each suffix.
func createORMTables(t *testing.T, s *mysqltest.RealServer, suffixes ...string) {
	t.Helper()
	freshDB(t, s, ormDB)
	schema, err := os.ReadFile(testdata(t, "orm", "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.DB(ormDB)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, suffix := range suffixes {
		for _, create := range strings.SplitAfter(strings.TrimSpace(string(schema)), ";") {
			for table := range ormTables {
				create = strings.Replace(create, "CREATE TABLE "+table+" ", "CREATE TABLE "+table+suffix+" ", 1)
			}
			if create == "" {
				continue
			}
			if _, err := db.Exec(create); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// checkORMPlacement wants the node with index k to have its sub-tables and no other, and each to have only its own rows; it has some of each table.
func checkORMPlacement(t *testing.T, s *mysqltest.RealServer, k int) {
	t.Helper()
	db, err := s.DB(ormDB)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := 0
	for name, key := range ormTables {
		all := 0
		for _, suffix := range ormSuffixes(k, ormLocations) {
			want++
			var rows, strangers int
			count := fmt.Sprintf("SELECT COUNT(*), COUNT(CASE WHEN %s %% %d <> %s THEN 1 END) FROM %s%s", key, 2*ormLocations, suffix[1:], name, suffix)
			if err := db.QueryRow(count).Scan(&rows, &strangers); err != nil {
				t.Fatal(err)
			}
			if all += rows; strangers > 0 {
				t.Errorf("%s%s has %d rows of another sub-table", name, suffix, strangers)
			}
		}
		if all == 0 {
			t.Errorf("a node has no rows of %s", name)
		}
	}
	want += len(ormKeys)
	var tables int
	others := "'" + strings.Join(migrationTables, "', '") + "'"
	if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name NOT IN ("+others+")", ormDB).Scan(&tables); err != nil {
		t.Fatal(err)
	}
	if tables != want {
		t.Errorf("the node has %d tables, not %d", tables, want)
	}
}

// checkORMKeys wants the tables that keep the keys of members to have what the rows have.
func checkORMKeys(t *testing.T, nodes []*mysqltest.RealServer) {
	t.Helper()
	read := func(table, suffix, column string, k int) (rows []string) {
		db, err := nodes[k].DB(ormDB)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		found, err := db.Query("SELECT CONCAT(id, ' ', " + column + ") FROM " + table + suffix)
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			var row string
			if err := found.Scan(&row); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		return rows
	}
	for _, column := range ormKeys {
		var rows, entries []string
		for k := range nodes {
			for _, suffix := range ormSuffixes(k, ormLocations) {
				rows = append(rows, read("members", suffix, column, k)...)
			}
			entries = append(entries, read("ks_members_"+column, fmt.Sprintf("_%04d", k), column, k)...)
		}
		slices.Sort(rows)
		slices.Sort(entries)
		if len(rows) == 0 || !slices.Equal(rows, entries) {
			t.Errorf("the rows of members have %q, the key of %s has %q", rows, column, entries)
		}
	}
}

// startShardedProxy runs a proxy over two nodes until the test ends, with orders beside their users.
func startShardedProxy(t *testing.T, nodes []*mysqltest.RealServer) endpoint {
	t.Helper()
	return serveProxy(t, fmt.Sprintf(`
addr: 127.0.0.1:0
log_sql: off
max_allowed_packet: 256M
health_timeout: 30s
connect_timeout: 30s
transaction_mode: atomic
xa_on_unsafe_server: true # they need not survive a loss of power
user_list:
- {user: root, password: root, rights: operate}
nodes:
- {name: n1, user: root, password: root, master: %[1]q, max_conns_limit: %[3]d}
- {name: n2, user: root, password: root, master: %[2]q, max_conns_limit: %[3]d}
schema_list:
- user: root
  nodes: [n1, n2]
  default: n1
  shard:
  - {db: %[4]s, table: users, key: id, nodes: [n1, n2], type: hash, locations: [%[5]d, %[5]d]}
  - {db: %[4]s, table: orders, key: user_id, colocate_with: users}
  - {db: %[4]s, table: notes, key: owner, colocate_with: users}
  - {db: %[4]s, table: baskets, key: id, nodes: [n1, n2], type: hash, locations: [%[5]d, %[5]d]}
  - {db: %[4]s, table: items, key: basket_id, colocate_with: baskets}
  - db: %[4]s
    table: members
    key: id
    nodes: [n1, n2]
    type: hash
    locations: [%[5]d, %[5]d]
    unique: [{columns: email, strings: utf8mb4_unicode_ci_v1}]
    lookup: [{columns: name, strings: utf8mb4_unicode_ci_v1}]
`, nodes[0].Addr, nodes[1].Addr, ceiling, ormDB, ormLocations))
}

// serveProxy runs a proxy with the configuration given until the test ends. The test fails if it does not shut down in order.
func serveProxy(t *testing.T, text string) endpoint {
	t.Helper()
	cfg, faults := config.Parse([]byte(text), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	log := new(mysqltest.LogBuffer)
	server, err := proxy.New(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if strings.Contains(log.String(), "panic") {
			t.Error("a session of the proxy panicked")
		}
		if t.Failed() {
			t.Logf("log of the proxy:\n%s", lastLines(log.String(), 200))
		}
	})
	return endpoint{name: "proxy", host: "127.0.0.1", port: server.Addr().(*net.TCPAddr).Port}
}
