package session_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// scripted starts a proxy in front of a scripted server.
func scripted(t *testing.T, more ...string) (server *mysqltest.ScriptServer, addr string) {
	t.Helper()
	server = mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: oldServer})
	return server, startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 4, more...)
}

func rootClient() mysqltest.ClientConfig {
	return mysqltest.ClientConfig{User: "root", Password: "root"}
}

// Threat 1: sockets that never log in keep nobody out, and go when their time is over.
func TestSilentSockets(t *testing.T) {
	_, addr := scripted(t, "handshake_timeout: 2s\nmax_client_conns: 1000\n")
	var silent []net.Conn
	for range 300 {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		silent = append(silent, nc)
	}
	for range 20 {
		c := dial(t, addr, rootClient())
		must(t, c, "SELECT rows")
	}
	for k, nc := range silent {
		_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, nc); err != nil {
			t.Fatalf("silent socket %d is still open: %v", k, err)
		}
	}
}

// Threat 2: a giant packet before the login is refused by its header.
func TestGiantPacketBeforeLogin(t *testing.T) {
	_, addr := scripted(t)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Write([]byte{0xff, 0xff, 0xff, 1}); err != nil {
		t.Fatal(err)
	}
	_ = nc.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := io.Copy(io.Discard, nc); err != nil || n > 1000 {
		t.Errorf("%d bytes, %v: want the greeting and a close", n, err)
	}
}

