package remote

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// two are samples ten seconds apart.
func two() (before, now *sample) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before = &sample{at: at, status: map[string]string{
		"Started": "x", "Uptime": "100", "Commands": "1000", "Commands_COM_QUERY": "900", "Commands_COM_STMT_EXECUTE": "100", "Command_microseconds_mean": "1000",
		"Rows": "0", "Row_bytes": "0", "Errors_client": "5", "Errors_proxy": "0", "Errors_backend": "0",
	}, digests: []digest{
		{user: "app", db: "shop", statement: "SELECT 1", plan: "forward", count: 500, total: 400, p95: 2},
		{user: "app", db: "shop", statement: "SELECT idle", plan: "forward", count: 9, total: 9000, p95: 2000},
		{user: "app", db: "shop", statement: "SELECT was evicted", plan: "forward", count: 50, total: 50},
	}, nodes: []map[string]string{
		{"node": "node1", "instance": "10.0.0.1:3306", "role": "primary", "statements": "5000", "errors": "10", "busy_ms": "10000", "bytes": "1048576"},
		{"node": "node1", "instance": "10.0.0.2:3306", "role": "replica", "statements": "7", "busy_ms": "70"},
	}}
	now = &sample{at: at.Add(10 * time.Second), status: map[string]string{
		"Started": "x", "State": "online", "Uptime": "110", "Sessions": "3", "Config_generation": "2", "Instances_in_use": "1", "Instances_down": "1",
		"Commands": "31000", "Commands_COM_QUERY": "900", "Commands_COM_STMT_EXECUTE": "30100", "Command_microseconds_mean": "1935",
		"Rows": "123456", "Row_bytes": "52428800", "Errors_client": "5", "Errors_proxy": "20", "Errors_backend": "1",
	}, digests: []digest{
		{user: "app", db: "shop", statement: "SELECT 1", plan: "forward", count: 25500, errors: 20, total: 50400, p95: 4.5},
		{user: "app", db: "shop", statement: "SELECT idle", plan: "forward", count: 9, total: 9000, p95: 2000},
		{user: "app", db: "shop", statement: "SELECT was evicted", plan: "merge", count: 10, total: 5000, p95: 700},
		{plan: "mixed", count: 20, total: 45000, p95: 9000},
	}, nodes: []map[string]string{
		{"node": "node1", "instance": "10.0.0.1:3306", "role": "primary", "state": "up", "held_down": "NO", "version": "11.4.2", "statements": "25000", "errors": "30", "busy_ms": "50000", "bytes": "2097152"},
		{"node": "node1", "instance": "10.0.0.2:3306", "role": "replica", "state": "down", "held_down": "YES"},
		{"node": "node2", "instance": "10.0.0.3:3306", "role": "primary", "state": "up"},
	}, pools: []map[string]string{
		{"instance": "10.0.0.1:3306", "in_use": "12", "max": "64", "open": "40", "waiting": "0", "timed_out": "3"},
		{"instance": "10.0.0.2:3306", "in_use": "0", "max": "64", "open": "0", "waiting": "0", "timed_out": "0"},
	}, sessions: []map[string]string{
		{"id": "7", "user": "app", "host": "10.0.9.9:5000", "db": "sh\x1b[31mop", "command": "Query", "seconds": "12", "age": "3600", "in_transaction": "YES", "pins": "get_lock", "instance": "10.0.0.1:3306"},
	}}
	return before, now
}

func TestFrame(t *testing.T) {
	before, now := two()
	const head = `kingshard online, up 1m50s, 3 sessions, configuration 2
3000 queries/s, mean 1.97 ms; 3000 commands/s; 12.3k rows/s, 5 MB/s
errors/s: 0 client, 2 proxy, 0.1 backend; instances: 1 up, 1 down

`
	for _, c := range []struct {
		v    view
		want string
	}{
		{viewDigests, `time%  count/s  mean ms   p95 ms  errors  plan     user  db    statement
 50.0     2500     2.00     4.50      20  forward  app   shop  SELECT 1
 45.0        2  2250.00  9000.00       0  mixed                (all that have no row of their own)
  5.0        1   500.00   700.00       0  merge    app   shop  SELECT was evicted
`},
		{viewNodes, `node   instance       role     state        stmts/s  mean ms  errors/s  bytes/s  in use  max  open  waiting  timeouts  version
node1  10.0.0.1:3306  primary  up              2000     2.00         2  102 KB       12   64    40        0         3  11.4.2
node1  10.0.0.2:3306  replica  down (held)        0     0.00         0  0 B           0   64     0        0         0
`},
		{viewSessions, `id  seconds   age  command  transaction  pins      user  db            host           instance
 7       12  3600  Query    yes          get_lock  app   sh\x1b[31mop  10.0.9.9:5000  10.0.0.1:3306
`},
	} {
		lines := frame(now, now.since(before), c.v, 200, 30)
		if len(lines) != 30 || !strings.HasPrefix(lines[29], "keys:") {
			t.Errorf("%c: %d lines, the last is %q", c.v, len(lines), lines[len(lines)-1])
		}
		got := strings.TrimRight(strings.Join(lines[:29], "\n"), "\n") + "\n"
		if got != head+c.want {
			t.Errorf("%c: got\n%swant\n%s", c.v, got, head+c.want)
		}
	}
}

// A frame fits every terminal.
func TestFrameFits(t *testing.T) {
	before, now := two()
	for _, v := range []view{viewDigests, viewNodes, viewSessions} {
		for _, size := range [][2]int{{1, 1}, {20, 2}, {80, 6}, {300, 100}, {0, 0}} {
			lines := frame(now, now.since(before), v, size[0], size[1])
			if len(lines) != max(size[1], 1) {
				t.Errorf("%c in %v: %d lines", v, size, len(lines))
			}
			for _, line := range lines {
				if utf8.RuneCountInString(line) > size[0] {
					t.Errorf("%c in %v: %q", v, size, line)
				}
			}
		}
	}
}

// After a restart of the proxy, and without an earlier sample, the time is that since its start.
func TestSinceTheStart(t *testing.T) {
	before, now := two()
	before.status["Started"] = "earlier"
	for _, b := range []between{now.since(nil), now.since(before)} {
		if b.seconds != 110 || int(b.queries) != 281 || len(b.digests) != 4 || b.digests[0].count != 25500 {
			t.Errorf("%+v", b)
		}
	}
	if b := new(sample).since(nil); b.queries != 0 || b.mean != 0 || len(b.digests) != 0 {
		t.Errorf("of nothing: %+v", b)
	}
}

// One frame of a real proxy, in each view.
func TestTopOnce(t *testing.T) {
	t.Setenv(passwordVariable, "canary-watcher")
	l := login{addr: startProxy(t), user: "watcher"}
	l.tls.Mode = "preferred"
	db, err := l.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for v, want := range map[view][]string{
		viewDigests:  {"kingshard online, up ", " 1 sessions, configuration 1\n", "time%  count/s"},
		viewNodes:    {"node1  127.0.0.1:1  primary  unknown", "node1  127.0.0.1:2  replica  unknown"},
		viewSessions: {"Query", "watcher", "127.0.0.1"},
	} {
		var out bytes.Buffer
		if err := printOnce(context.Background(), db, v, &out); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%c: no %q in\n%s", v, text, out.String())
			}
		}
		if strings.ContainsAny(out.String(), "\x1b\r") {
			t.Errorf("%c: not plain text: %q", v, out.String())
		}
	}
}
