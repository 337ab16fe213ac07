package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// What each instance is sent is counted with it, whichever way it goes there: by an event loop, a goroutine, as a prepared statement, with
// others on one connection, to one shard or to all, and so are its errors and the bytes of its answers.
func TestLoadByInstance(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		for _, lane := range []string{"fast_lane: true", "fast_lane: false", "pipelined_sharing: true"} {
			p := startProxy(t, configText([]node{{name: "n1", master: server.Addr, conns: 4}, {name: "n2", master: server.Addr, conns: 4}}), lane)
			c := p.client(database)
			load := func() [2]string {
				var seen [2]string
				for k, name := range []string{"n1", "n2"} {
					l := p.primary(name).Load()
					seen[k] = fmt.Sprintf("%d/%d", l.Statements, l.Errors)
				}
				return seen
			}
			must(t, c, "SELECT 1")
			// A statement is counted when its answer has gone out.
			mysqltest.WaitFor(t, "the first count", func() bool { return p.primary("n1").Load().Statements == 1 })
			before := [2]uint64{p.primary("n1").Load().Statements, p.primary("n2").Load().Statements}
			bytesBefore := p.primary("n2").Load().Bytes
			for range 30 {
				must(t, c, "SELECT 1")
			}
			for range 20 {
				must(t, c, "/*n2*/SELECT '"+strings.Repeat("x", 1000)+"'")
			}
			for range 3 {
				if r, err := c.Query("/*n2*/SELECT * FROM nowhere"); err != nil || r.Err == nil {
					t.Fatalf("%v %v", r, err)
				}
			}
			want := [2]string{fmt.Sprintf("%d/0", before[0]+30), fmt.Sprintf("%d/3", before[1]+23)}
			mysqltest.WaitFor(t, "the counts", func() bool { return load() == want })
			l := p.primary("n2").Load()
			if l.Bytes-bytesBefore < 20_000 || l.Bytes-bytesBefore > 30_000 || l.Busy <= 0 {
				t.Errorf("%s: %+v", lane, l)
			}
			_ = c.Close()
		}
	})
}

// A statement on several shards counts with each instance, once for each of its shards.
func TestLoadByInstanceOfShards(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		for _, lane := range []string{"fast_lane: true", "fast_lane: false"} {
			text := strings.Replace(configText([]node{{name: "n1", master: server.Addr, conns: 4}, {name: "n2", master: server.Addr, conns: 4}}), "default: n1",
				"default: n1, shard: [{db: "+database+", table: loaded, key: id, nodes: [n1, n2], type: hash, locations: [2, 1]}]", 1)
			p := startProxy(t, text, lane)
			c := p.client(database)
			must(t, c, "DROP TABLE IF EXISTS loaded")
			must(t, c, "CREATE TABLE loaded (id INT PRIMARY KEY, v INT)")
			must(t, c, "INSERT INTO loaded VALUES (0, 1), (1, 1), (2, 1), (3, 1)")
			for _, s := range []struct {
				text   string
				n1, n2 uint64
			}{
				{"SELECT v FROM loaded WHERE id = 2", 0, 1}, {"SELECT v FROM loaded WHERE id = 1", 1, 0},
				{"SELECT COUNT(*) FROM loaded", 2, 1}, {"SELECT id FROM loaded ORDER BY id", 2, 1}, {"UPDATE loaded SET v = v + 1", 2, 1},
				{"SELECT COUNT(DISTINCT v) FROM loaded", 0, 0}, // by scratch tables: at least some
			} {
				load := func() (n1, n2 uint64) { return p.primary("n1").Load().Statements, p.primary("n2").Load().Statements }
				for range 3 { // the first time a plan is made, which may ask a server
					a1, a2 := load()
					must(t, c, s.text)
					mysqltest.WaitFor(t, s.text+" to be counted", func() bool {
						b1, b2 := load()
						if s.n1+s.n2 == 0 {
							return b1 > a1 && b2 > a2
						}
						return b1-a1 >= s.n1 && b2-a2 >= s.n2
					})
				}
				a1, a2 := load()
				must(t, c, s.text)
				mysqltest.WaitFor(t, s.text+" to be counted", func() bool {
					b1, b2 := load()
					return s.n1+s.n2 == 0 || b1-a1 == s.n1 && b2-a2 == s.n2
				})
			}
			must(t, c, "DROP TABLE loaded")
			_ = c.Close()
		}
	})
}
