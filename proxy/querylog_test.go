package proxy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// shopText is a configuration with two nodes and a sharded table shop.orders for user root.
func shopText(a, b string, more ...string) string {
	text := configText([]node{{name: "a", master: a, conns: 8}, {name: "b", master: b, conns: 8}}, more...)
	return strings.Replace(text, "  - {user: root, nodes: [a, b], default: a}\n", `  - user: root
    nodes: [a, b]
    default: a
    shard:
      - {db: shop, table: orders, key: id, type: mod, nodes: [a, b], locations: [1, 1]}
`, 1)
}

// logText waits until a log has so many lines, which are written by the by.
func logText(t *testing.T, path string, lines int) string {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		b, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), "\n"); n >= lines || time.Now().After(deadline) {
			if n != lines {
				t.Errorf("%d lines, want %d:\n%s", n, lines, b)
			}
			return string(b)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// What statements did is in the statistics and in the log: plan, shards, rows, errors, by text without values.
func TestStatementStatistics(t *testing.T) {
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	direct := dial(t, server.Addr, rootClient())
	for _, text := range []string{
		"DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "CREATE TABLE shop.other (id INT, a INT)", "INSERT INTO shop.other VALUES (1, 1)",
		"CREATE TABLE shop.orders_0000 (id INT, a INT)", "CREATE TABLE shop.orders_0001 (id INT, a INT)",
		"INSERT INTO shop.orders_0000 VALUES (0, 0), (2, 0)", "INSERT INTO shop.orders_0001 VALUES (1, 1)",
	} {
		must(t, direct, text)
	}
	defer must(t, direct, "DROP DATABASE shop")
	dir := t.TempDir()
	p := startProxy(t, shopText(server.Addr, server.Addr, "log_path: "+dir))
	c := dial(t, p.addr, rootClient())
	for k := range 3 {
		must(t, c, fmt.Sprintf("SELECT a FROM shop.orders WHERE id = %d", k))
	}
	must(t, c, "SELECT a FROM shop.other WHERE id IN (1, 2)")
	must(t, c, "SELECT a FROM shop.orders")
	must(t, c, "BEGIN")
	if r, err := c.Query("KILL 'x'"); err != nil || r.Err == nil {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := c.Query("UPDATE shop.orders SET id = @a WHERE id = 1"); err != nil || r.Err == nil {
		t.Errorf("%v, %v", r, err)
	}
	log := logText(t, filepath.Join(dir, "sql.log"), 8)

	type row struct {
		text          string
		count, errors uint64
		rows, shards  uint64
		plan          querylog.Plan
	}
	var got []row
	for _, d := range p.Queries().Digests() {
		got = append(got, row{d.Text, d.Count, d.Errors, d.Rows, d.Shards, d.Plan})
		if d.User != "root" || d.DB != "" || d.Total.Max == 0 || d.Total.P50 > d.Total.Max || d.Exec.Max > d.Total.Max || d.Last.Before(d.First) || time.Since(d.First) > time.Hour ||
			(d.Bytes == 0) != (d.Rows == 0) || (d.Exec.Max == 0) != (d.Shards == 0) {
			t.Errorf("%+v", d)
		}
	}
	slices.SortFunc(got, func(a, b row) int { return strings.Compare(a.text, b.text) })
	want := []row{
		{"BEGIN", 1, 0, 0, 0, querylog.PlanLocal},
		{"KILL ?", 1, 1, 0, 1, querylog.PlanForward},
		{"SELECT a FROM shop.orders", 1, 0, 3, 2, querylog.PlanMerge},
		{"SELECT a FROM shop.orders WHERE id = ?", 3, 0, 3, 3, querylog.PlanForward},
		{"SELECT a FROM shop.other WHERE id IN (?)", 1, 0, 1, 1, querylog.PlanForward},
		{"UPDATE shop.orders SET id = @a WHERE id = ?", 1, 1, 0, 0, querylog.PlanLocal},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, part := range []string{
		`user="root" client="127.0.0.1:`, `backend="` + server.Addr + `" plan="forward" shards=1 `, `backend="` + server.Addr + `" plan="merge" shards=2 `,
		`backend="" plan="local" shards=0 `, ` error=1094 sql="KILL ?"`,
	} {
		if !strings.Contains(log, part) {
			t.Errorf("no %s in\n%s", part, log)
		}
	}
}

// A value and a password that went through the proxy are nowhere to be found: logs, statistics, metrics.
func TestCanaries(t *testing.T) {
	const literal, secret = "canary-literal-5d1f", "canary-secret-77ab"
	server := startScript(t, "a")
	dir := t.TempDir()
	text := oneNode(server.Addr, 8, "log_path: "+dir, "prometheus_addr: 127.0.0.1:0")
	p := startProxy(t, text)
	run := func(c *mysqltest.RawClient, values ...string) {
		for _, v := range values {
			for _, form := range []string{
				"SELECT '%s'", "SELECT 1 /* %s */", "INSERT INTO t VALUES ('%s', NOW())", "SELECT '%s", "CREATE USER u IDENTIFIED BY '%s'", "SET PASSWORD = '%s'",
				"SET @password = '%s'", "ALTER USER root IDENTIFIED BY '%s'", "CHANGE MASTER TO MASTER_PASSWORD = '%s'", "KILL '%s'",
			} {
				_, _ = c.Query(fmt.Sprintf(form, v))
			}
		}
	}
	c := dial(t, p.addr, rootClient())
	run(c, literal, secret)
	_, metrics := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
	p.reload(replaceLine(text, "log_literals: true"))
	run(c, "shown")
	for _, form := range []string{"CREATE USER u IDENTIFIED BY '%s'", "SET PASSWORD = '%s'", "ALTER USER root IDENTIFIED BY '%s'"} {
		_, _ = c.Query(fmt.Sprintf(form, secret))
	}
	p.stop(10 * time.Second)
	logs := map[string]string{"metrics": metrics, "log": p.log.String(), "digests": fmt.Sprint(p.Queries().Digests())}
	for _, name := range []string{"sql.log", "audit.log"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		logs[name] = string(b)
	}
	for name, text := range logs {
		if strings.Contains(text, literal) || strings.Contains(text, secret) || text == "" {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if !strings.Contains(logs["sql.log"], `SELECT 'shown'`) || !strings.Contains(logs["audit.log"], `user="test" from="" action="reload" object="log_literals" old="false" new="true"`) {
		t.Errorf("the reload did nothing:\n%s\n%s", logs["sql.log"], logs["audit.log"])
	}
}

// A disk that does not answer delays no query: more lines than the queue has room for, and all statements are answered.
func TestStalledLogFile(t *testing.T) {
	server := startScript(t, "a")
	dir := t.TempDir()
	path := filepath.Join(dir, "sql.log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened, so that the proxy's open returns, but not read before the end.
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	p := startProxy(t, oneNode(server.Addr, 8, "log_path: "+dir, "log_literals: true"))
	long := "SELECT '" + strings.Repeat("x", 15<<10) + "'"
	var clients sync.WaitGroup
	const each = 200
	for range 4 {
		c := dial(t, p.addr, rootClient())
		clients.Go(func() {
			for range each {
				if r, err := c.Query(long); err != nil || r.Err != nil {
					t.Errorf("%v, %v", r, err)
					return
				}
			}
		})
	}
	clients.Wait()
	// A statement is counted after its answer is sent.
	mysqltest.WaitFor(t, "the last line", func() bool { return p.Queries().Stats().SQL.Lines == 4*each })
	if st := p.Queries().Stats(); st.SQL.Dropped == 0 {
		t.Errorf("the queue did not fill up: %+v", st)
	}
	p.reload(oneNode(server.Addr, 8, "log_path: "+dir)) // does not wait either
	done := make(chan struct{})
	go func() { p.stop(20 * time.Second); close(done) }()
	for b := make([]byte, 1<<20); ; {
		select {
		case <-done:
			return
		default:
			if n, _ := syscall.Read(fd, b); n <= 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}
}

// Executions of prepared statements count, too; a statement's own class decides its metric; log files are opened anew at a reload.
func TestPreparedStatementsAndReopen(t *testing.T) {
	server := startScript(t, "a")
	dir := t.TempDir()
	path := filepath.Join(dir, "sql.log")
	text := oneNode(server.Addr, 8, "log_path: "+dir, "log_sql_format: kingshard")
	p := startProxy(t, text)
	c := dial(t, p.addr, rootClient())
	st, err := c.Prepare("SELECT a FROM t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := st.Execute(int64(5)); err != nil || r.Err != nil {
			t.Fatalf("%v, %v", r, err)
		}
	}
	if got := logText(t, path, 2); !strings.HasSuffix(got, ":SELECT a FROM t WHERE id = ?\n") || !strings.Contains(got, "ms - 127.0.0.1:") || !strings.Contains(got, "->"+server.Addr+":SELECT") {
		t.Errorf("%s", got)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	p.reload(text) // nothing changed
	must(t, c, "SELECT 1")
	logText(t, path, 1)
	rows := p.Queries().Digests()
	if len(rows) != 2 || rows[0].Count+rows[1].Count != 3 {
		t.Errorf("%+v", rows)
	}
	p.reload(replaceLine(replaceLine(text, "log_sql: off"), "digests: 0"))
	must(t, c, "SELECT 1")
	if p.Queries().On() || p.Queries().Stats().SQL.Lines != 3 {
		t.Errorf("still on: %+v", p.Queries().Stats())
	}
}
