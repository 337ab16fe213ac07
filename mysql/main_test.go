package mysql

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memConn is a net.Conn in memory: reads give in, in pieces of the sizes that next says, writes go to out.
type memConn struct {
	in      []byte
	next    func() int // size of the next read; nil is all there is
	out     bytes.Buffer
	discard bool  // drop what is written
	err     error // of every write, when set
	reads   int
	writes  int
	closed  int
	readMax int // the largest read asked for
}

func (c *memConn) Read(p []byte) (int, error) {
	c.reads++
	c.readMax = max(c.readMax, len(p))
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := len(p)
	if c.next != nil {
		n = min(n, max(1, c.next()))
	}
	n = copy(p[:n], c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *memConn) Write(p []byte) (int, error) {
	c.writes++
	if c.err != nil {
		return 0, c.err
	}
	if c.discard {
		return len(p), nil
	}
	return c.out.Write(p)
}

func (c *memConn) Close() error                     { c.closed++; return nil }
func (c *memConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *memConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *memConn) SetDeadline(time.Time) error      { return nil }
func (c *memConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memConn) SetWriteDeadline(time.Time) error { return nil }

var _ net.Conn = (*memConn)(nil)
var _ net.Conn = (*tls.Conn)(nil)

// unhex turns hex digits with any white space between into bytes.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// equalBytes compares without printing megabytes.
func equalBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Fatalf("%s: %d bytes, want %d; first difference at %d:\n got …% x\nwant …% x",
		what, len(got), len(want), i, got[i:min(len(got), i+40)], want[i:min(len(want), i+40)])
}

// truncations checks that a decoder refuses every cut of a payload down to min bytes, and never panics on any.
func truncations(t *testing.T, payload []byte, min int, decode func([]byte) error) {
	t.Helper()
	for n := range payload {
		if err := decode(payload[:n]); n < min && err == nil {
			t.Errorf("a payload cut to %d bytes was accepted", n)
		}
	}
}
