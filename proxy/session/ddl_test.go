package session_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy"
)

// ddlProxy is a proxy over two servers with sharded tables that do not exist yet, and one server beside it.
type ddlProxy struct {
	srv   *proxy.Server
	addr  string
	log   *safeLog
	c     *mysqltest.RawClient   // of the user app
	one   *mysqltest.RawClient   // the one server
	nodes []*mysqltest.RawClient // the servers themselves
	// servers are the one server, and those of the nodes.
	servers []*mysqltest.RealServer
}

// safeLog is a log that several goroutines write.
type safeLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// ddlConfig has two sub-tables of a table on each node. u and w lie together, v elsewhere.
const ddlConfig = `
addr: 127.0.0.1:0
user_list:
  - {user: app, password: app}
  - {user: other, password: other}
  - {user: root, password: root}
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - &schema
    user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: u, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: w, key: u_id, colocate_with: u}
      - {db: shop, table: v, key: id, type: hash, nodes: [n1], locations: [3]}
      - {db: shop, table: r, type: reference}
  - {<<: *schema, user: other}
  - {<<: *schema, user: root}
`

// TestDDL runs DDL on MariaDB and on MySQL 9, every part with empty databases.
func TestDDL(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := []*mysqltest.RealServer{mysqltest.Shared(t, kind), startServer(t, kind), startServer(t, kind)}
			for _, part := range []struct {
				name string
				f    func(*testing.T, *ddlProxy)
			}{
				{"answers", testDDLAnswers}, {"resume", testDDLResume}, {"everywhere", testDDLFailsEverywhere}, {"users", testDDLUsers},
				{"drop", testDropResume}, {"session", testDDLSession}, {"kill", testDDLKill}, {"vanished", testDDLVanished},
				{"shutdown", testDDLShutdown}, {"lost", testDDLLost},
			} {
				t.Run(part.name, func(t *testing.T) { part.f(t, startDDL(t, servers)) })
			}
		})
	}
}

func startServer(t *testing.T, kind mysqltest.Kind) *mysqltest.RealServer {
	t.Helper()
	s, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: kind})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// serve starts a proxy of a configuration over the servers.
