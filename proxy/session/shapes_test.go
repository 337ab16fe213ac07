package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
	"kingshard/proxy/kserror"
)

// shape is a query shape of testdata/shapes.yaml.
type shape struct{ ID, SQL string }

// shards is a proxy over sharded tables, with one server that has all rows beside it.
type shards struct {
	oracle, subject *mysqltest.RawClient
	nodes           []*mysqltest.RawClient
	addr            string // of the proxy
	config          string // likewise
}

// shardedRules are the tables of the shapes' schema, by their rules.
const shardedRules = `
      - {db: shop, table: users, key: id, type: hash, nodes: [%[1]s], locations: [%[2]s], unique: local}
      - {db: shop, table: orders, key: user_id, colocate_with: users}
      - {db: shop, table: order_items, key: user_id, colocate_with: users}
      - {db: shop, table: payments, key: merchant_id, type: hash, nodes: [%[1]s], locations: [%[2]s]}
      - {db: shop, table: countries, type: reference}
`

// startShards starts the servers of one kind and a proxy over n nodes with the sub-tables of locations.
func startShards(t *testing.T, servers []*mysqltest.RealServer, locations []int, schema string, more ...string) *shards {
	t.Helper()
	login := mysqltest.ClientConfig{User: "root", Password: "root", Capabilities: mysqltest.ScriptCapabilities&^(mysql.ClientConnectWithDB|mysql.ClientFoundRows) | mysql.ClientMultiStatements | mysql.ClientLocalFiles}
	s := &shards{}
	var names, counts, nodeList []string
	for k := range locations {
		names = append(names, fmt.Sprintf("n%d", k))
		counts = append(counts, fmt.Sprint(locations[k]))
		nodeList = append(nodeList, fmt.Sprintf("  - {name: n%d, max_conns_limit: 16, user: root, password: root, master: \"%s\"}", k, servers[k+1].Addr))
	}
	text := fmt.Sprintf(`
addr: 127.0.0.1:0
max_allowed_packet: 1M
health_timeout: 30s
connect_timeout: 60s
pool_wait_timeout: 60s
user_list:
  - {user: root, password: root, local_infile: true}
nodes:
%s
schema_list:
  - user: root
    nodes: [%s]
    default: n0
    shard:%s`, strings.Join(nodeList, "\n"), strings.Join(names, ", "), fmt.Sprintf(shardedRules, strings.Join(names, ", "), strings.Join(counts, ", ")))
	text += "\n" + strings.Join(more, "\n")
	s.config = text
	cfg, faults := config.Parse([]byte(text), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	srv, err := proxy.New(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = srv.Shutdown(ctx)
		<-served
	})
	at := 0
	for k := -1; k < len(locations); k++ {
		c := dial(t, servers[k+1].Addr, login)
		must(t, c, "DROP DATABASE IF EXISTS shop")
		must(t, c, "DROP DATABASE IF EXISTS ks_meta")
		must(t, c, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		must(t, c, "USE shop")
		for _, create := range strings.Split(strings.TrimSpace(schema), "\n") {
			table := strings.Fields(create)[2]
			switch {
			case k < 0 || table == "countries":
				must(t, c, create)
			case table == "sku_catalog":
				if k == 0 {
					must(t, c, create)
				}
			default:
				for n := at; n < at+locations[k]; n++ {
					must(t, c, strings.Replace(create, "TABLE "+table+" ", fmt.Sprintf("TABLE %s_%04d ", table, n), 1))
				}
			}
		}
		if k < 0 {
			s.oracle = c
		} else {
			s.nodes = append(s.nodes, c)
			at += locations[k]
		}
	}
	login.DB = "shop"
	s.addr = srv.Addr().String()
	s.subject = dial(t, s.addr, login)
	for _, c := range append([]*mysqltest.RawClient{s.oracle, s.subject}, s.nodes...) {
		must(t, c, "SET NAMES utf8mb4")
	}
	return s
}

// shapeData are the rows of the shapes' tables: NULLs in every nullable column, ties over shards, spellings.
var shapeData = []string{
	"INSERT INTO users (id, name, email, country, age, balance, created_at, profile, ref_by) VALUES " +
		"(1, 'bob', 'a@b.c', 'US', 31, 10.50, '2024-01-01 10:00:00', '{\"a\": 1}', NULL), (2, 'Bob', 'b@b.c', 'US', 31, 0.01, '2024-01-02', NULL, 1)," +
		"(3, 'émile', 'c@b.c', 'FR', NULL, NULL, NULL, '[1, 2]', 1), (4, 'Emile', 'd@b.c', 'FR', 40, 99999999.99, '2024-01-01 10:00:00', NULL, 2)," +
		"(5, 'zoe', 'e@b.c', 'DE', 22, -5.00, '2023-12-31', NULL, NULL), (6, NULL, NULL, NULL, 22, 3.33, NULL, NULL, 3), (7, 'zoe ', 'g@b.c', 'DE', 55, 3.33, '2020-02-29', NULL, NULL)," +
		"(9, 'y', 'h@b.c', 'US', 18, 7.77, '2024-01-03', NULL, 5), (13, 'y\t', 'i@b.c', 'US', 18, 1.10, '2024-01-04', NULL, 5), (17, 'Y', 'j@b.c', 'CH', 64, 2.20, '2024-01-05', NULL, 13)",
	"INSERT INTO orders (id, user_id, status, amount, created_at) VALUES (1, 1, 'new', 10.00, '2024-02-01'), (2, 1, 'paid', 20.50, '2024-02-02'), (3, 2, 'done', 5.25, NULL)," +
		"(4, 5, 'new', NULL, '2024-02-01'), (5, 5, NULL, 1.00, '2024-02-03'), (6, 9, 'paid', 100.10, '2024-02-04'), (7, 17, 'new', 12.34, '2024-02-05'), (8, 4, 'done', 0.00, '2024-01-01')",
	"INSERT INTO order_items (user_id, order_id, item_no, sku, qty, price) VALUES (1, 1, 1, 'a', 1, 10.00), (1, 2, 1, 'b', 2, 10.25), (2, 3, 1, 'a', NULL, 5.25), (9, 6, 1, 'c', 3, 33.36), (17, 7, 1, NULL, 1, 12.34)",
	"INSERT INTO payments (id, merchant_id, order_id, payer_ref, payee_ref, country, amount) VALUES (1, 1, 1, 1, 2, 'US', 10.00), (2, 2, 2, 1, 3, 'US', 20.50), (3, 5, 3, 2, NULL, 'FR', NULL), (4, 8, 6, 9, 5, NULL, 100.10), (5, 3, 7, 17, 1, 'CH', 12.34)",
	"INSERT INTO countries (code, name) VALUES ('US', 'United States'), ('FR', 'France'), ('DE', 'Germany'), ('XX', NULL)",
	"INSERT INTO sku_catalog (sku, title, price) VALUES ('a', 'apple', 1.00), ('b', 'bread', 2.00), ('z', 'zinc', NULL)",
}

var shapeTables = []string{"users", "orders", "order_items", "payments", "countries", "sku_catalog"}

// fill empties and fills the tables on both sides.
func (s *shards) fill(t *testing.T) {
	t.Helper()
	for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
		for _, table := range shapeTables {
			must(t, c, "DELETE FROM "+table)
		}
		for _, sql := range shapeData {
			must(t, c, sql)
		}
	}
}

