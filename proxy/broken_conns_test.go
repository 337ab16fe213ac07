package proxy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// breaker passes bytes between a proxy and a server, and breaks a connection as a test says.
type breaker struct {
	addr   string
	target string

	mu    sync.Mutex
	pairs map[*brokenPair]bool
	how   string // what happens to the connection on which mark comes, once
	mark  string
	acted bool
	wg    sync.WaitGroup
}

// brokenPair is one connection through a breaker.
type brokenPair struct {
	near, far *net.TCPConn
	ours      bool // a statement of the test came on it
	mute      bool // what the server answers is not passed on
	answered  chan struct{}
}

// The ways in which a connection breaks: while it lies idle, when the statement has come but is not read, and when it was read.
const (
	closedBefore  = "closed before"
	resetBefore   = "reset before"
	closedUnread  = "closed with the statement unread"
	closedLost    = "closed with the statement read, which the server never had"
	closedCarried = "closed with the statement carried out"
	resetCarried  = "reset with the statement carried out"
)

var breaks = []string{closedBefore, resetBefore, closedUnread, closedLost, closedCarried, resetCarried}

func startBreaker(t *testing.T, target string) *breaker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &breaker{addr: l.Addr().String(), target: target, pairs: map[*brokenPair]bool{}}
	b.wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				nc.Close()
				continue
			}
			p := &brokenPair{near: nc.(*net.TCPConn), far: far.(*net.TCPConn), answered: make(chan struct{}, 1)}
			b.mu.Lock()
			b.pairs[p] = true
			b.mu.Unlock()
			b.wg.Go(func() { b.requests(p) })
			b.wg.Go(func() { b.answers(p) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		b.mu.Lock()
		for p := range b.pairs {
			p.near.Close()
			p.far.Close()
		}
		b.mu.Unlock()
		b.wg.Wait()
	})
	return b
}

// requests passes on what the proxy sends.
func (b *breaker) requests(p *brokenPair) {
	defer p.close()
	raw, err := p.near.SyscallConn()
	if err != nil {
		return
	}
	peek, buf := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _, err = syscall.Recvfrom(int(fd), peek, syscall.MSG_PEEK)
			return err != syscall.EAGAIN
		})
		if err != nil || n <= 0 {
			return
		}
		how := b.seen(p, peek[:n])
		if how == closedUnread {
			return
		}
		if n, err = p.near.Read(buf); err != nil {
			return
		}
		if how == closedLost {
			return
		}
		if _, err := p.far.Write(buf[:n]); err != nil {
			return
		}
		if how == closedCarried || how == resetCarried {
			<-p.answered
			if how == resetCarried {
				_ = p.near.SetLinger(0)
			}
			return
		}
	}
}

// seen tells what happens now that these bytes have come.
func (b *breaker) seen(p *brokenPair, request []byte) (how string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.ours = p.ours || bytes.Contains(request, []byte("arr"))
	if b.mark == "" || !bytes.Contains(request, []byte(b.mark)) {
		return ""
	}
	b.mark, b.acted = "", true
	p.mute = true
	return b.how
}

// answers passes on what the server sends.
func (b *breaker) answers(p *brokenPair) {
	defer p.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := p.far.Read(buf)
		if err != nil {
			close(p.answered)
			return
		}
		b.mu.Lock()
		mute := p.mute
		b.mu.Unlock()
		if mute {
			select {
			case p.answered <- struct{}{}:
			default:
			}
			_, _ = io.Copy(io.Discard, p.far)
			return
		}
		if _, err := p.near.Write(buf[:n]); err != nil {
			close(p.answered)
			return
		}
	}
}

func (p *brokenPair) close() {
	p.near.Close()
	p.far.Close()
}

// set has the next connection break on which mark comes, or at once those of the test's own.
func (b *breaker) set(how, mark string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.how, b.mark, b.acted = how, "", false
	if how != closedBefore && how != resetBefore {
		b.mark = mark
		return
	}
	b.acted = true
	for p := range b.pairs {
		if !p.ours {
			continue
		}
		delete(b.pairs, p)
		if how == resetBefore {
			_ = p.near.SetLinger(0)
		}
		p.close()
	}
}

func (b *breaker) hasActed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.acted
}

