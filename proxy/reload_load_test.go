package proxy_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// loadReloads is how many reloads TestReloadsUnderRealLoad does; KS_RELOADS is stronger.
const loadReloads = 25

// Reloads that change users, nodes, rules and limits cost 64 busy clients no error and no change, and leave neither connections
// nor goroutines behind, with a real server.
func TestReloadsUnderRealLoad(t *testing.T) {
	reloads := loadReloads
	if text := os.Getenv("KS_RELOADS"); text != "" {
		var err error
		if reloads, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for shard := range 4 {
			must(t, direct, fmt.Sprintf("CREATE TABLE orders_%04d (id INT PRIMARY KEY, v INT NOT NULL)", shard))
		}
		must(t, direct, "CREATE TABLE plain (id INT PRIMARY KEY, v INT NOT NULL)")
		others := number(t, direct, connections)
		texts := loadTexts(server.Addr)
		p := startProxy(t, texts[0])
		const clients = 64
		setup := p.client(database)
		for k := range clients {
			must(t, setup, fmt.Sprintf("INSERT INTO orders (id, v) VALUES (%d, 0)", k))
			must(t, setup, fmt.Sprintf("INSERT INTO plain VALUES (%d, 0)", k))
		}
		setup.Close()
		mysqltest.WaitFor(t, "the probes", func() bool { return p.primary("n1").State() == backend.Up && p.primary("n2").State() == backend.Up })
		p.quiet(0)
		goroutines := runtime.NumGoroutine()
		var changed atomic.Int64
		stop := make(chan struct{})
		var load sync.WaitGroup
		for k := range clients {
			c := p.client(database)
			load.Go(func() {
				defer c.Close()
				changed.Add(busyClient(t, c, k, stop))
			})
		}
		for n := range reloads {
			before := p.Totals().Rows
			p.reload(texts[(n+1)%len(texts)])
			if p.Config().MaxClientConns != 1000+(n+1)%len(texts) {
				t.Fatalf("reload %d is not in force", n)
			}
			mysqltest.WaitFor(t, "the clients to go on", func() bool { return p.Totals().Rows > before+clients })
		}
		close(stop)
		load.Wait()
		p.reload(texts[0])
		p.quiet(0)
		// The pools of both nodes, and their probes.
		mysqltest.WaitFor(t, "the old connections to be closed", func() bool { return number(t, direct, connections) <= others+8+8+2 })
		mysqltest.WaitFor(t, "the old goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
		sum := number(t, direct, "SELECT SUM(v) FROM (SELECT v FROM orders_0000 UNION ALL SELECT v FROM orders_0001 UNION ALL SELECT v FROM orders_0002 "+
			"UNION ALL SELECT v FROM orders_0003 UNION ALL SELECT v FROM plain) t")
		if int64(sum) != changed.Load() || sum == 0 {
			t.Errorf("the tables have %d changes, the clients made %d", sum, changed.Load())
		}
		t.Logf("%d reloads, %d changes", reloads, sum)
	})
}

// loadTexts are configurations that differ by users, nodes, rules and limits; the place of each is in max_client_conns.
func loadTexts(addr string) []string {
	rule := "shard: [{db: " + database + ", table: orders, key: id, nodes: [n1, n2], type: hash, locations: [2, 2]}]"
	base := strings.Replace(configText([]node{{name: "n1", master: addr, conns: 8}, {name: "n2", master: addr, conns: 8}},
		"fast_lane: true\nconn_max_lifetime: 1h"), "default: n1}", "default: n1, "+rule+"}", 1)
	base = replaceLine(replaceLine(base, "pool_wait_timeout: 60s"), "connect_timeout: 30s") // a busy machine is no error
	texts := []string{
		base,
		strings.Replace(base, "  - {user: ks, password: ks}", "  - {user: ks, password: other, max_conns: 9, rights: read}\n  - {user: more, password: more}", 1) +
			"  - {user: more, nodes: [n2], default: n2}\n",
		strings.Replace(strings.Replace(base, "max_conns_limit: 8", "max_conns_limit: 12", 1), "\nschema_list:",
			"\n  - {name: n3, max_conns_limit: 3, user: root, password: root, master: \""+addr+"\", slave: \""+addr+"\"}\nschema_list:", 1),
		strings.Replace(base, "locations: [2, 2]}]", "locations: [2, 2]}, {db: "+database+", table: visits, key: at, nodes: [n1], type: date_year, date_range: [\"2024-2026\"]}]", 1),
		replaceLine(strings.ReplaceAll(base, "max_conns_limit: 8", "max_conns_limit: 5"), "conn_max_lifetime: 2h") + "max_prepared_stmts: 100\nlog_level: warn\nslow_log_time: 7\n",
	}
	for k := range texts {
		if k == 1 { // its last lines belong to schema_list
			texts[k] = fmt.Sprintf("max_client_conns: %d\n", 1000+k) + moveToEnd(texts[k], "  - {user: more, nodes")
			continue
		}
		texts[k] = fmt.Sprintf("max_client_conns: %d\n", 1000+k) + texts[k]
	}
	return texts
}

// moveToEnd moves the line with that begin behind the last entry of schema_list.
func moveToEnd(text, begin string) string {
	at := strings.Index(text, begin)
	line, rest, _ := strings.Cut(text[at:], "\n")
	text = text[:at] + rest
	last := strings.Index(text, "  - {user: ks, nodes")
	end := last + strings.Index(text[last:], "\n") + 1
	return text[:end] + line + "\n" + text[end:]
}

// busyClient runs statements of many kinds until stop is closed, and gives how many changes it made.
func busyClient(t *testing.T, c *mysqltest.RawClient, k int, stop <-chan struct{}) (changes int64) {
	st, err := c.Prepare("SELECT v FROM orders WHERE id = ?")
	if err != nil {
		t.Errorf("client %d: %v", k, err)
		return 0
	}
	for n := k; ; n++ {
		select {
		case <-stop:
			return changes
		default:
		}
		texts := [][]string{
			{fmt.Sprintf("SELECT v FROM orders WHERE id = %d", k)},
			{"BEGIN", fmt.Sprintf("UPDATE orders SET v = v + 1 WHERE id = %d", k), fmt.Sprintf("SELECT v FROM orders WHERE id = %d", k), "COMMIT"},
			{"SELECT COUNT(*), SUM(v) FROM orders"},
			{fmt.Sprintf("UPDATE plain SET v = v + 1 WHERE id = %d", k), "SELECT COUNT(*) FROM plain"},
			{"SET SESSION group_concat_max_len = " + strconv.Itoa(1024+n%3), "SELECT @@group_concat_max_len"},
		}[n%5]
		for _, text := range texts {
			if r, err := c.Query(text); err != nil || r.Err != nil {
				t.Errorf("client %d, %s: %v, %+v", k, text, err, r)
				return changes
			}
		}
		if n%5 == 1 || n%5 == 3 {
			changes++
		}
		if r, err := st.Execute(k); err != nil || r.Err != nil || len(r.Rows) != 1 {
			t.Errorf("client %d, prepared: %v, %+v", k, err, r)
			return changes
		}
	}
}