// shownAnswer shows a result for comparison. Rows are sorted unless the statement orders them.
func shownAnswer(r *mysqltest.RawResult, sql string, metadata bool) string {
	if r.Err != nil {
		return fmt.Sprintf("error %d %s", r.Err.Code, r.Err.State)
	}
	if r.OK != nil {
		return fmt.Sprintf("ok %d %s", r.OK.AffectedRows, r.OK.Info)
	}
	var lines []string
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			if v == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, fmt.Sprintf("%q", v))
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	if !strings.Contains(sql, "ORDER BY") {
		slices.Sort(lines)
	}
	head := ""
	for _, d := range r.Columns {
		head += fmt.Sprintf("%s:%d ", d.Name, d.Type)
		if metadata {
			head += fmt.Sprintf("%s.%s.%s/%s/%d/%d/%d/%x ", d.Schema, d.Table, d.OrgTable, d.OrgName, d.Type, d.Charset, d.Decimals, d.Flags)
		}
	}
	return head + "\n" + strings.Join(lines, "\n")
}

// anyRows are shapes that let the server choose rows or values: the number of rows is all that can be compared.
var anyRows = map[string]bool{"O06": true, "A16": true, "A22": true}

// anyOrder are shapes whose ORDER BY leaves ties or orders nothing: no server fixes the order of all rows.
var anyOrder = map[string]bool{"O03": true, "O04": true, "O05": true, "O07": true, "O09": true, "S19": true, "W01": true, "A21": true}

