package transport

import (
	"net"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// socketPair gives the two ends of a loopback connection.
func socketPair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	return pair(t, "tcp", "127.0.0.1:0")
}

// sockets gives both ends of a connection over a unix socket.
func sockets(t testing.TB, network string) (a, b net.Conn) {
	t.Helper()
	return pair(t, network, filepath.Join(t.TempDir(), "s"))
}

func pair(t testing.TB, network, addr string) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return a, b
}
