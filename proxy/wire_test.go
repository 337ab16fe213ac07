package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// outcome is what a client hears of a statement, in words.
func outcome(t testing.TB, c *mysqltest.RawClient, text string) string {
	t.Helper()
	r, err := c.Query(text)
	switch {
	case err != nil:
		t.Fatalf("%.80s: %v", text, err)
	case r.Err != nil:
		return fmt.Sprintf("error %d (%s) %s", r.Err.Code, r.Err.State, r.Err.Message)
	case r.OK != nil:
		return fmt.Sprintf("ok: %d rows, id %d, %d warnings, %q", r.OK.AffectedRows, r.OK.LastInsertID, r.Warnings, r.OK.Info)
	}
	return fmt.Sprint(r.Rows)
}

// Item 13: an INSERT of several rows with a duplicate among them ends as on the server itself, whatever the engine and
// the form: the rows kept, the counts, the warnings and the ids are the server's.
func TestInsertWithADuplicate(t *testing.T) {
	statements := []string{
		"INSERT INTO %s (id, n) VALUES (1, 1), (2, 2)",
		"INSERT INTO %s (id, n) VALUES (3, 3), (2, 9), (4, 4)",
		"SELECT id, n FROM %s ORDER BY id",
		"INSERT IGNORE INTO %s (id, n) VALUES (5, 5), (2, 9), (6, 6)",
		"SHOW WARNINGS",
		"REPLACE INTO %s (id, n) VALUES (7, 7), (2, 9)",
		"INSERT INTO %s (id, n) VALUES (8, 8), (2, 1) ON DUPLICATE KEY UPDATE n = n + 1",
		"INSERT INTO %s (n) VALUES (10), (11)",
		"SELECT LAST_INSERT_ID()",
		"BEGIN",
		"INSERT INTO %s (id, n) VALUES (30, 30)",
		"INSERT INTO %s (id, n) VALUES (31, 31), (2, 9)",
		"COMMIT",
		"SELECT id, n FROM %s ORDER BY id",
	}
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		p := startProxy(t, oneNode(server.Addr, 2))
		through := p.client(database)
		for _, engine := range []string{"InnoDB", "MyISAM"} {
			for _, name := range []string{"plain", "proxied"} {
				must(t, direct, "DROP TABLE IF EXISTS "+name)
				must(t, direct, fmt.Sprintf("CREATE TABLE %s (id INT PRIMARY KEY AUTO_INCREMENT, n INT) ENGINE = %s", name, engine))
			}
			for _, text := range statements {
				want := strings.ReplaceAll(outcome(t, direct, strings.ReplaceAll(text, "%s", "plain")), "plain.", "proxied.")
				if got := outcome(t, through, strings.ReplaceAll(text, "%s", "proxied")); got != want {
					t.Errorf("%s, %s:\n%s\nthe server itself:\n%s", engine, text, got, want)
				}
			}
		}
	})
}

// Item 14 and threat 4: a result of 60 MB for a client that reads slowly takes no memory of the proxy, as rows move
// only as fast as the client takes them, and arrives whole. The server of this test is a process of its own, so the
// heap is the proxy's and the client's.
func TestBigResultToASlowReader(t *testing.T) {
	const rows, rowBytes = 600, 100_000
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		must(t, setup, "CREATE TABLE ten (n INT)")
		must(t, setup, "INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
		p := startProxy(t, oneNode(server.Addr, 2))
		c := p.client(database)
		before := heap()
		text := fmt.Sprintf("SELECT REPEAT('x', %d) FROM ten a, ten b, ten c LIMIT %d", rowBytes, rows)
		if err := c.Send(mysql.ComQuery, text); err != nil {
			t.Fatal(err)
		}
		// The client reads nothing until the proxy is stuck with what the sockets do not take.
		mysqltest.WaitFor(t, "the proxy to wait for its client", func() bool {
			return p.primary("n").Stats().InUse == 1 && strings.Contains(stacks(), "sendBytes")
		})
		var most, length int
		for k := 0; ; k++ {
			if k%100 == 0 {
				most = max(most, heap()-before)
			}
			packet, err := c.Conn.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			length += len(packet)
			if k > 1 && packet[0] == mysql.EOFHeader && len(packet) < 100 {
				break
			}
		}
		if length < rows*rowBytes {
			t.Errorf("%d bytes arrived, less than the rows have", length)
		}
		if most > 8<<20 {
			t.Errorf("the heap grew by %d KB for a result of %d KB", most>>10, length>>10)
		}
		// The same, but the client goes away in the middle: the server is not made to send the rest to nobody.
		if err := c.Send(mysql.ComQuery, text); err != nil {
			t.Fatal(err)
		}
		c.Conn.Close()
		p.quiet(0)
		mysqltest.WaitFor(t, "the statement to end on the server", func() bool {
			return number(t, setup, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%REPEAT%' AND id <> CONNECTION_ID()") == 0
		})
	})
}

