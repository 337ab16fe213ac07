package mysqltest

import (
	"net"
	"strconv"
	"testing"
)

func TestPortIsTakenOnce(t *testing.T) {
	port, taken, err := takePort()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := cacheDir("ports")
	if err != nil {
		t.Fatal(err)
	}
	if f, err := lockPort(dir, port); err == nil {
		_ = f.Close()
		t.Errorf("port %d was taken twice, though nothing listened there yet", port)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := lockPort(dir, port)
	if err != nil {
		t.Fatalf("the port was given back: %v", err)
	}
	_ = f.Close()

	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if f, err := lockPort(dir, port); err == nil {
		_ = f.Close()
		t.Errorf("port %d was taken from a stranger who listens there", port)
	}
}
