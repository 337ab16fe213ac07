package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// fromEnv is a number that the environment may raise for a longer run.
func fromEnv(t testing.TB, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a number above 0", name, text)
	}
	return n
}

// openFiles is the number of file descriptors of this process.
func openFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// crowdTexts are what a client of the crowd may be killed in or behind.
var crowdTexts = []string{
	"BEGIN", "INSERT INTO crowd (n) VALUES (1)", "INSERT INTO crowd (n) VALUES (1), (1)", "SELECT * FROM crowd WHERE id = 1 FOR UPDATE",
	"UPDATE crowd SET n = 7 WHERE id = 1", "CREATE TEMPORARY TABLE crowd_tmp (n INT)", "SELECT GET_LOCK('crowd', 0)", "SET @x = 1 + 1",
	"SELECT SLEEP(0.01)", "SET autocommit = 0", "SELECT REPEAT('x', 100000) FROM crowd LIMIT 20", "PREPARE st FROM 'SELECT 1'",
	"SAVEPOINT a", "SET SESSION sql_mode = 'ANSI'", "USE information_schema",
}

// comeAndGo logs in, does a few things at random and is gone at a random moment: in the login, between two packets,
// with a statement on its way or half of one.
func comeAndGo(addr string, r *rand.Rand) {
	c, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
	if err != nil {
		return // no room, which is as good an end as any
	}
	defer c.Conn.Close()
	statements := r.IntN(6)
	if r.IntN(2) == 0 {
		_, _ = c.Query("BEGIN")
		_, _ = c.Query("INSERT INTO crowd (n) VALUES (1)")
	}
	for range statements {
		if r.IntN(5) == 0 {
			if st, err := c.Prepare("SELECT * FROM crowd WHERE id > ?"); err == nil {
				_, _ = st.Execute(r.IntN(10))
			}
			continue
		}
		if _, err := c.Query(crowdTexts[r.IntN(len(crowdTexts))]); err != nil {
			return
		}
	}
	switch r.IntN(4) {
	case 0:
		_ = c.Send(mysql.ComQuery, crowdTexts[r.IntN(len(crowdTexts))])
	case 1:
		_, _ = c.Conn.Net.NetConn().Write([]byte{200, 0, 0, 0, 3, 'S'})
	case 2:
		_ = c.Send(mysql.ComQuit, "")
	}
}

// Clients that come and are killed at random moments, in transactions too, leave nothing: no lock, row, connection on
// loan, session, goroutine or file descriptor. KS_CLIENTS is their number.
func TestCrowdLeavesNothing(t *testing.T) {
	clients := fromEnv(t, "KS_CLIENTS", 200)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE crowd (id INT PRIMARY KEY AUTO_INCREMENT, n INT)")
		must(t, direct, "INSERT INTO crowd VALUES (1, 0)")
		p := startProxy(t, oneNode(server.Addr, 8))
		must(t, p.client(database), "SELECT 1")
		mysqltest.WaitFor(t, "the probe", func() bool { return p.primary("n").State() == backend.Up })
		others := number(t, direct, connections) // the pool's one and the probe's among them
		goroutines, files := runtime.NumGoroutine(), openFiles(t)
		room := make(chan struct{}, 200) // so many at a time
		var crowd sync.WaitGroup
		for k := range clients {
			room <- struct{}{}
			crowd.Go(func() {
				defer func() { <-room }()
				comeAndGo(p.addr, rand.New(rand.NewPCG(uint64(k), 11)))
			})
		}
		crowd.Wait()
		p.quiet(1)
		// The pool keeps its connections for the next; seven more than the first at the most.
		if n := number(t, direct, connections); n > others+7 {
			t.Errorf("%d connections to the server, %d before the crowd", n, others)
		}
		mysqltest.WaitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
		mysqltest.WaitFor(t, "file descriptors to be closed", func() bool { return openFiles(t) <= files+7 })
		must(t, direct, "SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1")
		if got := value(t, direct, "SELECT IS_FREE_LOCK('crowd'), (SELECT COUNT(*) FROM information_schema.innodb_trx)"); got != "1,0" {
			t.Errorf("lock free, transactions open: %s", got)
		}
		must(t, direct, "UPDATE crowd SET n = n + 1")
		must(t, direct, "ALTER TABLE crowd ADD COLUMN m INT")
		for range 8 {
			next := p.client(database)
			fails(t, next, "SELECT * FROM crowd_tmp", 1146)
			if got := value(t, next, "SELECT @x, @@autocommit, @@sql_mode LIKE '%ANSI%', DATABASE()"); got != "NULL,1,0,"+database {
				t.Errorf("the next client sees %s", got)
			}
			must(t, next, "BEGIN")
			must(t, next, "SELECT 1") // keeps its connection, so that the following one gets another
		}
	})
}

// Item 1, for longer: 32 clients, text and prepared statements, transactions and big rows over 8 connections for
// KS_SECONDS seconds. Nobody hears an error, everybody is served, and the ceiling holds.
func TestLowCeiling(t *testing.T) {
	const clients, ceiling = 32, 8
	seconds := fromEnv(t, "KS_SECONDS", 2)
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE ceiling_rows (id INT PRIMARY KEY, n INT)")
		// Clients' statements run by an account of their own: a probe that is slow is tried again beside the first.
		const pooled = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'ks'"
		before := number(t, direct, pooled)
		p := startProxy(t, strings.Replace(oneNode(server.Addr, ceiling), "user: root, password: root, master", "user: ks, password: ks, admin_user: root, admin_password: root, master", 1))
		stop := time.Now().Add(time.Duration(seconds) * time.Second)
		var running sync.WaitGroup
		rounds := make([]int, clients)
		for k := range clients {
			c := p.client(database)
			must(t, c, fmt.Sprintf("INSERT INTO ceiling_rows VALUES (%d, 0)", k))
			st, err := c.Prepare("UPDATE ceiling_rows SET n = n + 1 WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() {
				for time.Now().Before(stop) {
					if err := round(c, st, k); err != nil {
						t.Errorf("client %d: %v", k, err)
						return
					}
					rounds[k]++
				}
			})
		}
		most := 0
		for time.Now().Before(stop) {
			most = max(most, number(t, direct, pooled)-before)
			time.Sleep(50 * time.Millisecond)
		}
		running.Wait()
		if most > ceiling {
			t.Errorf("%d connections to the server, more than %d", most, ceiling)
		}
		total := 0
		for k, n := range rounds {
			total += n
			if got := number(t, direct, fmt.Sprintf("SELECT n FROM ceiling_rows WHERE id = %d", k)); got != 2*n || n == 0 {
				t.Errorf("client %d did %d rounds and its row says %d", k, n, got)
			}
		}
		t.Logf("%d rounds in %d s, at most %d connections", total, seconds, most)
		p.quiet(clients)
	})
}

// round is a transaction and what is around it; it adds 2 to the client's row.
func round(c *mysqltest.RawClient, st *mysqltest.RawStmt, k int) error {
	run := func(r *mysqltest.RawResult, err error) error {
		if err == nil && r.Err != nil {
			err = r.Err
		}
		return err
	}
	for _, text := range []string{"SELECT REPEAT('x', 20000)", "BEGIN", fmt.Sprintf("UPDATE ceiling_rows SET n = n + 1 WHERE id = %d", k), "", "COMMIT", "SELECT SLEEP(0.001)"} {
		var err error
		if text == "" {
			err = run(st.Execute(k))
		} else {
			err = run(c.Query(text))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}