func (p *ddlProxy) serve(t *testing.T, text string) *proxy.Server {
	t.Helper()
	cfg, faults := config.Parse(fmt.Appendf(nil, text, p.servers[1].Addr, p.servers[2].Addr), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	srv, err := proxy.New(cfg, slog.New(slog.NewTextHandler(p.log, nil)))
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
	return srv
}

func startDDL(t *testing.T, servers []*mysqltest.RealServer) *ddlProxy {
	t.Helper()
	return startDDLWith(t, servers, ddlConfig)
}

// startDDLWith starts a proxy of a configuration, over databases that are empty.
func startDDLWith(t *testing.T, servers []*mysqltest.RealServer, text string) *ddlProxy {
	t.Helper()
	p := &ddlProxy{log: new(safeLog), servers: servers}
	p.srv = p.serve(t, text)
	for k, server := range servers {
		c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		must(t, c, "DROP DATABASE IF EXISTS shop")
		must(t, c, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		must(t, c, "USE shop")
		if k == 0 {
			p.one = c
		} else {
			p.nodes = append(p.nodes, c)
		}
	}
	p.addr = p.srv.Addr().String()
	p.c = p.client(t, "app")
	return p
}

func (p *ddlProxy) client(t *testing.T, user string) *mysqltest.RawClient {
	t.Helper()
	return dial(t, p.addr, mysqltest.ClientConfig{User: user, Password: user, DB: "shop"})
}

// column joins the first column of a result.
func column(r *mysqltest.RawResult) string {
	var cells []string
	for _, row := range r.Rows {
		cells = append(cells, fmt.Sprint(row[0]))
	}
	return strings.Join(cells, " ")
}

// tables lists the tables of each node.
func (p *ddlProxy) tables(t *testing.T) string {
	t.Helper()
	var lists []string
	for _, n := range p.nodes {
		lists = append(lists, column(must(t, n, "SHOW TABLES")))
	}
	return strings.Join(lists, " | ")
}

// answerOf shows what a statement was answered, warnings included.
func answerOf(t *testing.T, c *mysqltest.RawClient, sql string) string {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	shown := shownAnswer(r, "ORDER BY", false)
	if r.OK != nil {
		shown += fmt.Sprintf(" warnings %d", r.OK.Warnings)
	}
	w := must(t, c, "SHOW WARNINGS")
	return shown + "\n" + shownAnswer(w, "ORDER BY", false)
}

// Every kind of DDL answers as on one server: the outcome, its numbers and texts, the warnings.
func testDDLAnswers(t *testing.T, p *ddlProxy) {
	for _, sql := range []string{
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b VARCHAR(10) DEFAULT 'x')",
		"CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY)",
		"CREATE TABLE u (id INT PRIMARY KEY)",
		"CREATE TABLE w LIKE u",
		"CREATE TABLE v (id INT PRIMARY KEY, KEY (id))",
		"CREATE TABLE r (id INT PRIMARY KEY)",
		"INSERT INTO u (id, a) VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)",
		"ALTER TABLE u ADD COLUMN c INT NOT NULL DEFAULT 7, ADD KEY a (a)",
		"ALTER TABLE u ADD COLUMN c INT",
		"ALTER TABLE u ADD KEY a (a)",
		"ALTER TABLE u DROP COLUMN nothing",
		"ALTER TABLE u MODIFY id BIGINT, ALGORITHM=COPY",
		"ALTER TABLE u ENGINE=InnoDB COMMENT 'a comment'",
		"ALTER TABLE IF EXISTS u ADD COLUMN d INT, DROP FOREIGN KEY IF EXISTS fk_nothing",
		"ALTER TABLE IF EXISTS u ADD COLUMN d INT",
		"alter online table if exists shop.u drop column if exists d",
		"CREATE INDEX b ON u (b)",
		"CREATE UNIQUE INDEX b ON u(b, id)",
		"DROP INDEX a ON u",
		"DROP INDEX a ON u",
		"SELECT id, a, b, c FROM u ORDER BY id",
		"ANALYZE TABLE u",
		"CHECK TABLE u, w",
		"CHECK TABLE u QUICK",
		"OPTIMIZE TABLE u",
		"REPAIR TABLE u",
		"ANALYZE TABLE r",
		"ALTER TABLE w CHANGE id u_id BIGINT",
		"RENAME TABLE w TO w",
		"TRUNCATE TABLE u",
		"TRUNCATE u",
		"SELECT COUNT(*) FROM u",
		"DROP TABLE w",
		"ALTER TABLE u RENAME TO w",
		"RENAME TABLE w TO u",
		"RENAME TABLE w TO u",
		"DROP TABLE w",
		"DROP TABLE IF EXISTS w",
		"ALTER TABLE IF EXISTS w ADD COLUMN d INT",
		"SHOW WARNINGS",
		"DROP TABLE IF EXISTS u, w, v, r",
		"DROP TABLE u",
		"TRUNCATE TABLE u",
		"CHECK TABLE u",
	} {
		want, got := answerOf(t, p.one, sql), answerOf(t, p.c, sql)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
	if left := p.tables(t); left != " | " {
		t.Errorf("left are %s", left)
	}
}

// row gives the cells of the only row of a result.
func row(t *testing.T, r *mysqltest.RawResult) []string {
	t.Helper()
	if len(r.Rows) != 1 {
		t.Fatalf("%d rows: %v", len(r.Rows), r.Rows)
	}
	var cells []string
	for _, v := range r.Rows[0] {
		cells = append(cells, fmt.Sprint(v))
	}
	return cells
}

// unfinished runs a statement that must be done in part only, and gives the error's text and the statement's id.
func unfinished(t *testing.T, c *mysqltest.RawClient, sql string) (text, id string) {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil || r.Err == nil || r.Err.Code != 9015 || r.Err.State != "HY000" {
		t.Fatalf("%s: %v, %+v", sql, err, r)
	}
	return r.Err.Message, strings.Fields(r.Err.Message)[1]
}

// wantColumns compares the columns of every sub-table of u.
func (p *ddlProxy) wantColumns(t *testing.T, want string) {
	t.Helper()
	for k := range 4 {
		got := strings.Fields(column(must(t, p.nodes[k/2], fmt.Sprintf("SHOW COLUMNS FROM u_%04d", k))))
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("u_%04d has %s, not %s", k, got, want)
		}
	}
}

// A statement that fails on one table is done on the others, says which, and is finished by its number.
func testDDLResume(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	must(t, p.nodes[0], "ALTER TABLE u_0001 ADD COLUMN a INT")
	text, id := unfinished(t, p.c, "ALTER TABLE u ADD COLUMN a INT DEFAULT 7 COMMENT 'secret'")
	for _, part := range []string{"done: n0/shop.u_0000 n1/shop.u_0002 n1/shop.u_0003;", "failed: n0/shop.u_0001;", "1060", "ADMIN DDL RESUME " + id} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %q", part, text)
		}
	}
	list := row(t, must(t, p.c, "admin ddl list;"))
	if got := strings.Join(append(list[:1:1], list[2:8]...), ","); got != id+",app,unfinished,ALTER TABLE u ADD COLUMN a INT DEFAULT 7 COMMENT 'secret',4,3,1" || !strings.Contains(list[8], "1060") {
		t.Errorf("%q", list)
	}
	// The outcome was certain: the same error again is no success.
	if _, again := unfinished(t, p.c, "ADMIN DDL RESUME"); again != id {
		t.Errorf("id %s, was %s", again, id)
	}
	must(t, p.nodes[0], "ALTER TABLE u_0001 DROP COLUMN a")
	// It runs in the state that it was sent in, whatever this session's is.
	c := p.client(t, "app")
	must(t, c, "USE information_schema")
	must(t, c, "ADMIN DDL RESUME "+id)
	p.wantColumns(t, "a id")
	if r := must(t, p.c, "ADMIN DDL LIST"); len(r.Rows) != 0 || len(r.Columns) != 9 {
		t.Errorf("%v", r.Rows)
	}
	must(t, p.c, "BEGIN")
	must(t, p.c, "INSERT INTO u (id) VALUES (5)")
	fails(t, p.c, "ADMIN DDL RESUME", 9016)
	fails(t, p.c, "ADMIN DDL RESUME "+id, 9016)
	must(t, p.c, "ROLLBACK") // nothing was resumed, so nothing was committed
	fails(t, p.c, "ADMIN DDL FORGET "+id, 9016)
	must(t, p.c, "INSERT INTO u (id) VALUES (1), (2), (3), (4)")
	if got := column(must(t, p.c, "SELECT a FROM u")); got != "7 7 7 7" {
		t.Error(got)
	}
	log := p.log.String()
	if strings.Contains(log, "secret") || !strings.Contains(log, "failed=n0/shop.u_0001") || !strings.Contains(log, "ADD COLUMN a INT DEFAULT 7 COMMENT '...'") {
		t.Error(log)
	}
}