// heap is the number of bytes in use after a collection.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// stacks shows what all goroutines do.
func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}

// Threat 18: whatever a server sends, the client hears an error or loses its connection, nobody waits for ever, and the
// proxy serves the next statement.
func TestServersThatBreakTheProtocol(t *testing.T) {
	// packet puts a header in front of a payload.
	packet := func(seq byte, payload string) string {
		return string([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), seq}) + payload
	}
	one := packet(1, "\x01") + packet(2, "\x03def\x00\x00\x00\x01a\x00\x0c\x2d\x00\x10\x00\x00\x00\xfd\x00\x00\x00\x00\x00")
	for name, bytes := range map[string]string{
		"as many columns as a number can say":    packet(1, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
		"more columns than a result can have":    packet(1, "\xfd\x00\x00\x02"),
		"a column count that is cut off":         packet(1, "\xfd\x01"),
		"no payload":                             packet(1, ""),
		"a definition that is cut off":           packet(1, "\x01") + packet(2, "\x03def\xfd\xff\xff\xff"),
		"a wrong sequence":                       packet(7, "\x00\x00\x00\x02\x00\x00\x00"),
		"a wrong sequence among rows":            one + packet(9, "\x01x"),
		"an OK packet that is cut off":           packet(1, "\x00\xfe"),
		"an ERR packet that is cut off":          packet(1, "\xff"),
		"a packet longer than it says":           packet(1, "\x00\x00\x00\x02\x00\x00\x00") + "more",
		"a packet that never comes, and the end": "\xff\xff\xff\x01abc",
		"the end in a row":                       one + "\x05\x00\x00\x03\x01",
		"the end behind the columns":             one,
		"the end":                                "",
	} {
		t.Run(name, func(t *testing.T) {
			good := answers("script")
			server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
				if strings.Contains(string(payload), "trap") {
					c.Raw([]byte(bytes))
					c.Cut()
					return
				}
				good(c, cmd, payload)
			}})
			p := startProxy(t, oneNode(server.Addr, 1))
			for _, prepared := range []bool{false, true} {
				c := p.client("")
				if prepared {
					if _, err := c.Prepare("SELECT trap"); err == nil && !strings.Contains(name, "longer") {
						t.Error("a statement was prepared")
					}
				} else if r, err := c.Query("UPDATE trap"); err == nil && r.Err == nil && !strings.Contains(name, "longer") {
					t.Errorf("the client hears %+v", r)
				}
				c.Close()
			}
			p.quiet(0)
			if got := value(t, p.client(""), "SELECT name"); got != "script" {
				t.Errorf("the next client gets %q", got)
			}
		})
	}
}

// Threat 18: a result without end takes no memory, and ends with its client.
func TestResultWithoutEnd(t *testing.T) {
	good := answers("script")
	row := append([]byte{0xfd, 0x00, 0x80, 0x00}, make([]byte, 32<<10)...)
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if !strings.Contains(string(payload), "endless") {
			good(c, cmd, payload)
			return
		}
		c.Columns(mysqltest.Strings("a")...)
		for c.Conn.Flush() == nil {
			c.Conn.WritePacket(row)
		}
	}})
	p := startProxy(t, oneNode(server.Addr, 1))
	c := p.client("")
	if err := c.Send(mysql.ComQuery, "SELECT endless"); err != nil {
		t.Fatal(err)
	}
	before := heap()
	if _, err := io.CopyN(io.Discard, c.Conn.Net.NetConn(), 64<<20); err != nil {
		t.Fatal(err)
	}
	if grown := heap() - before; grown > 8<<20 {
		t.Errorf("the heap grew by %d KB", grown>>10)
	}
	c.Conn.Close()
	p.quiet(0)
	mysqltest.WaitFor(t, "the connection to be closed", func() bool { return server.Open() <= 1 }) // the probe's stays
	must(t, p.client(""), "SELECT name")
}

// Threat 1, the other way round: a client that sends its login byte by byte has no more time for it than others.
func TestDrippingLogin(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, oneNode(server.Addr, 1, "handshake_timeout: 1s"))
	nc, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, b := range append([]byte{200, 0, 0, 1}, make([]byte, 199)...) {
		if _, err = nc.Write([]byte{b}); err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	var closed net.Error
	if err == nil || errors.As(err, &closed) && closed.Timeout() {
		t.Errorf("a login of ten seconds was waited for: %v", err)
	}
	p.quiet(0)
}
