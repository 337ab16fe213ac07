package proxy_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// mergeRows is how many rows each shard has: KS_MERGE_ROWS, 5,000 by default.
func mergeRows(t *testing.T) int {
	t.Helper()
	v := os.Getenv("KS_MERGE_ROWS")
	if v == "" {
		return 5000
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1000 {
		t.Fatalf("KS_MERGE_ROWS is %q", v)
	}
	return n
}

// An ordered merge of eight shards holds a row of each, however many there are: with LIMIT the shards stop early, without it the
// rows stream through.
func TestOrderedMergeStreams(t *testing.T) {
	const shards = 8
	rows := mergeRows(t)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database, Timeout: 5 * time.Minute})
		must(t, setup, "CREATE TABLE numbers (x BIGINT PRIMARY KEY)")
		must(t, setup, "INSERT INTO numbers VALUES (0)")
		for n := 1; n < rows; n *= 2 {
			must(t, setup, fmt.Sprintf("INSERT INTO numbers SELECT x + %d FROM numbers WHERE x + %d < %d", n, n, rows))
		}
		var nodes []node
		var names, locations []string
		for k := range shards {
			// Every node is the same server: what is looked at is the proxy.
			nodes = append(nodes, node{name: fmt.Sprintf("n%d", k), master: server.Addr, conns: 2})
			names, locations = append(names, nodes[k].name), append(locations, "1")
			must(t, setup, fmt.Sprintf("CREATE TABLE big_%04d (id BIGINT PRIMARY KEY, sorted BIGINT, pad CHAR(80), KEY (sorted, id))", k))
			must(t, setup, fmt.Sprintf("INSERT INTO big_%04d SELECT x * %d + %d, x DIV 3, REPEAT('p', 80) FROM numbers", k, shards, k))
			must(t, setup, fmt.Sprintf("ANALYZE TABLE big_%04d", k))
		}
		config := strings.Replace(configText(nodes), "schema_list:\n", fmt.Sprintf("schema_list:\n  - {user: merge, nodes: [%[1]s], default: n0, shard: [{db: %[2]s, table: big, key: id, type: hash, nodes: [%[1]s], locations: [%[3]s]}]}\n",
			strings.Join(names, ", "), database, strings.Join(locations, ", ")), 1)
		config = strings.Replace(config, "user_list:\n", "user_list:\n  - {user: merge, password: merge}\n", 1)
		p := startProxy(t, config)
		c := dial(t, p.addr, mysqltest.ClientConfig{User: "merge", Password: "merge", DB: database, Timeout: 5 * time.Minute})
		must(t, c, "SELECT COUNT(*) FROM big")
		before, resident := heap(), rss(t)

		begin := time.Now()
		limited := must(t, c, "SELECT id, sorted, pad FROM big ORDER BY sorted, id LIMIT 10")
		if len(limited.Rows) != 10 || limited.Rows[9][0] != "9" {
			t.Errorf("LIMIT 10: %v", limited.Rows)
		}
		t.Logf("LIMIT 10 after %v", time.Since(begin).Round(time.Millisecond))

		if err := c.Send(mysql.ComQuery, "SELECT id, sorted, pad FROM big ORDER BY sorted, id"); err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		most, count, last, lastID := 0, 0, int64(-1), int64(-1)
		for k := 0; ; k++ {
			packet, err := c.Conn.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			if packet[0] == mysql.ErrHeader {
				t.Fatalf("row %d: %q", count, packet)
			}
			if k < 4 { // the number of columns and three definitions
				continue
			}
			if packet[0] == mysql.EOFHeader && len(packet) < 100 {
				break
			}
			if count++; count == 1 {
				t.Logf("the first row after %v", time.Since(begin).Round(time.Millisecond))
			}
			cursor := mysql.NewCursor(packet)
			id, _ := strconv.ParseInt(string(cursor.LenencBytes()), 10, 64)
			sorted, _ := strconv.ParseInt(string(cursor.LenencBytes()), 10, 64)
			if sorted < last || sorted == last && id <= lastID {
				t.Fatalf("row %d: %d, %d behind %d, %d", count, sorted, id, last, lastID)
			}
			last, lastID = sorted, id
			if count%(rows*shards/8) == 0 {
				most = max(most, heap()-before)
			}
		}
		if count != rows*shards {
			t.Errorf("%d rows, want %d", count, rows*shards)
		}
		if most > 8<<20 {
			t.Errorf("the heap grew by %d KB for %d rows", most>>10, count)
		}
		t.Logf("%d rows after %v; heap %+d KB, resident memory %+d KB of %d KB", count, time.Since(begin).Round(time.Millisecond), most>>10, (rss(t)-resident)>>10, resident>>10)
	})
}

// rss is the resident memory of this process, in bytes.
func rss(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