// What fails everywhere has changed nothing: the client hears the server's error and nothing is kept.
func testDDLFailsEverywhere(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	fails(t, p.c, "ALTER TABLE u DROP COLUMN a", 1091)
	fails(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)", 1050)
	fails(t, p.c, "DROP TABLE w", 1051)
	fails(t, p.c, "DROP TABLE w, v", 1051)
	if r := must(t, p.c, "ADMIN DDL LIST"); len(r.Rows) != 0 {
		t.Errorf("%v", r.Rows)
	}
}

// Unfinished statements belong to who sent them; who sees other users' sessions sees these too.
func testDDLUsers(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY)")
	must(t, p.nodes[1], "ALTER TABLE u_0003 ADD COLUMN a INT")
	_, first := unfinished(t, p.c, "ALTER TABLE u ADD COLUMN a INT")
	must(t, p.nodes[1], "ALTER TABLE u_0003 ADD COLUMN b INT")
	_, second := unfinished(t, p.c, "ALTER TABLE u ADD COLUMN b INT")
	other, root := p.client(t, "other"), p.client(t, "root")
	if r := must(t, other, "ADMIN DDL LIST"); len(r.Rows) != 0 {
		t.Errorf("%v", r.Rows)
	}
	for _, sql := range []string{"ADMIN DDL RESUME", "ADMIN DDL RESUME " + first, "ADMIN DDL FORGET " + first} {
		fails(t, other, sql, 9016)
	}
	fails(t, p.c, "ADMIN DDL RESUME", 9016) // which one?
	fails(t, root, "ADMIN DDL RESUME", 9016)
	if got := column(must(t, root, "ADMIN DDL LIST")); got != first+" "+second {
		t.Error(got)
	}
	must(t, root, "ADMIN DDL FORGET "+second)
	must(t, p.nodes[1], "ALTER TABLE u_0003 DROP COLUMN a")
	must(t, root, "ADMIN DDL RESUME "+first)
	p.wantColumns(t, "a b id")
	for _, sql := range []string{"ADMIN", "ADMIN DDL", "ADMIN DDL FORGET", "ADMIN DDL LIST 1", "ADMIN DDL RESUME 0", "ADMIN DDL RESUME 1 2", "ADMIN DDL RESUME x", "ADMIN DDL DROP 1"} {
		fails(t, p.c, sql, 1064)
	}
}

// DROP TABLE of tables that do not lie together goes on where it stopped, whatever the servers dropped.
func testDropResume(t *testing.T, p *ddlProxy) {
	for _, sql := range []string{"CREATE TABLE u (id INT PRIMARY KEY)", "CREATE TABLE v (id INT PRIMARY KEY)", "CREATE TABLE r (id INT PRIMARY KEY)"} {
		must(t, p.c, sql)
	}
	must(t, p.nodes[1], "CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES v_0001 (id))")
	text, _ := unfinished(t, p.c, "DROP TABLE u, v, r")
	if !strings.Contains(text, "done: n0/shop.u_0000 n0/shop.u_0001 n0/shop.r; unknown: n1/shop.u_0002 n1/shop.u_0003 n1/shop.v_0000 n1/shop.v_0001 and 2 more;") {
		t.Error(text)
	}
	must(t, p.nodes[1], "DROP TABLE child")
	must(t, p.c, "ADMIN DDL RESUME")
	if left := p.tables(t); left != " | " {
		t.Errorf("left are %s", left)
	}
}
