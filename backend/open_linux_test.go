package backend

import (
	"context"
	"net"
	"testing"
	"time"

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
			defer i.close()
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