// breakPath is a way for a statement to a server. Tag is in what it sends and, if it changes anything, in the rows that it adds.
type breakPath struct {
	name string
	// prepare makes the session ready; run is the statement, whose connection breaks.
	prepare func(t *testing.T, c *mysqltest.RawClient, tag string) (run func() (*mysqltest.RawResult, error))
	read    string // what it reads; empty if it is a change
	held    bool   // the session holds the connection
	inside  bool   // the change is in a transaction, which is lost with the connection
	// transaction says that the session has nothing else on the connection: it goes on without it.
	transaction bool
	mark        string // what the breaker waits for; else the tag
	rows        int    // that it adds; 0 is 1, none is 0
	elsewhere   bool   // any server can carry it out as well
	onlyBefore  bool   // it has no room for the tag
	never       bool   // it is told that nothing was carried out, whenever the connection breaks
}

const none = -1

// breakPaths are the ways.
func breakPaths(p *testProxy, shares bool) []breakPath {
	text := func(before []string, form string) func(*testing.T, *mysqltest.RawClient, string) func() (*mysqltest.RawResult, error) {
		return func(t *testing.T, c *mysqltest.RawClient, tag string) func() (*mysqltest.RawResult, error) {
			for _, text := range before {
				must(t, c, strings.ReplaceAll(text, "%s", tag))
			}
			return func() (*mysqltest.RawResult, error) { return c.Query(strings.ReplaceAll(form, "%s", tag)) }
		}
	}
	prepared := func(before []string, form string, warm string) func(*testing.T, *mysqltest.RawClient, string) func() (*mysqltest.RawResult, error) {
		return func(t *testing.T, c *mysqltest.RawClient, tag string) func() (*mysqltest.RawResult, error) {
			for _, text := range before {
				must(t, c, text)
			}
			st, err := c.Prepare(form)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if r, err := st.Execute(warm); err != nil || r.Err != nil {
					t.Fatal(err, r)
				}
			}
			return func() (*mysqltest.RawResult, error) { return st.Execute(tag) }
		}
	}
	warm := []string{"SELECT 1 FROM arr WHERE id = 1", "INSERT INTO arr (tag) VALUES ('warm')"}
	warmShards := []string{"SELECT id FROM arrs WHERE note <> 'warm' ORDER BY id", "UPDATE arrs SET n = n + 1"}
	paths := []breakPath{
		{name: "text", prepare: text(warm, "INSERT INTO arr (tag) VALUES ('%s')")},
		{name: "long text", prepare: text(warm, "INSERT INTO arr (tag, v) VALUES ('%s', '"+strings.Repeat("x", 30_000)+"')")},
		{name: "prepared", prepare: prepared(warm, "INSERT INTO arr (tag) VALUES (?)", "warm")},
		{name: "other setting", prepare: func(t *testing.T, c *mysqltest.RawClient, tag string) func() (*mysqltest.RawResult, error) {
			must(t, c, "SET sql_mode = 'ANSI'")
			must(t, c, warm[0])
			other := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database}) // whose setting is the connection's from here on
			for _, text := range warm {
				must(t, other, text)
			}
			return func() (*mysqltest.RawResult, error) { return c.Query("INSERT INTO arr (tag) VALUES ('" + tag + "')") }
		}},
		{name: "SET", prepare: text(warm, "SET sql_mode = 'ANSI' /* %s */"), rows: none, elsewhere: true},
		{name: "USE", prepare: text(warm, "USE "+database), rows: none, onlyBefore: true},
		{name: "preparation", read: "[]", prepare: func(t *testing.T, c *mysqltest.RawClient, tag string) func() (*mysqltest.RawResult, error) {
			must(t, c, warm[0])
			return func() (*mysqltest.RawResult, error) {
				_, err := c.Prepare("SELECT n FROM arr WHERE id = 1 AND tag <> '" + tag + "'")
				r := new(mysqltest.RawResult)
				if errors.As(err, &r.Err) {
					err = nil
				}
				return r, err
			}
		}},
		{name: "one shard", prepare: text(warmShards, "INSERT INTO arrs (id, tag) VALUES (301, '%s'), (303, '%s')"), rows: 2},
		{name: "read", prepare: text(warm, "SELECT n FROM arr WHERE id = 1 AND tag <> '%s'"), read: "[[7]]"},
		{name: "prepared read", prepare: prepared(warm, "SELECT n FROM arr WHERE id = 1 AND tag <> ?", "warm"), read: "[[7]]"},
		{name: "SHOW", prepare: text(warm, "SHOW TABLES LIKE 'arr%s'"), read: "[]"},
		{name: "merge", prepare: text(warmShards, "SELECT id FROM arrs WHERE note <> '%s' AND id < 5 ORDER BY id"), read: "[[1] [2] [3] [4]]"},
		{name: "prepared merge", prepare: prepared(warmShards, "SELECT id FROM arrs WHERE note <> ? AND id < 5 ORDER BY id", "warm"), read: "[[1] [2] [3] [4]]"},
		{name: "finish", prepare: text(warmShards, "SELECT COUNT(*) FROM arrs a JOIN arrs b ON a.id = b.id + 1 WHERE a.note <> '%s' AND a.id < 5"), read: "[[3]]"},
		{name: "change of several nodes", prepare: text(warmShards, "INSERT INTO arrs (id, tag) VALUES (201, '%s'), (202, '%s'), (203, '%s'), (204, '%s')"), rows: 4, never: true},
		{name: "in a transaction", transaction: true, prepare: text(append(warm, "BEGIN", "INSERT INTO arr (tag) VALUES ('%s')"), "INSERT INTO arr (tag) VALUES ('%s')"), held: true, inside: true},
		{name: "prepared in a transaction", transaction: true, prepare: prepared(append(warm, "BEGIN"), "INSERT INTO arr (tag) VALUES (?)", "warm"), held: true, inside: true},
		{name: "first of a transaction", transaction: true, prepare: text(append(warm, "BEGIN"), "INSERT INTO arr (tag) VALUES ('%s')"), inside: true},
		{name: "autocommit off", transaction: true, prepare: text(append(warm, "SET autocommit = 0", "SELECT 1 FROM arr WHERE id = 1"), "INSERT INTO arr (tag) VALUES ('%s')"), held: true, inside: true},
		{name: "COMMIT", transaction: true, prepare: text(append(warm, "BEGIN", "INSERT INTO arr (tag) VALUES ('%s')"), "COMMIT"), held: true, mark: "COMMIT"},
		{name: "pinned", prepare: text(append(warm, "CREATE TEMPORARY TABLE arr_own (id INT)"), "INSERT INTO arr (tag) VALUES ('%s')"), held: true},
	}
	if shares {
		paths = append(paths, breakPath{name: "shared", read: "[[7]]", prepare: func(t *testing.T, c *mysqltest.RawClient, tag string) func() (*mysqltest.RawResult, error) {
			learn(t, p, c, "SELECT n FROM arr WHERE id = 1 AND tag <> 'warm'")
			return func() (*mysqltest.RawResult, error) {
				return c.Query("SELECT n FROM arr WHERE id = 1 AND tag <> '" + tag + "'")
			}
		}})
	}
	return paths
}

