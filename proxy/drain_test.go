package proxy_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// Item 18: a shutdown refuses new clients, ends idle ones, lets statements and transactions finish, and stops then.
func TestShutdownDrains(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE drained (id INT PRIMARY KEY)")
		before := number(t, direct, connections)
		p := startProxy(t, oneNode(server.Addr, 4))
		idle, busy, inTransaction := p.client(database), p.client(database), p.client(database)
		must(t, idle, "SELECT 1")
		must(t, inTransaction, "BEGIN")
		must(t, inTransaction, "INSERT INTO drained VALUES (1)")
		answered := make(chan string, 1)
		go func() {
			r, err := busy.Query("SELECT SLEEP(0.5), 'done'")
			if err != nil || r.Err != nil || len(r.Rows) != 1 {
				answered <- "no answer"
				return
			}
			answered <- r.Rows[0][1].(string)
		}()
		mysqltest.WaitFor(t, "the statement to run", func() bool {
			return strings.Contains(value(t, direct, "SELECT GROUP_CONCAT(info) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"), "SLEEP")
		})
		stopped := make(chan error, 1)
		go func() { stopped <- p.stop(30 * time.Second) }()
		if _, err := idle.Read(); err == nil {
			t.Error("an idle client was not sent away")
		}
		if c, err := mysqltest.DialRaw(p.addr, rootClient()); err == nil {
			c.Close()
			t.Error("a new client was let in")
		}
		if got := <-answered; got != "done" {
			t.Errorf("the statement that ran: %s", got)
		}
		for _, text := range []string{"INSERT INTO drained VALUES (2)", "SELECT * FROM drained", "COMMIT"} {
			must(t, inTransaction, text)
		}
		if _, err := inTransaction.Query("SELECT 1"); err == nil {
			t.Error("the session goes on behind its transaction")
		}
		if err := <-stopped; err != nil {
			t.Errorf("the drain: %v", err)
		}
		if n := number(t, direct, "SELECT COUNT(*) FROM drained"); n != 2 {
			t.Errorf("%d rows of the drained transaction, want 2", n)
		}
		mysqltest.WaitFor(t, "the backend connections to be closed", func() bool { return number(t, direct, connections) == before })
	})
}

// What does not end within the drain's time is cut off and rolled back; neither sockets that have not logged in nor
// load balancers that send no header hold a shutdown up.
func TestShutdownCutsOff(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE cut (id INT PRIMARY KEY)")
		before := number(t, direct, connections)
		p := startProxy(t, oneNode(server.Addr, 4, "handshake_timeout: 1h", "proxy_protocol: 127.0.0.2/32"))
		inTransaction, busy := p.client(database), p.client(database)
		must(t, inTransaction, "BEGIN")
		must(t, inTransaction, "INSERT INTO cut VALUES (1)")
		var running sync.WaitGroup
		running.Go(func() {
			if r, err := busy.Query("SELECT SLEEP(600)"); err == nil && r.Err == nil && r.Rows[0][0] == "0" {
				t.Error("the statement was waited for")
			}
		})
		for _, from := range []string{"127.0.0.1", "127.0.0.2"} {
			dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
			silent, err := dialer.Dial("tcp", p.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
		}
		mysqltest.WaitFor(t, "all clients", func() bool { return p.Clients() == 3 && p.primary("n").Stats().InUse == 2 })
		if err := p.stop(200 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("the drain: %v", err)
		}
		running.Wait()
		mysqltest.WaitFor(t, "the backend connections to be closed", func() bool { return number(t, direct, connections) == before })
		if n := number(t, direct, "SELECT COUNT(*) FROM cut"); n != 0 {
			t.Errorf("%d rows of a transaction that was cut off", n)
		}
	})
}

// A server that takes connections and says nothing does not keep the process, however long a login there may take.
func TestShutdownWaitsForNoServer(t *testing.T) {
	t.Parallel()
	v := stopping(t, startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB}))
	p := startProxy(t, oneNode(v.addr, 4, "health_timeout: 1h"), "connect_timeout: 1h", "pool_wait_timeout: 1h")
	mysqltest.WaitFor(t, "the server", func() bool { return p.primary("n").State() == backend.Up })
	c := p.client("")
	v.vanish()
	t.Cleanup(v.comeBack)
	answered := make(chan error, 1)
	go func() {
		_, err := c.Query("DO 1")
		answered <- err
	}()
	mysqltest.WaitFor(t, "the statement to wait for a login", func() bool { return p.primary("n").Stats().Dialling == 1 })
	if err := p.stop(0); err == nil || !strings.Contains(err.Error(), "1 sessions") {
		t.Errorf("the drain: %v", err)
	}
	if <-answered == nil {
		t.Error("the statement was answered")
	}
}

// A second Shutdown, and one of a proxy that has no clients, end at once.
func TestShutdownTwice(t *testing.T) {
	p := startProxy(t, oneNode(closedAddr(t), 1))
	if err := p.stop(time.Hour); err != nil {
		t.Error(err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
