package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// mergeShard is a scripted shard of table t, number k of two: what it answers is in the statement, and of a number behind it
// the shard of that number alone. An answer that is held goes on behind its first row when held tells so.
func mergeShard(t *testing.T, k int, held <-chan struct{}) *mysqltest.ScriptServer {
	base := answers(fmt.Sprint("n", k))
	killed := make(chan struct{}, 16)
	columns := mysqltest.Strings("id", "note", "ks_h0") // the last is what the proxy adds to merge by
	for _, k := range []int{0, 2} {
		columns[k].Type, columns[k].Charset, columns[k].Length = mysql.TypeLongLong, 63, 20
	}
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case strings.Contains(text, "KILL QUERY"):
			killed <- struct{}{}
			c.OK()
			return
		case strings.Contains(text, "SELECT * FROM `db`.`t_"): // what columns there are
			c.Columns(append(columns[:2:2], mysqltest.Strings("tag")...)...)
			c.End()
			return
		}
		_, tag, is := strings.Cut(text, "tag = '")
		if !is {
			base(c, cmd, payload)
			return
		}
		tag, _, _ = strings.Cut(tag, "'")
		if of := tag[len(tag)-1]; of == '0' || of == '1' {
			if tag = tag[:len(tag)-1]; int(of-'0') != k {
				tag = "plain"
			}
		}
		rows, note, each := 3, "x", func() {}
		switch tag {
		case "error":
			c.Error(1365, "Division by 0")
			return
		case "cut":
			c.Cut()
			return
		case "slow":
			time.Sleep(20 * time.Millisecond)
		case "long":
			select {
			case <-killed:
				c.Error(mysql.ERQueryInterrupted, "Query execution was interrupted")
				return
			case <-time.After(10 * time.Second):
			}
		case "large":
			rows, note = 500, strings.Repeat("l", 200)
		case "held":
			each = sync.OnceFunc(func() {
				_ = c.Conn.Flush()
				select {
				case <-held:
				case <-time.After(10 * time.Second):
				}
			})
		case "pieces", "half":
			each = func() { _ = c.Conn.Flush(); time.Sleep(time.Millisecond) }
		}
		visible := 2
		if strings.Contains(text, "ks_h0") {
			visible = 3
		}
		c.Columns(columns[:visible]...)
		for n := range rows {
			c.Row([]any{2*n + k, note, 2*n + k}[:visible]...)
			each()
			if tag == "half" {
				c.Cut()
				return
			}
		}
		c.End()
	}})
}

// startMerging runs a proxy in the fast lane with two shards of table t, with so many connections each.
func startMerging(t *testing.T, conns int) *testProxy {
	t.Helper()
	return startShards(t, "db", node{name: "n0", master: mergeShard(t, 0, nil).Addr, conns: conns}, node{name: "n1", master: mergeShard(t, 1, nil).Addr, conns: conns})
}

// startShards runs a proxy in the fast lane with a table t of a database on two nodes, by its id.
func startShards(t *testing.T, db string, n0, n1 node, replace ...string) *testProxy {
	t.Helper()
	return startLane(t, shardsText(db, n0, n1, ""), replace...)
}

// shardsText is the configuration of startShards; more is added to the table's rule.
func shardsText(db string, n0, n1 node, more string) string {
	text := strings.Replace(configText([]node{n0, n1}), "schema_list:\n", `schema_list:
  - {user: merge, nodes: [n0, n1], default: n0, shard: [{db: `+db+`, table: t, key: id, type: hash, nodes: [n0, n1], locations: [1, 1]`+more+`}]}
`, 1)
	return strings.Replace(text, "user_list:\n", "user_list:\n  - {user: merge, password: merge}\n", 1)
}

func mergeClient(t *testing.T, p *testProxy) *mysqltest.RawClient {
	return dial(t, p.addr, mysqltest.ClientConfig{User: "merge", Password: "merge", DB: "db"})
}

func merged(tag string) string { return "SELECT id, note FROM t WHERE tag = '" + tag + "' ORDER BY id" }

// mergeWants is what a statement gives: the number of rows, from 0 on without a gap, or the code of an error.
var mergeWants = map[string]struct {
	rows int
	code uint16
}{
	"plain": {6, 0}, "plain0": {6, 0}, "plain1": {6, 0}, "pieces": {6, 0}, "slow1": {6, 0}, "slow0": {6, 0}, "large": {1000, 0},
	"error0": {0, 1365}, "error1": {0, 1365}, "error": {0, 1365}, "cut0": {0, kserror.BackendLost}, "cut": {0, kserror.BackendLost},
}