// A statement whose connection breaks is carried out once, or not and the client is told so, or its outcome is unknown: that only where
// the server, or who stands between, had it.
func TestBrokenConnections(t *testing.T) {
	cases := 0
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE arr (id INT AUTO_INCREMENT PRIMARY KEY, tag VARCHAR(100) NOT NULL, n INT NOT NULL DEFAULT 7, v MEDIUMTEXT)")
		must(t, direct, "INSERT INTO arr (tag) VALUES ('first')")
		for k := range 2 {
			table := fmt.Sprintf("arrs_%04d", k)
			must(t, direct, "CREATE TABLE "+table+" (id INT AUTO_INCREMENT, tag VARCHAR(100) NOT NULL, note VARCHAR(100) NOT NULL DEFAULT '', n INT NOT NULL DEFAULT 0, KEY (id))")
		}
		must(t, direct, "INSERT INTO arrs_0000 (id, tag) VALUES (2, 'first'), (4, 'first')")
		must(t, direct, "INSERT INTO arrs_0001 (id, tag) VALUES (1, 'first'), (3, 'first')")
		for _, lane := range []string{"fast_lane: false", "fast_lane: true", "fast_lane: true\npipelined_sharing: true"} {
			// Both nodes are on one server; the breaker is before the second of them, where unsharded tables are, too.
			b := startBreaker(t, server.Addr)
			text := strings.Replace(configText([]node{{name: "n1", master: b.addr, conns: 3}, {name: "n0", master: server.Addr, conns: 3}}, lane), "  - {user: root, nodes: [n1, n0], default: n1}",
				"  - {user: root, nodes: [n1, n0], default: n1, shard: [{db: "+database+", table: arrs, key: id, type: hash, nodes: [n0, n1], locations: [1, 1]}]}", 1)
			p := startProxy(t, text, "health_interval: 1h")
			for _, n := range []string{"n0", "n1"} {
				mysqltest.WaitFor(t, "what is stored on "+n, func() bool { return p.primary(n).State() == backend.Up && p.primary(n).Stored() != nil })
			}
			for _, path := range breakPaths(p, strings.Contains(lane, "pipelined")) {
				for _, how := range breaks {
					if path.onlyBefore && how != closedBefore && how != resetBefore {
						continue
					}
					cases++
					t.Run(strings.Join([]string{strings.ReplaceAll(lane, "\n", ", "), path.name, how}, "/"), func(t *testing.T) {
						breakOne(t, p, b, direct, path, how, fmt.Sprintf("tag%d_", cases))
					})
				}
			}
			if strings.Contains(lane, "true") && p.Totals().Looped < 50 {
				t.Errorf("%d statements were in the fast lane", p.Totals().Looped)
			}
		}
	})
	t.Logf("%d cases", cases)
}

