package backend

import (
	"context"
	"net"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/auth"
	"kingshard/mysql/mysqltest"
)

// greeting returns the packet with which a server begins a handshake.
func greeting(t *testing.T) []byte {
	t.Helper()
	salt, err := auth.NewSalt()
	if err != nil {
		t.Fatal(err)
	}
	hello := mysql.HandshakeV10{
		ServerVersion: "8.4.0", ConnectionID: 1, Salt: salt, Capabilities: mysqltest.ScriptCapabilities, Collation: 45, AuthPlugin: auth.NativePassword,
	}
	payload := hello.AppendTo(nil)
	return append([]byte{byte(len(payload)), 0, 0, 0}, payload...)
}

// A login that failed tells when the server was heard of, if it said anything: that the system took the connection says nothing.
func TestHeardOfAtALogin(t *testing.T) {
	for _, c := range []struct {
		name   string
		greets bool
	}{{"says nothing", false}, {"greets, and then says nothing", true}} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			hello := greeting(t)
			answered := make(chan error, 1)
			go func() {
				nc, err := l.Accept()
				if err != nil {
					answered <- err
					return
				}
				defer nc.Close()
				if c.greets {
					_, err = nc.Write(hello)
				}
				answered <- err
				_, _ = nc.Read(make([]byte, 1<<10)) // until the other side has gone, or has said who it is
				_, _ = nc.Read(make([]byte, 1<<10))
			}()
			i := newInstance("n", Primary, 1, DialConfig{Addr: l.Addr().String(), User: "u", MaxAllowedPacket: 1 << 20}, PoolConfig{Max: 1})
			defer retire(i)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := i.DialContext(ctx, 0); err == nil {
				t.Fatal("logged in")
			}
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
			if quiet, ok := i.Quiet(); ok != c.greets {
				t.Errorf("quiet for %v, heard of: %v, want %v", quiet, ok, c.greets)
			}
		})
	}
}

// greeter is a server that greets, and then says nothing, until the test ends.
func greeter(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	hello := greeting(t)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { nc.Close() })
			_, _ = nc.Write(hello)
		}
	}()
	return l.Addr().String()
}

// opened is a node with a primary at an address, which takes its share of reads, as it is after so many reloads.
func opened(t *testing.T, addr string, reloads int) (first, last *Node) {
	t.Helper()
	cfg := config.Default()
	cfg.Nodes = []config.Node{{Name: "n", User: "u", Master: addr, Slave: addr}}
	for range reloads + 1 {
		nodes, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nodes["n"].Close)
		if last != nil {
			nodes["n"].Succeed(last)
		} else {
			first = nodes["n"]
		}
		last = nodes["n"]
	}
	return first, last
}

// A server that takes connections and greets, but has not answered a probe for long, is not heard of by that: neither after the start, when it has
// answered none, nor after reloads.
func TestGreetingsAreHeardForAWhile(t *testing.T) {
	for reloads := range 3 {
		first, last := opened(t, greeter(t), reloads)
		first.Primary.open.answered = time.Now().Add(-greetsFor)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := last.Primary.DialContext(ctx, 0); err == nil {
			t.Fatal("logged in")
		}
		if quiet, ok := last.Primary.Quiet(); ok {
			t.Errorf("after %d reloads: heard of %v ago", reloads, quiet)
		}
	}
}

// Connections that an instance lent before a reload tell of the server, and end with it.
func TestConnectionsAcrossReloads(t *testing.T) {
	for reloads := range 3 {
		first, last := opened(t, "127.0.0.1:1", reloads)
		for _, lender := range first.Instances() {
			for _, now := range last.Instances() {
				near, far := streams(t, "tcp")
				raw, err := near.SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				conn := &Conn{Conn: mysql.NewConn(near, mysql.BackendSide, 1<<20), raw: raw}
				conn.watch(raw)
				lender.open.add(conn)
				if _, ok := now.Quiet(); !ok {
					t.Errorf("after %d reloads the %s is not heard of by a connection of the %s before them", reloads, now.Role, lender.Role)
				}
				if n := now.EndConns(); n != 1 {
					t.Errorf("after %d reloads %d connections end with the %s, of one of the %s before them", reloads, n, now.Role, lender.Role)
				}
				if _, err := conn.ReadPacket(); err == nil {
					t.Error("a packet")
				}
				lender.open.drop(conn)
				far.Close()
			}
		}
	}
}
