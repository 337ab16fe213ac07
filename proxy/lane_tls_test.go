package proxy_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// startTLSLane starts a proxy with the fast lane and a certificate, so that clients may log in over TLS.
func startTLSLane(t testing.TB, text string) *testProxy {
	t.Helper()
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	return startLane(t, text+fmt.Sprintf("tls: {cert: %s, key: %s}\n", cert, key))
}

// overTLS is the login of root over TLS.
func overTLS(db string) mysqltest.ClientConfig {
	return mysqltest.ClientConfig{User: "root", Password: "root", DB: db, TLS: insecureTLS()}
}

// pieces is a client's socket, whose writes can be sent byte by byte, or together with those that follow.
type pieces struct {
	net.Conn
	single, together bool
	held             []byte
}

func (p *pieces) Write(b []byte) (int, error) {
	switch {
	case p.together:
		p.held = append(p.held, b...)
	case p.single:
		for k := range b {
			if _, err := p.Conn.Write(b[k : k+1]); err != nil {
				return k, err
			}
			runtime.Gosched() // who reads may do so in between
		}
	default:
		return p.Conn.Write(b)
	}
	return len(b), nil
}

// underWay waits until a statement is in the process list that another client sees.
func underWay(t *testing.T, c *mysqltest.RawClient, text string) {
	t.Helper()
	mysqltest.WaitFor(t, text+" in the process list", func() bool {
		return slices.ContainsFunc(must(t, c, "SHOW FULL PROCESSLIST").Rows, func(row []any) bool { return row[7] == text })
	})
}

// release sends what was written since together was set.
func (p *pieces) release(t *testing.T) {
	t.Helper()
	p.together = false
	if _, err := p.Conn.Write(p.held); err != nil {
		t.Fatal(err)
	}
	p.held = nil
}

// dialPieces gives a connection to the proxy that is not logged in.
func dialPieces(t *testing.T, p *testProxy) *pieces {
	t.Helper()
	nc, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	return &pieces{Conn: nc}
}

// Clients over TLS have their plain statements in loops, too, and the same answers as from the server.
func TestLaneTLSAnswersAsTheServer(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startTLSLane(t, oneNode(server.Addr, 4))
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE sealed (id INT PRIMARY KEY, v VARCHAR(200)) CHARACTER SET utf8mb4")
		must(t, direct, "INSERT INTO sealed VALUES (1, 'a'), (2, NULL), (3, REPEAT('b', 200))")
		for version := uint16(tls.VersionTLS12); version <= tls.VersionTLS13; version++ {
			login := overTLS(database)
			login.TLS.MaxVersion = version
			c := dial(t, p.addr, login)
			for _, text := range []string{
				"SELECT * FROM sealed WHERE id = 1", "SELECT * FROM sealed ORDER BY id", "SELECT 1 + 1", "SELECT nothing", "SELECT REPEAT('x', 12000)",
				"SELECT REPEAT('x', 20000)", "SELECT REPEAT('x', 70000)", "SELECT REPEAT('x', 3000000), v FROM sealed", "SELECT 1; SELECT 2",
				longSelect(12_000), longSelect(16_380), longSelect(20_000), longSelect(48_000), longSelect(200_000),
			} {
				for range 3 {
					want, err := direct.Query(text)
					if err != nil {
						t.Fatal(err)
					}
					got, err := c.Query(text)
					if err != nil {
						t.Fatalf("%.80s: %v", text, err)
					}
					if fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) || (got.Err == nil) != (want.Err == nil) {
						t.Errorf("%.80s: %.200v, error %v; want %.200v, error %v", text, got.Rows, got.Err, want.Rows, want.Err)
					}
				}
			}
			settled(t, p)
			looped(t, p, 10, func() {
				for range 20 {
					must(t, c, "SELECT v FROM sealed WHERE id = 3")
				}
			})
			st, err := c.Prepare("SELECT v FROM sealed WHERE id = ?")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.Execute(1); err != nil { // the connection learns of the statement
				t.Fatal(err)
			}
			settled(t, p)
			looped(t, p, 10, func() {
				for range 20 {
					if r, err := st.Execute(1); err != nil || fmt.Sprint(r.Rows) != "[[a]]" {
						t.Fatalf("%+v, %v", r, err)
					}
				}
			})
			must(t, c, "BEGIN")
			must(t, c, "UPDATE sealed SET v = 'c' WHERE id = 2")
			must(t, c, "ROLLBACK")
			if got := value(t, c, "SELECT v FROM sealed WHERE id = 2"); got != "NULL" {
				t.Errorf("after a rollback: %q", got)
			}
		}
		p.quiet(2)
	})
}

