package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
	"kingshard/proxy"
)

// explained are statements beside the shapes of proxy/session, in the database shop.
var explained = []string{
	"SELECT * FROM users WHERE id IN (1, 5) ORDER BY id LIMIT 3",
	"SELECT name FROM users WHERE id IN (1, 5) ORDER BY name",
	"SELECT name, COUNT(*) FROM users GROUP BY name ORDER BY name",
	"SELECT country, SUM(balance), AVG(age) FROM users GROUP BY country",
	"SELECT DISTINCT country FROM users",
	"SELECT MAX(created_at) FROM orders",
	"SELECT * FROM users WHERE id = '5'",
	"SELECT * FROM users WHERE id BETWEEN 1 AND 3 ORDER BY created_at DESC, id LIMIT 10",
	"SELECT u.name, o.amount FROM users u JOIN orders o ON u.id = o.user_id WHERE u.id = 7",
	"SELECT u.name, o.amount FROM users u JOIN orders o ON u.id = o.user_id ORDER BY o.amount",
	"SELECT u.name, p.amount FROM users u JOIN payments p ON u.id = p.payer_ref",
	"SELECT u.name, c.name FROM users u JOIN countries c ON c.code = u.country ORDER BY u.name",
	"SELECT i.sku, s.title FROM order_items i JOIN sku_catalog s ON s.sku = i.sku",
	"SELECT title FROM sku_catalog WHERE sku = 'a'",
	"SELECT JSON_EXTRACT(profile, '$.a') FROM users ORDER BY profile",
	"SELECT email FROM users ORDER BY email LIMIT 2, 3",
	"INSERT INTO users (id, name) VALUES (1, 'a'), (2, 'b')",
	"INSERT INTO orders (user_id, amount) VALUES (1, 2.5), (2, 3.5)",
	"INSERT INTO users VALUES (1, 'a', 'b', 'DE', 3, 4.5, NOW(), NULL, NULL)",
	"INSERT INTO orders (user_id, status) SELECT id, name FROM users WHERE id < 5",
	"UPDATE users SET age = age + 1 WHERE country = 'DE'",
	"UPDATE users SET age = age + 1 WHERE country = 'DE' ORDER BY id LIMIT 1",
	"UPDATE orders SET amount = 0 WHERE user_id = 3",
	"UPDATE users SET id = 7 WHERE id = 6",
	"DELETE FROM order_items LIMIT 3",
	"DELETE FROM orders WHERE user_id IN (1, 2, 3)",
	"SELECT * FROM users WHERE name = (SELECT MAX(name) FROM users)",
	"SELECT name FROM users UNION SELECT status FROM orders",
	"WITH x AS (SELECT id, age FROM users) SELECT AVG(age) FROM x",
	"SELECT id, ROW_NUMBER() OVER (PARTITION BY country ORDER BY age) FROM users",
	"SELECT GROUP_CONCAT(name ORDER BY name) FROM users",
	"SELECT COUNT(DISTINCT country) FROM users",
	"SELECT HEX(name) FROM users FOR UPDATE",
}

// rig is a running proxy over two servers, with the tables of the shapes.
type rig struct {
	subject *mysqltest.RawClient
	config  string // its file
	dump    string // of the tables before they were sharded
	sql     []string
}