// anyPieces are shapes with a GROUP_CONCAT whose pieces tie or are not ordered: their letters are compared.
var anyPieces = map[string]bool{"A11": true, "A12": true}

// layouts are the numbers of sub-tables by node. With four tables a node the rows leave shards empty.
var layouts = [][]int{{1}, {1, 1}, {2, 2}, {4, 4, 4, 4}}

// shapesFile is testdata/shapes.yaml.
type shapesFile struct {
	Schema  string
	Queries []shape
}

func readShapes(t *testing.T) (file shapesFile) {
	t.Helper()
	data, err := os.ReadFile("testdata/shapes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestShapes runs the query shapes on one server and through the proxy, and writes or checks the table of their plans and
// refusals in docs/sql-support.md.
func TestShapes(t *testing.T) {
	file := readShapes(t)
	outcomes := make(shapeOutcomes)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			for range 2 {
				s, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: kind})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Stop() })
				servers = append(servers, s)
			}
			for _, locations := range layouts {
				s := startShards(t, servers, locations, file.Schema)
				s.fill(t)
				for _, q := range file.Queries {
					t.Run(fmt.Sprintf("%v/%s", locations, q.ID), func(t *testing.T) {
						outcomes.add(q, kind, len(locations) > 1, s.compare(t, q))
					})
				}
			}
		})
	}
	if !t.Failed() {
		outcomes.check(t, file.Queries)
	}
}

// accidents are errors of the proxy's own that refuse nothing: a server or a connection failed.
var accidents = []uint16{kserror.PoolTimeout, kserror.BackendUnreachable, kserror.BackendLost, kserror.Internal, kserror.TooManyWaiters, kserror.StatementBroken}

// compare runs a shape on both sides and tells how the proxy answers it: the name of the plan, "" for what is not its to
// plan, or the reason of a refusal.
func (s *shards) compare(t *testing.T, q shape) string {
	t.Helper()
	sql := strings.ReplaceAll(q.SQL, "LIMIT ? OFFSET ?", "LIMIT 3 OFFSET 2")
	outcome := s.plan(t, sql)
	write := q.ID[0] == 'D' || q.ID == "C05" || q.ID[0] == 'X'
	want, err := s.oracle.Query(sql)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.subject.Query(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if got.Err != nil && slices.Contains(accidents, got.Err.Code) {
		t.Fatalf("%s: %v", sql, got.Err)
	}
	if got.Err != nil && got.Err.Code > 9000 && got.Err.Code < 10000 {
		outcome = "refused: " + strings.TrimPrefix(got.Err.Message, "KS_REFUSED_SHARDING: ")
		if write {
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				_, _ = c.Query("ROLLBACK")
			}
			s.fill(t)
		}
		return outcome
	}
	order := sql
	if anyOrder[q.ID] {
		order = ""
	}
	w, g := shownAnswer(want, order, false), shownAnswer(got, order, false)
	switch {
	case want.Err != nil || got.Err != nil:
	case anyRows[q.ID]:
		w, g = fmt.Sprint(len(want.Rows)), fmt.Sprint(len(got.Rows))
	case anyPieces[q.ID]:
		w, g = letters(w), letters(g)
	}
	if w != g {
		t.Errorf("%s\n got %s\nwant %s", sql, g, w)
		if got.Err != nil {
			t.Log(got.Err)
		}
	}
	if !write {
		return outcome
	}
	for _, table := range shapeTables {
		check := "SELECT * FROM " + table
		if q.ID == "D07" && table == "orders" { // which row has which id is not said
			check = "SELECT user_id, status, amount, created_at FROM orders"
			s.both(t, "SELECT id FROM orders", "")
		}
		if w, g := shownAnswer(must(t, s.oracle, check), check, false), shownAnswer(must(t, s.subject, check), check, false); w != g {
			t.Errorf("%s, then %s\n got %s\nwant %s", sql, check, g, w)
		}
	}
	for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
		_, _ = c.Query("XA END 'x'")
		_, _ = c.Query("XA ROLLBACK 'x'")
		_, _ = c.Query("ROLLBACK")
		_, _ = c.Query("DROP TEMPORARY TABLE IF EXISTS t")
	}
	s.fill(t)
	return outcome
}