// Records come in any pieces, and commands in any records.
func TestLaneTLSTakesAnyPieces(t *testing.T) {
	p := startTLSLane(t, oneNode(laneServer(t).Addr, 4))
	nc := dialPieces(t, p)
	c, err := mysqltest.LoginRaw(nc, overTLS(""))
	if err != nil {
		t.Fatal(err)
	}
	must(t, c, "SELECT 1")
	command := append([]byte{9, 0, 0, 0, 3}, "SELECT 1"...)
	send := func(parts ...[]byte) {
		for _, b := range parts {
			if _, err := c.Conn.Net.NetConn().Write(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	settled(t, p)
	looped(t, p, 20, func() {
		nc.single = true
		for range 20 {
			send(command)
			readAnswer(t, c)
			settled(t, p)
		}
		nc.single = false
	})
	for range 10 {
		for k := range command { // a record for each byte
			send(command[k : k+1])
		}
		readAnswer(t, c)
		// Three commands that arrive at once, in a record each; in one record; a command and a half, then the rest.
		nc.together = true
		send(command, command, command)
		nc.release(t)
		for range 3 {
			readAnswer(t, c)
		}
		send(bytes.Repeat(command, 3))
		for range 3 {
			readAnswer(t, c)
		}
		nc.together = true
		send(command, command[:7])
		nc.release(t)
		readAnswer(t, c)
		mysqltest.WaitFor(t, "a goroutine to wait for the rest", func() bool { return onGoroutine(t) })
		send(command[7:])
		readAnswer(t, c)
		settled(t, p)
	}
	// Commands that come while the one before is at the server.
	send(append([]byte{12, 0, 0, 0, 3}, "SELECT slow"...))
	other := dial(t, p.addr, overTLS(""))
	underWay(t, other, "SELECT slow")
	other.Close()
	nc.together = true
	send(command, command)
	nc.release(t)
	for range 3 {
		readAnswer(t, c)
	}
	p.quiet(1)
}

// A client may send its first command with the answer to the greeting: TLS has read it then, and nothing more comes.
func TestLaneTLSFirstCommandWithTheLogin(t *testing.T) {
	p := startTLSLane(t, oneNode(laneServer(t).Addr, 4, "auth_plugin: mysql_native_password"))
	must(t, dial(t, p.addr, overTLS("")), "SELECT 1")
	for range 10 {
		nc := dialPieces(t, p)
		_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
		c := mysql.NewConn(nc, mysql.BackendSide, 1<<20)
		b, err := c.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		var greeting mysql.HandshakeV10
		if err := greeting.Decode(b); err != nil {
			t.Fatal(err)
		}
		response := mysql.HandshakeResponse41{
			Capabilities:  (mysqltest.ScriptCapabilities | mysql.ClientSSL) &^ mysql.ClientConnectWithDB & greeting.Capabilities,
			MaxPacketSize: 1 << 30, Collation: 45, User: "root", AuthPlugin: auth.NativePassword,
		}
		c.Capabilities = response.Capabilities
		c.EndPacket(response.AppendSSLRequest(c.StartPacket()))
		if err := c.StartTLS(func(nc net.Conn) *tls.Conn { return tls.Client(nc, insecureTLS()) }); err != nil {
			t.Fatal(err)
		}
		login := auth.NewClient(auth.ClientOptions{Password: "root", Secure: true})
		if response.AuthResponse, err = login.Start(auth.NativePassword, greeting.Salt); err != nil {
			t.Fatal(err)
		}
		nc.together = true
		c.EndPacket(response.AppendTo(c.StartPacket()))
		_ = c.Flush()
		c.ResetSequence()
		c.WritePacket([]byte("\x03SELECT 1"))
		_ = c.Flush()
		nc.release(t)
		c.Discard(3) // the sequence id of the answer to the login
		if b, err = c.ReadPacket(); err != nil || b[0] != mysql.OKHeader {
			t.Fatalf("the login: %q, %v", b, err)
		}
		c.Discard(1)
		if b, err = c.ReadPacket(); err != nil || b[0] != 1 {
			t.Fatalf("the first command: %q, %v", b, err)
		}
	}
}

// A client that does not read keeps nobody else waiting, and gets all in the end.
func TestLaneTLSOfAClientThatDoesNotRead(t *testing.T) {
	p := startTLSLane(t, oneNode(laneServer(t).Addr, 8))
	var stalled []*mysqltest.RawClient
	for k := range 4 {
		c := dial(t, p.addr, overTLS(""))
		must(t, c, "SELECT 1")
		if err := c.Send(mysql.ComQuery, fmt.Sprintf("SELECT large %d", k)); err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, c)
	}
	// And one whose answers are short, but many.
	many := dial(t, p.addr, overTLS(""))
	must(t, many, "SELECT 1")
	command := append([]byte{9, 0, 0, 0, 3}, "SELECT 1"...)
	const commands = 60_000
	sent := make(chan error, 1)
	go func() {
		_, err := many.Conn.Net.NetConn().Write(bytes.Repeat(command, commands))
		sent <- err
	}()
	c := dial(t, p.addr, overTLS(""))
	looped(t, p, 50, func() {
		for range 100 {
			must(t, c, "SELECT 1")
		}
	})
	takeLarge(t, stalled)
	for range commands {
		readAnswer(t, many)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	p.quiet(6)
}

// An idle client over TLS costs no goroutine. Time-out, KILL and drain reach it, and it is told in TLS.
func TestLaneTLSOfIdleClients(t *testing.T) {
	server := laneServer(t)
	p := startTLSLane(t, oneNode(server.Addr, 4))
	before := runtime.NumGoroutine()
	var clients []*mysqltest.RawClient
	for k := range 100 {
		c := dial(t, p.addr, overTLS(""))
		if k%2 == 0 {
			must(t, c, "SELECT 1")
		}
		clients = append(clients, c)
	}
	mysqltest.WaitFor(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() < before+40 })
	settled(t, p)
	goodbye := func(c *mysqltest.RawClient) {
		t.Helper()
		_ = c.Conn.Net.SetDeadline(time.Now().Add(10 * time.Second))
		if n, err := c.Conn.Net.NetConn().Read(make([]byte, 1)); n != 0 || err == nil || err.Error() != "EOF" {
			t.Errorf("%d bytes, %v; want the end, by TLS", n, err)
		}
	}
	killer := dial(t, p.addr, overTLS(""))
	for _, c := range clients[:2] {
		must(t, killer, fmt.Sprintf("KILL %d", c.Greeting.ConnectionID))
		goodbye(c)
	}
	// KILL of a client whose statement is at its server, and of one that does not take its answer.
	for _, text := range []string{"SELECT slow", "SELECT large"} {
		if err := clients[2].Send(mysql.ComQuery, text); err != nil {
			t.Fatal(err)
		}
		underWay(t, killer, text)
		must(t, killer, fmt.Sprintf("KILL %d", clients[2].Greeting.ConnectionID))
		clients = clients[1:]
	}
	_ = clients[2].Conn.Close() // without a COM_QUIT
	_ = clients[3].Close()
	mysqltest.WaitFor(t, "the sessions to end", func() bool { return p.Clients() == 95 })
	if err := p.stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	goodbye(clients[4])
}

// Many clients with TLS and without it, whose answers leave together.
func TestLaneTLSOfMany(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startTLSLane(t, oneNode(server.Addr, 8)+"pipelined_sharing: true\n")
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, direct, "CREATE TABLE many (id INT PRIMARY KEY, v VARCHAR(9000))")
		const clients = 32
		for id := range clients {
			must(t, direct, fmt.Sprintf("INSERT INTO many VALUES (%d, REPEAT('%c', %d))", id, 'a'+id%26, 1+id*id*8))
		}
		var all sync.WaitGroup
		for id := range clients {
			login := overTLS(database)
			if id%4 == 3 {
				login.TLS = nil
			}
			c := dial(t, p.addr, login)
			all.Go(func() {
				want := string(bytes.Repeat([]byte{'a' + byte(id%26)}, 1+id*id*8))
				for range 200 {
					r, err := c.Query(fmt.Sprintf("SELECT v FROM many WHERE id = %d", id))
					if err != nil || r.Err != nil || len(r.Rows) != 1 || r.Rows[0][0] != want {
						t.Errorf("client %d: %.100v, %v", id, r, err)
						return
					}
				}
			})
		}
		all.Wait()
		p.quiet(clients)
	})
}
