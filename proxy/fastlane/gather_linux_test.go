package fastlane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// told counts what a Sender is told.
type told struct{ n int }

func (s *told) Sent(n int) { s.n += n }

// onLoop runs f in a handler of its loop when something comes.
type onLoop struct {
	f    func(l *Loop)
	over chan struct{}
}

func (h *onLoop) Ready(l *Loop, c *Conn) {
	h.f(l)
	close(h.over)
}

// do runs f on a loop.
func do(t *testing.T, g *Group, f func(l *Loop)) {
	t.Helper()
	c, peer := pair(t, g)
	h := &onLoop{f, make(chan struct{})}
	if !c.Park(h) {
		t.Fatal("a fresh connection cannot be parked")
	}
	peer.Write([]byte("x"))
	<-h.over
}

// What a loop gathers arrives as its Senders are told, at connections that are there; one that is closed keeps none of the others.
func TestGather(t *testing.T) {
	g := openGroup(t, 1)
	for _, batch := range []bool{true, false} {
		if !batch {
			do(t, g, func(l *Loop) {
				if l.batch != nil {
					l.batch.Close()
				}
				l.batch = nil
			})
		}
		const many = 75 // more than one system call
		var conns []*Conn
		var peers []*net.TCPConn
		for range many {
			c, peer := pair(t, g)
			conns, peers = append(conns, c), append(peers, peer)
		}
		conns[7].Close()
		text := func(k int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%d;", k), 1+k*10) }
		before := g.Gathered()
		var senders [many]told
		do(t, g, func(l *Loop) {
			for k, c := range conns {
				l.Gather(c, text(k), &senders[k])
			}
			l.Gather(conns[0], nil, &senders[0])
			l.SendGathered()
			if len(l.list) != 0 {
				t.Errorf("%d are left", len(l.list))
			}
		})
		sent, counted := 0, g.Gathered()-before
		for k, peer := range peers {
			switch n := senders[k].n; {
			case n == 0:
			case k == 7 || n > len(text(k)):
				t.Errorf("connection %d: %d of %d bytes", k, n, len(text(k)))
			default:
				sent++
				conns[k].Write(text(k)[n:])
				got := make([]byte, len(text(k)))
				if _, err := io.ReadFull(peer, got); err != nil || !bytes.Equal(got, text(k)) {
					t.Errorf("connection %d: %q, %v", k, got, err)
				}
			}
		}
		switch want := g.Alone() == nil && batch; {
		case counted != uint64(sent):
			t.Errorf("%d were sent, %d are counted", sent, counted)
		case want && sent != many-1:
			t.Errorf("%d were sent", sent)
		case !want && sent != 0:
			t.Errorf("%d were sent without a batch", sent)
		}
	}
}

// One write alone is the caller's.
func TestGatherOne(t *testing.T) {
	g := openGroup(t, 1)
	c, _ := pair(t, g)
	var s told
	do(t, g, func(l *Loop) {
		l.Gather(c, []byte("alone"), &s)
		l.SendGathered()
	})
	if s.n != 0 {
		t.Errorf("%d bytes", s.n)
	}
}

// onTheWay is how many bytes a socket has sent that its peer's kernel has not said to have.
func onTheWay(t *testing.T, c *Conn) int {
	t.Helper()
	kept, err := unix.IoctlGetInt(c.fd, unix.SIOCOUTQ)
	if err != nil {
		t.Fatal(err)
	}
	unsent, err := unix.IoctlGetInt(c.fd, unix.SIOCOUTQNSD)
	if err != nil {
		t.Fatal(err)
	}
	return kept - unsent
}

// What a socket does not take is neither told nor counted; and what broke a connection is told by the write behind.
func TestGatherThatFails(t *testing.T) {
	g := openGroup(t, 1)
	if g.Alone() != nil {
		return // TestGather sees to that
	}
	var conns [4]*Conn
	var peers [4]*net.TCPConn
	for k := range conns {
		conns[k], peers[k] = pair(t, g)
	}
	for full := false; !full; runtime.Gosched() {
		// Its peer does not read: once nothing is on the way to it, nothing makes room again.
		still := onTheWay(t, conns[0]) == 0
		n, _ := conns[0].TryWrite(make([]byte, 100_000))
		full = still && n == 0
	}
	peers[1].SetLinger(0)
	peers[1].Close() // a reset
	var senders [4]told
	var ended error
	do(t, g, func(l *Loop) {
		for k, c := range conns {
			l.Gather(c, []byte("x"), &senders[k])
		}
		l.SendGathered()
		_, ended = conns[1].TryWrite([]byte("x"))
	})
	if senders != [4]told{{0}, {0}, {1}, {1}} || g.Gathered() != 2 || !errors.Is(ended, syscall.ECONNRESET) {
		t.Errorf("%v were sent, %d are counted, the broken one ended with %v", senders, g.Gathered(), ended)
	}
}