// breakOne is one case.
func breakOne(t *testing.T, p *testProxy, b *breaker, direct *mysqltest.RawClient, path breakPath, how, tag string) {
	c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
	run := path.prepare(t, c, tag)
	mark := path.mark
	if mark == "" {
		mark = tag
	}
	b.set(how, mark)
	r, err := run()
	if err != nil {
		t.Fatalf("no answer: %v\n%s", err, p.log)
	}
	if !b.hasActed() {
		t.Fatal("nothing broke")
	}
	before := how == closedBefore || how == resetBefore
	if path.read != "" {
		if r.Err != nil || fmt.Sprint(r.Rows) != path.read {
			t.Errorf("%v, %v, want %s", r.Rows, r.Err, path.read)
		}
		return
	}
	code := uint16(0)
	if r.Err != nil {
		code = r.Err.Code
	}
	all := path.rows
	switch all {
	case 0:
		all = 1
	case none:
		all = 0
	}
	want, rows := uint16(9003), 0
	switch {
	case before && path.held && path.transaction:
		want = 1213
	case before && path.held:
		want = 9018
	case before:
		want, rows = 0, all
	case path.never:
		want = 9018
	case path.inside:
		want = 1213
	case how == closedCarried || how == resetCarried:
		rows = all
	}
	if path.elsewhere && code == 0 && want == 9003 {
		want = 0
	}
	if code != want {
		t.Errorf("error %v, want %d", r.Err, want)
	}
	if code == 9018 && !strings.Contains(r.Err.Message, "node n1") {
		t.Errorf("%v does not name the node", r.Err)
	}
	if path.transaction && code != 0 {
		if r := must(t, c, "SELECT 1"); fmt.Sprint(r.Rows) != "[[1]]" {
			t.Errorf("then %v", r.Rows)
		}
	} else if path.held {
		if r, err := c.Query("SELECT 1"); err == nil {
			t.Errorf("the session goes on without its state: %v, %v", r.Rows, r.Err)
		}
	} else if path.inside {
		must(t, c, "COMMIT")
	}
	count := "SELECT (SELECT COUNT(*) FROM arr WHERE tag = '" + tag + "') + (SELECT COUNT(*) FROM arrs_0000 WHERE tag = '" + tag + "') + (SELECT COUNT(*) FROM arrs_0001 WHERE tag = '" + tag + "')"
	counted := func() string { return value(t, direct, count) }
	if path.inside {
		mysqltest.WaitFor(t, "the transaction to end", func() bool { return counted() == fmt.Sprint(rows) })
	}
	if got := counted(); got != fmt.Sprint(rows) {
		t.Errorf("%s rows, want %d", got, rows)
	}
}

// What SET TRANSACTION said of a transaction holds for it, or the client hears that the connection broke: a first statement that is sent
// again begins no other transaction.
func TestBrokenSetTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE arr (id INT AUTO_INCREMENT PRIMARY KEY, tag VARCHAR(100) NOT NULL)")
		must(t, direct, "INSERT INTO arr (tag) VALUES ('first')")
		for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
			b := startBreaker(t, server.Addr)
			p := startProxy(t, configText([]node{{name: "n1", master: b.addr, conns: 3}}, lane), "health_interval: 1h")
			mysqltest.WaitFor(t, "what is stored on n1", func() bool { return p.primary("n1").State() == backend.Up && p.primary("n1").Stored() != nil })
			for k, how := range breaks {
				c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
				for _, text := range []string{"SELECT 1 FROM arr WHERE id = 1", "SET autocommit = 0", "SET TRANSACTION READ ONLY"} {
					must(t, c, text)
				}
				tag := fmt.Sprintf("tag%d_", k)
				b.set(how, tag)
				if _, err := c.Query("SELECT id FROM arr WHERE id = 1 AND tag <> '" + tag + "'"); err != nil {
					t.Fatalf("%s, %s: no answer: %v", lane, how, err)
				}
				if !b.hasActed() {
					t.Fatalf("%s, %s: nothing broke", lane, how)
				}
				if r, err := c.Query("INSERT INTO arr (tag) VALUES ('" + tag + "')"); err == nil && r.Err == nil {
					t.Errorf("%s, %s: a row was added in a transaction that may only read", lane, how)
				}
				c.Close()
			}
		}
	})
}
