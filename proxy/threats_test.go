package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Threats of docs/security.md, by the thousand: what one attacker cannot do, a crowd of them cannot either.

// Threat 1: five thousand sockets that send a byte at a time, and never log in, keep no client out and take little memory.
func TestDrippingCrowd(t *testing.T) {
	const crowd = 5000
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4))
	before := heap()
	sockets := make([]net.Conn, crowd)
	for k := range sockets {
		nc, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		sockets[k] = nc
	}
	for _, b := range "\x20\x00\x00\x01\x85" { // of a packet of 32 bytes
		for _, nc := range sockets {
			_, _ = nc.Write([]byte{byte(b)}) // the proxy may have closed it
		}
		for range 20 {
			c := dial(t, p.addr, rootClient())
			must(t, c, "SELECT name")
			c.Close()
		}
	}
	if grown := heap() - before; grown > 50<<20 {
		t.Errorf("%d sockets that never log in take %d MB", crowd, grown>>20)
	}
}

// Threat 2: a thousand packets of 16 MB ahead of logins are refused by their headers, and nothing is allocated for them.
func TestGiantPacketsOfACrowd(t *testing.T) {
	const crowd = 1000
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range crowd {
		nc, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Write([]byte{0xff, 0xff, 0xff, 1}); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, nc); err != nil || n > 1000 {
			t.Fatalf("%d bytes, %v: want the greeting and a close", n, err)
		}
		nc.Close()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / crowd; each > 256<<10 {
		t.Errorf("%d KB are allocated for each", each>>10)
	}
}

// Threat 4: results over several shards, in order, for clients that do not read them take no memory of the proxy, and clients that read are
// answered meanwhile.
func TestResultsNobodyReads(t *testing.T) {
	const crowd, rows = 16, 40_000
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	must(t, setup, "DROP DATABASE IF EXISTS "+database)
	must(t, setup, "CREATE DATABASE "+database)
	must(t, setup, "USE "+database)
	for k := range 2 {
		must(t, setup, fmt.Sprintf("CREATE TABLE bomb_%04d (id INT PRIMARY KEY, pad TEXT)", k))
		must(t, setup, fmt.Sprintf("INSERT INTO bomb_%04d SELECT seq * 2 + %d, REPEAT('x', 500) FROM seq_0_to_%d", k, k, rows/2-1))
	}
	p := startProxy(t, shardedText(server.Addr, "bomb", crowd+2))
	before := heap()
	var all []*mysqltest.RawClient
	for range crowd {
		c := p.client(database)
		if err := c.Send(mysql.ComQuery, "SELECT id, REPEAT(pad, 20) FROM bomb ORDER BY id"); err != nil { // 400 MB
			t.Fatal(err)
		}
		all = append(all, c)
	}
	mysqltest.WaitFor(t, "the results to begin", func() bool { return p.primary("n1").Stats().InUse == crowd && p.primary("n2").Stats().InUse == crowd })
	for range 50 {
		if n := number(t, p.client(database), "SELECT COUNT(*) FROM bomb"); n != rows {
			t.Fatalf("%d rows", n)
		}
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("%d results of 400 MB that nobody reads take %d MB", crowd, grown>>20)
	}
	for _, c := range all {
		c.Close()
	}
	p.quiet(51)
}

// shardedText configures root with a table over two nodes that are one server, rule hash by id.
func shardedText(addr, table string, conns int) string {
	return strings.Replace(configText([]node{{name: "n1", master: addr, conns: conns}, {name: "n2", master: addr, conns: conns}}),
		"  - {user: root, nodes: [n1, n2], default: n1}", fmt.Sprintf("  - {user: root, nodes: [n1, n2], default: n1, shard: [{db: %s, table: %s, key: id, type: mod, nodes: [n1, n2], locations: [1, 1]}]}", database, table), 1)
}

// Threat 5: the prepared statements of a crowd have a bound, short of which all goes on; what one gives back another has.
func TestPreparedStatementsTogether(t *testing.T) {
	p := startProxy(t, oneNode(startScript(t, "script").Addr, 4), "max_allowed_packet: 1M", "packet_memory: 8M")
	before := heap()
	text := "SELECT ? /* " + strings.Repeat("x", 100_000) + " */"
	var all []*mysqltest.RawClient
	prepared, refused := 0, 0
	for range 20 {
		c := p.client("")
		all = append(all, c)
		for range 20 {
			_, err := c.Prepare(text)
			var e *mysql.SQLError
			switch {
			case err == nil:
				prepared++
			case errors.As(err, &e) && e.Code == mysql.ERMaxPreparedStmtCount && strings.Contains(e.Message, "packet_memory"):
				refused++
			default:
				t.Fatal(err)
			}
		}
		must(t, c, "SELECT name")
	}
	if prepared < 60 || prepared > 84 || prepared+refused != 400 {
		t.Errorf("%d prepared, %d refused", prepared, refused)
	}
	// Servers' connections have some of the texts.
	if grown := heap() - before; grown > 40<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	for _, c := range all {
		c.Close()
	}
	p.quiet(0)
	if n := p.StatementBytes(); n != 0 {
		t.Errorf("%d bytes are still taken", n)
	}
}

// Threat 31: statements on a sharded table that are nested deep, or long, from many clients at once end in an answer each, and another client is
// answered meanwhile.
func TestStatementsThatCostTheParser(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, shardedText(server.Addr, "deep", 8), "max_allowed_packet: 32M")
	var texts []string
	for _, length := range []int{17 << 10, 200 << 10, 2 << 20} {
		for _, part := range []string{"(", "NOT ", "-", "1 OR ", "a = (SELECT 1 FROM deep WHERE ", "CASE WHEN 1 THEN ", "f(", "[", "/*", "'"} {
			texts = append(texts, "SELECT id FROM deep WHERE "+strings.Repeat(part, length/len(part)))
		}
		texts = append(texts, "SELECT id FROM "+strings.Repeat("deep,", length/5)+"deep")
	}
	texts = append(texts, "SELECT id FROM deep WHERE id IN (1"+strings.Repeat(",1", 100_000)+")")
	const crowd = 4
	var asking sync.WaitGroup
	for k := range crowd {
		asking.Go(func() {
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database, Timeout: 5 * time.Minute})
			for n := range texts {
				text := texts[(n+k*len(texts)/crowd)%len(texts)]
				if _, err := c.Query(text); err != nil {
					t.Errorf("%.60s… of %d bytes: %v", text, len(text), err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { asking.Wait(); close(done) }()
	for other := p.client(database); ; {
		must(t, other, "SELECT name")
		select {
		case <-done:
			return
		default:
		}
	}
}