// Threat 3: memory follows the bytes that come, not those that are announced.
func TestAnnouncedPacketsTakeNoMemory(t *testing.T) {
	_, addr := scripted(t, "max_allowed_packet: 1G\n")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 1000 {
		c := dial(t, addr, rootClient())
		if _, err := c.Conn.Net.NetConn().Write(append([]byte{0xff, 0xff, 0xff, 0, 3}, make([]byte, 1000)...)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(200 * time.Millisecond)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 160<<20 {
		t.Errorf("1000 clients that announce 16 MB each take %d MB", grown>>20)
	}
}

// Threat 5: prepared statements and long data have limits.
func TestPreparedStatementLimit(t *testing.T) {
	_, addr := scripted(t, "max_prepared_stmts: 10\nmax_allowed_packet: 1M\n")
	c := dial(t, addr, rootClient())
	for range 10 {
		if _, err := c.Prepare("SELECT ?"); err != nil {
			t.Fatal(err)
		}
	}
	_, err := c.Prepare("SELECT ?")
	var e *mysql.SQLError
	if !errors.As(err, &e) || e.Code != mysql.ERMaxPreparedStmtCount {
		t.Errorf("the 11th: %v", err)
	}
	for range 3 {
		if err := c.Send(mysql.ComStmtSendLongData, "\x01\x00\x00\x00\x00\x00"+strings.Repeat("x", 600<<10)); err != nil {
			t.Fatal(err)
		}
	}
	packets, err := c.Command(mysql.ComStmtExecute, "\x01\x00\x00\x00\x00\x01\x00\x00\x00")
	if err != nil || packets[0][0] != mysql.ErrHeader {
		t.Errorf("too much long data: %q, %v", packets, err)
	}
	must(t, c, "SELECT rows")
}

// Threats 11 and 12: no password in clear, no login without TLS where it is required.
func TestInsecureLogins(t *testing.T) {
	_, cert, key, err := mysqltest.WriteCertificates(filepath.Join(t.TempDir(), "tls"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := auth.Hash(auth.CachingSHA2, "secret")
	if err != nil {
		t.Fatal(err)
	}
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: oldServer})
	addr := startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
tls: {cert: %s, key: %s}
user_list:
  - {user: stored, verifiers: {caching_sha2_password: '%s'}}
  - {user: strict, password: secret, require_tls: true}
nodes: [{name: n, user: root, password: root, master: "%s"}]
schema_list: [{user: stored, nodes: [n], default: n}, {user: strict, nodes: [n], default: n}]
`, cert, key, stored, server.Addr))
	open := func(user string, secure bool) error {
		config := mysqltest.ClientConfig{User: user, Password: "secret"}
		if secure {
			config.TLS = &tls.Config{InsecureSkipVerify: true}
		}
		c, err := mysqltest.DialRaw(addr, config)
		if err == nil {
			c.Close()
		}
		return err
	}
	var e *mysql.SQLError
	if err := open("stored", false); !errors.As(err, &e) || e.Code != mysql.ERAccessDenied || !strings.Contains(e.Message, "TLS") {
		t.Errorf("first caching_sha2 login in clear: %v", err)
	}
	if err := open("stored", true); err != nil {
		t.Errorf("over TLS: %v", err)
	}
	if err := open("stored", false); err != nil {
		t.Errorf("in clear after a login over TLS: %v", err)
	}
	if err := open("strict", false); !errors.As(err, &e) || e.Code != mysql.ERSecureTransportRequired {
		t.Errorf("require_tls: %v", err)
	}
	if err := open("strict", true); err != nil {
		t.Errorf("require_tls over TLS: %v", err)
	}
}

// Threat 19: a server that asks for the password in clear does not get it.
func TestServerThatWantsAClearPassword(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: oldServer, SwitchTo: auth.Clear})
	c, err := mysqltest.DialRaw(startProxy(t, &mysqltest.RealServer{Addr: server.Addr}, 2, "connect_timeout: 1s\n"), rootClient())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fails(t, c, "SELECT rows", 9002)
}

// Threat 23: a character whose second byte is a backslash neither opens nor closes a string.
func TestMultiByteEscapes(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, server *mysqltest.RealServer, addr string) {
		through, direct := dial(t, addr, accept()), dial(t, server.Addr, accept())
		for _, charset := range []string{"gbk", "sjis", "big5", "cp932", "latin1", "utf8mb4"} {
			for _, text := range []string{"SELECT '\xbf\x5c', 'x'", "SELECT '\xbf\x5c' -- ', 1", "SELECT '\x95\x5c'; SELECT 2", "SELECT '\xbf\x27' OR 1=1 -- '"} {
				for _, c := range []*mysqltest.RawClient{direct, through} {
					must(t, c, "SET NAMES "+charset)
				}
				want, err1 := direct.Query(text)
				got, err2 := through.Query(text)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				if a, b := outcome(want), outcome(got); a != b {
					t.Errorf("%s %q: %s, the server: %s", charset, text, b, a)
				}
			}
		}
	})
}

func outcome(r *mysqltest.RawResult) string {
	var b strings.Builder
	for ; r != nil; r = r.Next {
		if r.Err != nil {
			fmt.Fprintf(&b, "error %d;", r.Err.Code)
			continue
		}
		fmt.Fprintf(&b, "%q;", r.Rows)
	}
	return b.String()
}

// Threat 14: no output of the proxy holds a password.
func TestNoSecretInTheLog(t *testing.T) {
	const canary, backendCanary = "canary-of-a-user-1", "canary-of-a-node-2"
	var log lockedBuffer
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: oldServer, Passwords: map[string]string{"root": "another"}})
	addr := startProxyLog(t, fmt.Sprintf(`
addr: 127.0.0.1:0
connect_timeout: 1s
health_interval: 100ms
user_list: [{user: u, password: %s}]
nodes: [{name: n, user: root, password: %s, master: "%s"}]
schema_list: [{user: u, nodes: [n], default: n}]
`, canary, backendCanary, server.Addr), &log)
	for _, password := range []string{"wrong", canary} {
		c, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: "u", Password: password})
		if err == nil {
			_, _ = c.Query("SELECT 1")
			c.Close()
		}
	}
	mysqltest.WaitFor(t, "the failed logins in the log", func() bool {
		return strings.Contains(log.String(), "denied") && strings.Contains(log.String(), "probe failed")
	})
	for _, secret := range []string{canary, backendCanary} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// FuzzCommands sends any command packets after a login. Whatever they are, the proxy answers or closes the connection,
// and serves the next client.
func FuzzCommands(f *testing.F) {
	for _, seed := range []string{"\x03SELECT 1", "\x16SELECT ?", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00", "\x11root\x00", "\x1b\x00", "\x19\x01", "\x18\x01\x00\x00\x00\x00", "\x1c", "\x04t\x00", "\x03", "", "\x0c\x01\x00", "\x03SET NAMES latin1", "\x03BEGIN", "\x1f", "\x02test"} {
		f.Add([]byte(seed), []byte("\x03SELECT rows"))
	}
	server := mysqltest.StartScript(f, mysqltest.ScriptConfig{Handler: oldServer})
	addr := startProxy(f, &mysqltest.RealServer{Addr: server.Addr}, 4)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		c, err := mysqltest.DialRaw(addr, mysqltest.ClientConfig{User: "root", Password: "root", Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, p := range [][]byte{first, second} {
			c.Conn.ResetSequence()
			c.Conn.WritePacket(p)
			_ = c.Conn.Flush()
		}
		_ = c.Send(mysql.ComQuit, "")
		_ = c.Conn.Net.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, c.Conn.Net.NetConn()); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%q, %q: %v", first, second, err)
		}
		next, err := mysqltest.DialRaw(addr, rootClient())
		if err != nil {
			t.Fatalf("after %q, %q: %v", first, second, err)
		}
		defer next.Close()
		if r, err := next.Query("SELECT rows"); err != nil || r.Err != nil {
			t.Errorf("after %q, %q: %v, %v", first, second, r, err)
		}
	})
}