// mergeFault runs a statement and tells what is wrong with its answer.
func mergeFault(c *mysqltest.RawClient, tag string) string {
	want := mergeWants[tag]
	r, err := c.Query(merged(tag))
	switch {
	case err != nil:
		return err.Error()
	case want.code != 0 && (r.Err == nil || r.Err.Code != want.code):
		return fmt.Sprintf("%s: %v, want error %d", tag, r.Err, want.code)
	case want.code == 0 && r.Err != nil:
		return fmt.Sprintf("%s: %v", tag, r.Err)
	case len(r.Rows) != want.rows:
		return fmt.Sprintf("%s: %d rows, want %d", tag, len(r.Rows), want.rows)
	}
	for k, row := range r.Rows {
		if row[0] != fmt.Sprint(k) {
			return fmt.Sprintf("%s: row %d is of %v", tag, k, row[0])
		}
	}
	return ""
}

// A query on several shards whose answers are short stays in its loop; one that is not goes on on a goroutine, with the same answer.
func TestMergeInTheLane(t *testing.T) {
	p := startMerging(t, 4)
	c := mergeClient(t, p)
	for tag := range mergeWants {
		for range 3 {
			if fault := mergeFault(c, tag); fault != "" {
				t.Error(fault)
			}
		}
	}
	for range 3 {
		must(t, c, merged("plain"))
	}
	for range 5 {
		for _, tag := range []string{"plain", "pieces", "plain0", "plain1"} {
			loopedAll(t, p, 1, func() {
				if fault := mergeFault(c, tag); fault != "" {
					t.Error(fault)
				}
			})
		}
	}
	limited := func() {
		r := must(t, c, "SELECT id, note FROM t WHERE tag = 'plain' ORDER BY id LIMIT 1, 2")
		if len(r.Rows) != 2 || r.Rows[0][0] != "1" || r.Rows[1][0] != "2" {
			t.Errorf("LIMIT 1, 2: %v", r.Rows)
		}
	}
	limited() // the plan is known
	loopedAll(t, p, 1, limited)
	// Part of the rows are with the client already when a shard's connection breaks, or none are: it hears of it either way.
	for range 3 {
		other := mergeClient(t, p)
		for range 3 {
			r, err := other.Query(merged("half1"))
			if err != nil {
				break // the client was cut off behind the error before
			}
			if r.Err == nil || r.Err.Code != kserror.BackendLost && r.Err.Code != kserror.StatementBroken {
				t.Errorf("half of an answer: %d rows, %v", len(r.Rows), r.Err)
			}
		}
		other.Conn.Close()
	}
	p.quiet(1)
}

// A shard that is slow does not hold up the rows of the others: the client has all of a LIMIT that they can give, and the begin of a
// result without order.
func TestMergeDoesNotWaitForASlowShard(t *testing.T) {
	for _, lane := range []string{"true", "false"} {
		t.Run("lane "+lane, func(t *testing.T) {
			held := make(chan struct{})
			p := startShards(t, "db", node{name: "n0", master: mergeShard(t, 0, held).Addr, conns: 8}, node{name: "n1", master: mergeShard(t, 1, held).Addr, conns: 8},
				"fast_lane: "+lane)
			c := mergeClient(t, p)
			const limited, unordered = "SELECT id, note FROM t WHERE tag = '%s' LIMIT 3", "SELECT id, note FROM t WHERE tag = '%s'"
			for range 5 { // the plans are known
				must(t, c, fmt.Sprintf(limited, "plain"))
				must(t, c, fmt.Sprintf(unordered, "plain"))
			}
			if err := c.Send(mysql.ComQuery, fmt.Sprintf(limited, "held1")); err != nil {
				t.Fatal(err)
			}
			readAnswer(t, c)
			release(t, held)
			if err := c.Send(mysql.ComQuery, fmt.Sprintf(unordered, "held1")); err != nil {
				t.Fatal(err)
			}
			for range 4 { // the number of columns, two definitions, a row
				if b, err := c.Read(); err != nil || b[0] == mysql.ErrHeader {
					t.Fatalf("%q, %v", b, err)
				}
			}
			release(t, held)
			for b := []byte{0xff}; b[0] != mysql.EOFHeader; {
				var err error
				if b, err = c.Read(); err != nil || b[0] == mysql.ErrHeader {
					t.Fatalf("%q, %v", b, err)
				}
			}
			must(t, c, fmt.Sprintf(unordered, "plain"))
		})
	}
}

// release lets a shard go on that holds its answer, which it does for 10 s at most.
func release(t *testing.T, held chan<- struct{}) {
	t.Helper()
	select {
	case held <- struct{}{}:
	case <-time.After(5 * time.Second):
		t.Fatal("the shard holds nothing any more: its answer was waited for")
	}
}

