package mysqltest

import (
	"net"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// NotifySocket is where a supervisor such as systemd hears how a process is (sd_notify(3)).
type NotifySocket struct {
	t    testing.TB
	conn *net.UnixConn
}

// ListenNotify listens until the test ends, and names the socket in the environment of this process and of those that it starts.
func ListenNotify(t testing.TB) *NotifySocket {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return &NotifySocket{t, conn}
}

// Hear waits for the next message, which must match all of want, a regular expression, and gives it. Signs of life are passed over
// unless one is wanted.
func (s *NotifySocket) Hear(want string) string {
	s.t.Helper()
	const alive = "WATCHDOG=1"
	b := make([]byte, 4096)
	for {
		_ = s.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		n, err := s.conn.Read(b)
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", want, err)
		}
		got := string(b[:n])
		if got == alive && want != alive {
			continue
		}
		if !regexp.MustCompile("^(?:" + want + ")$").MatchString(got) {
			s.t.Fatalf("heard %q, want %s", got, want)
		}
		return got
	}
}
