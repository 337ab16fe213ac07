package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestEnding: what the first read that failed for good has found stays, whatever later ones find.
func TestEnding(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(c *Conn, peer *net.TCPConn)
		want Ending
		err  error
	}{
		"in order": {func(_ *Conn, peer *net.TCPConn) { _ = peer.CloseWrite() }, EndedInOrder, io.EOF},
		"reset": {func(_ *Conn, peer *net.TCPConn) {
			_ = peer.SetLinger(0)
			_ = peer.Close()
		}, EndedByReset, syscall.ECONNRESET},
		"here":     {func(c *Conn, _ *net.TCPConn) { _ = c.Close() }, EndedOtherwise, net.ErrClosed},
		"deadline": {func(c *Conn, _ *net.TCPConn) { _ = c.SetReadDeadline(time.Unix(1, 0)) }, NotEnded, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := socketPair(t)
			c := new(Conn)
			c.Open(a)
			test.end(c, b.(*net.TCPConn))
			n, err := c.Read(make([]byte, 8))
			if n != 0 || !errors.Is(err, test.err) || c.Ending() != test.want || c.Broken() != (test.want != NotEnded) {
				t.Errorf("%d bytes, %v, ending %d", n, err, c.Ending())
			}
			_, _ = c.Read(make([]byte, 8))
			if c.Ending() != test.want || c.AwaitEnding(time.Millisecond) != test.want {
				t.Errorf("it has changed to %d", c.Ending())
			}
		})
	}
}

// TestAwaitEnding: bytes ahead of the end are dropped; a peer that says no more and stays is waited for as long as was said.
func TestAwaitEnding(t *testing.T) {
	a, b := socketPair(t)
	c := new(Conn)
	c.Open(a)
	_, _ = b.Write(make([]byte, 10_000))
	if began := time.Now(); c.AwaitEnding(20*time.Millisecond) != NotEnded || time.Since(began) < 20*time.Millisecond {
		t.Errorf("ending %d after %v", c.Ending(), time.Since(began))
	}
	_ = b.Close()
	if c.AwaitEnding(10*time.Second) != EndedInOrder {
		t.Errorf("ending %d", c.Ending())
	}
}

func TestPeerGone(t *testing.T) {
	a, b := socketPair(t)
	c := new(Conn)
	c.Open(a)
	if c.PeerGone() {
		t.Error("gone at once")
	}
	_, _ = b.Write([]byte("x"))
	_ = b.Close()
	if c.PeerGone() {
		t.Error("gone with something left to be read")
	}
	if _, err := c.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !c.PeerGone(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not gone")
		}
	}
	if c.Ending() != NotEnded {
		t.Error("it has read")
	}
}
