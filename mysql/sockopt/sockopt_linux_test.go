package sockopt

import (
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kingshard/mysql/mysqltest"
)

func rawOf(t *testing.T, nc net.Conn) syscall.RawConn {
	t.Helper()
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// What has come counts, what was sent does not.
func TestSinceReceived(t *testing.T) {
	one, other := mysqltest.TCPPair(t)
	raw := rawOf(t, one)
	since := func() time.Duration {
		d, ok := SinceReceived(raw)
		if !ok {
			t.Fatal("not known")
		}
		return d
	}
	mysqltest.WaitFor(t, "quiet", func() bool { _, _ = one.Write([]byte{1}); return since() > 100*time.Millisecond })
	quiet := since()
	if _, err := other.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	mysqltest.WaitFor(t, "the byte", func() bool { return since() < quiet })
	if _, ok := SinceReceived(closedRaw(t)); ok {
		t.Error("known of a closed socket")
	}
}

func closedRaw(t *testing.T) syscall.RawConn {
	one, _ := mysqltest.TCPPair(t)
	raw := rawOf(t, one)
	one.Close()
	return raw
}

func TestUserTimeout(t *testing.T) {
	one, _ := mysqltest.TCPPair(t)
	raw := rawOf(t, one)
	for _, d := range []time.Duration{8 * time.Second, 0} {
		UserTimeout(raw, d)
		got := -1
		if err := raw.Control(func(fd uintptr) { got, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) }); err != nil {
			t.Fatal(err)
		}
		if got != int(d.Milliseconds()) {
			t.Errorf("%v: %d ms", d, got)
		}
	}
}
