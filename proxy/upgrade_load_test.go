package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"kingshard/mysql/mysqltest"
)

// upgradesWanted is how many upgrades a test under load makes: KS_UPGRADES, else 5.
func upgradesWanted(t *testing.T) int {
	text := os.Getenv("KS_UPGRADES")
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("KS_UPGRADES=%q", text)
	}
	return n
}

// upgradeLoad are clients that notice a connection that is lost: each has one, and its id must stay.
type upgradeLoad struct {
	t          *testing.T
	stop       chan struct{}
	clients    sync.WaitGroup
	statements atomic.Int64
	failures   atomic.Int64
	plain      []int // connection ids of those that can move
}

// client is one that does work until the load stops.
func (l *upgradeLoad) client(addr, options string, work func(ctx context.Context, c *sql.Conn) error) {
	ctx := context.Background()
	db := openDB(l.t, addr, options)
	c, err := db.Conn(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	id := func() (id int, err error) {
		err = c.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id)
		return id, err
	}
	first, err := id()
	if err != nil {
		l.t.Fatal(err)
	}
	if options == "" {
		l.plain = append(l.plain, first)
	}
	l.clients.Go(func() {
		defer db.Close()
		defer c.Close()
		for {
			select {
			case <-l.stop:
				return
			default:
			}
			err := work(ctx, c)
			if err == nil {
				var now int
				if now, err = id(); err == nil && now != first {
					err = fmt.Errorf("connection id %d became %d", first, now)
				}
			}
			if err != nil {
				l.failures.Add(1)
				l.t.Errorf("%s: %v", options, err)
				return
			}
			l.statements.Add(1)
		}
	})
}

// selects is a client of statements as text.
func selects(ctx context.Context, c *sql.Conn) error {
	var v string
	if err := c.QueryRowContext(ctx, "SELECT v FROM upgrade_rows WHERE id = 7").Scan(&v); err != nil {
		return err
	}
	if v != "v7" {
		return fmt.Errorf("row 7 is %q", v)
	}
	return nil
}

// prepared gives a client of one prepared statement.
func prepared() func(ctx context.Context, c *sql.Conn) error {
	var st *sql.Stmt
	n := 0
	return func(ctx context.Context, c *sql.Conn) (err error) {
		if st == nil {
			if st, err = c.PrepareContext(ctx, "SELECT v, ? FROM upgrade_rows WHERE id = ?"); err != nil {
				return err
			}
		}
		n++
		var v string
		var echo int
		if err := st.QueryRowContext(ctx, n, n%100+1).Scan(&v, &echo); err != nil {
			return err
		}
		if v != fmt.Sprintf("v%d", n%100+1) || echo != n {
			return fmt.Errorf("row %d is %q, %d", n%100+1, v, echo)
		}
		return nil
	}
}

// transacts gives a client of transactions, each with two changes that must both be there.
func transacts(committed *atomic.Int64) func(ctx context.Context, c *sql.Conn) error {
	return func(ctx context.Context, c *sql.Conn) error {
		tx, err := c.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for range 2 {
			if _, err := tx.ExecContext(ctx, "INSERT INTO upgrade_log (n) VALUES (1)"); err != nil {
				return err
			}
			time.Sleep(2 * time.Millisecond)
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		committed.Add(2)
		return nil
	}
}

// Done when 2 of the operations: 64 clients at work, some with prepared statements, some in transactions, some over TLS, while
// the binary is upgraded several times: no statement fails, no connection is lost, all that can move do, and nothing is left.
func TestUpgradesUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("several processes under load")
	}
	binary := buildBinary(t)
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.RegisterTLSConfig("upgrade", insecureTLS()); err != nil {
		t.Fatal(err)
	}
	server := mysqltest.Shared(t, mysqltest.MariaDB)
	for _, lane := range []string{"fast_lane: false", "fast_lane: true", "pipelined_sharing: true"} {
		t.Run(lane, func(t *testing.T) {
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			must(t, direct, "DROP DATABASE IF EXISTS "+database)
			must(t, direct, "CREATE DATABASE "+database)
			must(t, direct, "USE "+database)
			must(t, direct, "CREATE TABLE upgrade_rows (id INT PRIMARY KEY, v VARCHAR(20))")
			must(t, direct, "INSERT INTO upgrade_rows SELECT seq, CONCAT('v', seq) FROM seq_1_to_100")
			must(t, direct, "CREATE TABLE upgrade_log (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
			d := startDaemon(t, binary, oneNode(server.Addr, 32, lane, fmt.Sprintf("tls: {cert: %s, key: %s}", cert, key)))
			at := &upgradeLoad{t: t, stop: make(chan struct{})}
			var committed atomic.Int64
			const plain, secure = 60, 4
			for k := range plain {
				switch {
				case k%5 == 0:
					at.client(d.addr, "", transacts(&committed))
				case k%2 == 0:
					at.client(d.addr, "", prepared())
				default:
					at.client(d.addr, "", selects)
				}
			}
			for range secure {
				at.client(d.addr, "tls=upgrade", selects)
			}
			stopNew := at.newcomers(d.addr)
			n := upgradesWanted(t)
			var began []int
			for range n {
				d.upgrade()
				at.moved(d)
				began = append(began, d.metric("process_open_fds"))
				before := at.statements.Load()
				mysqltest.WaitFor(t, "work to go on", func() bool { return at.failures.Load() > 0 || at.statements.Load() > before+500 })
			}
			stopNew()
			close(at.stop)
			at.clients.Wait()
			d.onlyLast()
			t.Logf("%d upgrades, %d statements, descriptors after each: %v", n, at.statements.Load(), began)
			if first, last := began[0], began[len(began)-1]; last > first+16 {
				t.Errorf("descriptors grew from %d to %d", first, last)
			}
			if rows := number(t, direct, "SELECT COUNT(*) FROM upgrade_log"); rows != int(committed.Load()) {
				t.Errorf("%d rows, %d committed", rows, committed.Load())
			}
			mysqltest.WaitFor(t, "sessions to end", func() bool { return d.metric("kingshard_sessions") == 0 })
		})
	}
}

// moved waits until the process that serves has all that can move.
func (l *upgradeLoad) moved(d *daemon) {
	l.t.Helper()
	c := dial(l.t, d.addr, rootClient())
	defer c.Close()
	mysqltest.WaitFor(l.t, "all clients without TLS to move", func() bool {
		here := make(map[string]bool)
		for _, row := range must(l.t, c, "SHOW PROCESSLIST").Rows {
			here[row[0].(string)] = true
		}
		return !slices.ContainsFunc(l.plain, func(id int) bool { return !here[strconv.Itoa(id)] })
	})
}

// newcomers connects all the time, from now until stop: nobody may be refused.
func (l *upgradeLoad) newcomers(addr string) (stop func()) {
	end := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(2 * time.Millisecond):
			}
			c, err := mysqltest.DialRaw(addr, rootClient())
			if err != nil {
				l.t.Errorf("a new client: %v", err)
				l.failures.Add(1)
				return
			}
			if r, err := c.Query("SELECT 1"); err != nil || r.Err != nil {
				l.t.Errorf("a new client: %v, %v", err, r)
				l.failures.Add(1)
			}
			c.Close()
		}
	})
	return func() {
		close(end)
		running.Wait()
	}
}