// With autocommit off a query on several shards begins a transaction on each of them, which is the session's until it ends.
func TestMergeWithoutAutocommit(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for k := range 2 {
			must(t, setup, fmt.Sprintf("CREATE TABLE t_%04d (id BIGINT PRIMARY KEY)", k))
			must(t, setup, fmt.Sprintf("INSERT INTO t_%04d VALUES (%d), (%d)", k, k, k+2))
		}
		p := startShards(t, database, node{name: "n0", master: server.Addr, conns: 4}, node{name: "n1", master: server.Addr, conns: 4})
		c := dial(t, p.addr, mysqltest.ClientConfig{User: "merge", Password: "merge", DB: database})
		const count = "SELECT COUNT(*) FROM t"
		for range 5 {
			must(t, c, count)
		}
		must(t, c, "SET autocommit = 0")
		for n := 4; n < 10; n++ {
			if got := number(t, c, count); got != n {
				t.Errorf("%d rows, want %d", got, n)
			}
			must(t, setup, fmt.Sprintf("INSERT INTO t_%04d VALUES (%d)", n%2, n))
			if got := number(t, c, count); got != n {
				t.Errorf("%d rows in the same transaction, want %d", got, n)
			}
			must(t, c, "COMMIT")
		}
		must(t, c, "SET autocommit = 1")
		for range 4 { // all connections carry that by now
			settled(t, p)
			must(t, c, count)
		}
		for range 3 {
			loopedAll(t, p, 1, func() { must(t, c, count) })
		}
		p.quiet(1)
	})
}

// KILL ends the statement on its shards, and the session goes on.
func TestKillOfAMergeInTheLane(t *testing.T) {
	p := startMerging(t, 4)
	c, killer := mergeClient(t, p), mergeClient(t, p)
	for range 3 {
		must(t, c, merged("plain"))
	}
	// sent sends a statement that runs for long, and returns when a loop has sent it to the shards.
	sent := func(tag string) {
		t.Helper()
		settled(t, p)
		before := p.Totals().Looped
		if err := c.Send(mysql.ComQuery, merged(tag)); err != nil {
			t.Fatal(err)
		}
		mysqltest.WaitFor(t, tag+" to be in the fast lane", func() bool { return p.Totals().Looped == before+1 })
	}
	for _, tag := range []string{"long0", "long1", "long"} {
		sent(tag)
		must(t, killer, fmt.Sprintf("KILL QUERY %d", c.Greeting.ConnectionID))
		b, err := c.Read()
		if err != nil || len(b) < 3 || b[0] != mysql.ErrHeader || int(b[1])|int(b[2])<<8 != mysql.ERQueryInterrupted {
			t.Fatalf("%s: %q, %v", tag, b, err)
		}
		for range 3 {
			if fault := mergeFault(c, "plain"); fault != "" {
				t.Fatal(fault)
			}
		}
	}
	// A session that is killed leaves nothing behind.
	sent("long0")
	must(t, killer, fmt.Sprintf("KILL %d", c.Greeting.ConnectionID))
	p.quiet(1)
}

// Many clients with few connections, statements of all kinds, clients that leave and KILLs: every answer is that of its statement,
// and no connection is lost.
func TestMergesAtRandom(t *testing.T) {
	for _, conns := range []int{5, 30} {
		t.Run(fmt.Sprint(conns), func(t *testing.T) { mergesAtRandom(t, conns) })
	}
}

func mergesAtRandom(t *testing.T, conns int) {
	p := startMerging(t, conns)
	tags := []string{"plain", "plain", "plain", "plain", "pieces", "slow0", "slow1", "large", "error", "error1", "cut0"}
	end := time.Now().Add(2 * time.Second)
	var group sync.WaitGroup
	for n := range 12 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 3))
			c := mergeClient(t, p)
			defer func() { c.Conn.Close() }()
			for time.Now().Before(end) {
				switch k := random.IntN(40); {
				case k == 0: // it leaves while the statement is under way
					_ = c.Send(mysql.ComQuery, merged("slow1"))
					c.Conn.Close()
					c = mergeClient(t, p)
				case k == 1:
					must(t, c, "BEGIN")
					must(t, c, "SELECT note FROM t WHERE id = 1 AND tag = 'plain'")
					must(t, c, "COMMIT")
				case n == 0 && k < 20:
					r, err := c.Query(fmt.Sprintf("KILL QUERY %d", 1+random.IntN(30)))
					if err != nil || r.Err != nil && !slices.Contains([]uint16{mysql.ERNoSuchThread, mysql.ERQueryInterrupted, mysql.ERKillDenied}, r.Err.Code) {
						t.Errorf("KILL: %v, %v", err, r)
					}
				default:
					tag := tags[random.IntN(len(tags))]
					if fault := mergeFault(c, tag); fault != "" && !strings.Contains(fault, "interrupted") {
						t.Error(fault)
					}
				}
			}
		})
	}
	group.Wait()
	if n := p.Totals().Looped; n < 100 && conns >= 30 { // with few connections goroutines wait for them
		t.Errorf("%d statements were in the fast lane", n)
	}
	p.quiet(0)
}