func startRig(t *testing.T, kind mysqltest.Kind) *rig {
	t.Helper()
	data, err := os.ReadFile("../../proxy/session/testdata/shapes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var shapes struct {
		Schema  string
		Queries []struct{ SQL string }
	}
	if err := yaml.Unmarshal(data, &shapes); err != nil {
		t.Fatal(err)
	}
	r := &rig{sql: explained}
	for _, s := range shapes.Queries {
		switch info := sqltext.Classify(s.SQL, sqltext.Mode{}); info.Class {
		case sqltext.Select, sqltext.With, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete:
			if !info.Has(sqltext.Multi) {
				r.sql = append(r.sql, s.SQL)
			}
		}
	}
	login := mysqltest.ClientConfig{User: "root", Password: "root", Timeout: time.Minute}
	var addrs []string
	var direct *mysqltest.RawClient
	for k := range 2 {
		server, err := mysqltest.StartServer(context.Background(), mysqltest.ServerConfig{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Stop() })
		addrs = append(addrs, server.Addr)
		c := client(t, server.Addr, login)
		mustExec(t, c, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		if k == 0 {
			direct = c
		}
	}
	r.config = filepath.Join(t.TempDir(), "ks.yaml")
	text := fmt.Sprintf(`addr: 127.0.0.1:0
connect_timeout: 60s
user_list:
  - {user: root, password: root}
nodes:
  - {name: n0, user: root, password: root, master: "%s"}
  - {name: n1, user: root, password: root, master: "%s"}
schema_list:
  - user: root
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: users, key: id, type: hash, nodes: [n0, n1], locations: [2, 2], unique: local}
      - {db: shop, table: orders, key: user_id, colocate_with: users}
      - {db: shop, table: order_items, key: user_id, colocate_with: users}
      - {db: shop, table: payments, key: merchant_id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: countries, type: reference}
`, addrs[0], addrs[1])
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
	login.DB = "shop"
	r.subject = client(t, srv.Addr().String(), login)
	mustExec(t, direct, "CREATE DATABASE plain CHARACTER SET utf8mb4")
	mustExec(t, direct, "USE plain")
	r.dump = "-- Server version\t" + mustExec(t, direct, "SELECT VERSION()").Rows[0][0].(string) + "\n"
	for _, create := range strings.Split(strings.TrimSpace(shapes.Schema), "\n") {
		mustExec(t, r.subject, create)
		mustExec(t, direct, create)
		r.dump += mustExec(t, direct, "SHOW CREATE TABLE "+strings.Fields(create)[2]).Rows[0][1].(string) + ";\n"
	}
	return r
}

func client(t *testing.T, addr string, login mysqltest.ClientConfig) *mysqltest.RawClient {
	t.Helper()
	c, err := mysqltest.DialRaw(addr, login)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustExec(t *testing.T, c *mysqltest.RawClient, sql string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Exec(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// told is what the proxy's EXPLAIN says of a statement, a line for each step; "unsharded" where a server answers, and the error's message.
func (r *rig) told(t *testing.T, sql string) string {
	t.Helper()
	res, err := r.subject.Query("EXPLAIN " + sql)
	if err != nil {
		t.Fatal(err)
	}
	if res.Err != nil {
		return "error: " + res.Err.Message
	}
	if len(res.Columns) != 8 || res.Columns[1].Name != "plan" {
		return "unsharded"
	}
	var lines []string
	for _, row := range res.Rows {
		text := func(v any) string {
			s, _ := v.(string)
			return s
		}
		lines = append(lines, strings.Join([]string{text(row[1]), text(row[2]), text(row[3]), text(row[4]), text(row[5]), text(row[6]), text(row[7])}, " | "))
	}
	return strings.Join(lines, "\n")
}

// command is what the command says of it, in the same form.
func (r *rig) command(t *testing.T, sql string, flags ...string) string {
	t.Helper()
	out, _ := capture(t, append(append([]string{"explain", "-config", r.config, "-json"}, flags...), sql)...)
	var steps []struct {
		Plan, Reason, Node, SQL, Help, Scratch string
		Shards                                 []string
	}
	if err := json.Unmarshal([]byte(out), &steps); err != nil {
		t.Fatalf("%s: %v in %q", sql, err, out)
	}
	if len(steps) == 1 && (steps[0].Plan == "refuse" || steps[0].Plan == "unreadable") {
		return "error: " + steps[0].Reason
	}
	if len(steps) == 1 && strings.HasPrefix(steps[0].Reason, "no table with a rule") {
		return "unsharded"
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, strings.Join([]string{s.Plan, s.Reason, s.Node, strings.Join(s.Shards, ","), s.SQL, s.Help, s.Scratch}, " | "))
	}
	return strings.Join(lines, "\n")
}

// classesOf are the classes that a report may have for a statement, by the first plan that EXPLAIN shows.
var classesOf = map[string][]string{
	"error:": {"refused", "unreadable"}, "unsharded": {"unsharded"}, "forward": {"one shard"}, "merge": {"merged"}, "gather": {"finished"}, "finish": {"finished"},
	"write": {"several nodes", "one node"}, "insert": {"several nodes", "one node", "one shard"}, "number": {"several nodes"}, "choose": {"several nodes"},
	"pick": {"several nodes"}, "move": {"several nodes", "one node"}, "transfer": {"several nodes"},
}

// judged is the class of the one statement of a log.
func (r *rig) judged(t *testing.T, log, dumped string) string {
	t.Helper()
	out, _ := capture(t, "explain", "-config", r.config, "-json", "-schema", dumped, "-db", "shop", "-log", log)
	var rep jsonReport
	if err := json.Unmarshal([]byte(out), &rep); err != nil || len(rep.Digests) != 1 {
		t.Fatalf("%v in %q", err, out)
	}
	return rep.Digests[0].Class
}

// TestExplainEqualsTheProxys compares what kingshard explain says, with the columns of a dump and of the servers, with EXPLAIN of a running proxy.
func TestExplainEqualsTheProxys(t *testing.T) {
	for _, kind := range mysqltest.Kinds() {
		if kind == mysqltest.MySQL56 {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			r := startRig(t, kind)
			dumped := filepath.Join(t.TempDir(), "dump.sql")
			if err := os.WriteFile(dumped, []byte(r.dump), 0o600); err != nil {
				t.Fatal(err)
			}
			if len(r.sql) < 100 {
				t.Fatalf("only %d statements", len(r.sql))
			}
			kinds := map[string]int{}
			log := filepath.Join(t.TempDir(), "general.log")
			for _, sql := range r.sql {
				want := r.told(t, sql)
				kinds[strings.SplitN(want, " ", 2)[0]]++
				for _, flags := range [][]string{{"-schema", dumped, "-db", "shop"}, {"-servers"}} {
					got := r.command(t, sql, flags...)
					if strings.HasPrefix(want, "error: ") && strings.HasPrefix(got, "error: ") && strings.Contains(want, strings.TrimPrefix(got, "error: ")) {
						continue // the client hears a few words more
					}
					if got != want {
						t.Errorf("%s\n%v: %s\n    proxy: %s", sql, flags, got, want)
					}
				}
				if err := os.WriteFile(log, []byte("2024-03-01T10:20:30.123456Z\t    8 Query\t"+sql+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				first, _, _ := strings.Cut(want, " ")
				if got := r.judged(t, log, dumped); !slices.Contains(classesOf[first], got) {
					t.Errorf("%s\nin a log: %s\n    proxy: %s", sql, got, want)
				}
			}
			// A table that is not there is told of, and its columns are not known.
			mustExec(t, r.subject, "DROP TABLE payments")
			if got := r.command(t, "SELECT id FROM payments ORDER BY country", "-servers"); got != "error: ORDER BY an expression whose type is not known: the columns of payments are not known; a condition merchant_id = … would ask one shard" {
				t.Errorf("without the table: %s", got)
			}
			if kinds["merge"] < 10 || kinds["gather"]+kinds["finish"] < 10 {
				t.Errorf("plans: %v", kinds)
			}
		})
	}
}