// plan is the plan of the first step that EXPLAIN shows, "" where the statement has none.
func (s *shards) plan(t *testing.T, sql string) string {
	t.Helper()
	r, err := s.subject.Query("EXPLAIN " + sql)
	if err != nil {
		t.Fatalf("EXPLAIN %s: %v", sql, err)
	}
	if r.Err != nil || len(r.Columns) < 2 || r.Columns[1].Name != "plan" {
		return ""
	}
	last := r.Rows[len(r.Rows)-1]
	return string(last[1].(string))
}

// letters are the letters of a text without regard to case and order.
func letters(text string) string {
	b := []byte(strings.ToLower(text))
	slices.Sort(b)
	return string(b)
}

// In the mode atomic the shapes that change rows, and those of sessions, answer as one server, outside of a transaction and in one that has changed all nodes; what such
// a transaction has changed is there behind COMMIT and not behind ROLLBACK. What is refused in it besides is documented.
func TestShapesOverNodes(t *testing.T) {
	file := readShapes(t)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, file.Schema, atomicConfig)
			s.fill(t)
			refused := map[string]int{}
			for _, q := range file.Queries {
				if q.ID[0] != 'D' && q.ID[0] != 'X' {
					continue
				}
				both := func(list ...string) {
					for _, sql := range list {
						must(t, s.oracle, sql)
						must(t, s.subject, sql)
					}
				}
				t.Run(q.ID, func(t *testing.T) {
					outside := strings.HasPrefix(s.compare(t, q), "refused: ")
					both("BEGIN", "UPDATE users SET age = age + 1")
					if within := strings.HasPrefix(s.compare(t, q), "refused: "); within && !outside {
						refused[q.ID]++
					}
					for _, end := range []string{"COMMIT", "ROLLBACK"} {
						both("BEGIN", "UPDATE users SET age = age + 1")
						for _, c := range []*mysqltest.RawClient{s.subject, s.oracle} {
							if r, err := c.Query(q.SQL); err != nil {
								t.Fatal(err)
							} else if r.Err != nil && r.Err.Code > 9000 && r.Err.Code < 10000 {
								break // nor is it run on the oracle
							}
						}
						both(end)
						for _, table := range shapeTables {
							check := "SELECT * FROM " + table
							if table == "orders" { // which row of INSERT ... SELECT has which id is not said
								check = "SELECT user_id, status, amount FROM orders"
							}
							if w, g := shownAnswer(must(t, s.oracle, check), check, false), shownAnswer(must(t, s.subject, check), check, false); w != g {
								t.Errorf("%s, then %s and %s\n got %s\nwant %s", q.SQL, end, check, g, w)
							}
						}
						for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
							_, _ = c.Query("DROP TEMPORARY TABLE IF EXISTS t")
						}
						s.fill(t)
					}
				})
			}
			if got := fmt.Sprint(refused); got != "map[D35:1 X06:1]" { // CALL and CREATE TEMPORARY TABLE
				t.Errorf("refused in a transaction alone: %s", got)
			}
		})
	}
}
