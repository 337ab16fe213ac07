package fastlane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"kingshard/mysql/mysqltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noTicker keeps nothing.
type noTicker struct{}

func (noTicker) Tick(*Loop)  {}
func (noTicker) Round(*Loop) {}
func (noTicker) Stop(*Loop)  {}

// openGroup starts loops that stop with the test; no descriptor may be left of them.
func openGroup(t *testing.T, loops int) *Group {
	t.Helper()
	before := descriptors(t)
	var running sync.WaitGroup
	g, err := Open(loops, running.Go, func(*Loop) Ticker { return noTicker{} })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Close()
		running.Wait()
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
	return g
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// pair gives a connection in a loop and its peer.
func pair(t *testing.T, g *Group) (*Conn, *net.TCPConn) {
	t.Helper()
	peer, nc := mysqltest.TCPPair(t)
	c, err := g.Adopt(nc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if c.LocalAddr().String() != peer.RemoteAddr().String() || c.RemoteAddr().String() != peer.LocalAddr().String() {
		t.Errorf("from %v to %v, and its peer from %v to %v", c.RemoteAddr(), c.LocalAddr(), peer.LocalAddr(), peer.RemoteAddr())
	}
	return c, peer
}

// echo is a handler that sends back what comes, on the loop.
type echo struct {
	c    *Conn
	over chan error
	seen int
}

func (e *echo) Ready(l *Loop, c *Conn) {
	var b [1000]byte
	n, err := c.TryRead(b[:])
	switch {
	case err == syscall.EAGAIN:
	case err != nil:
		e.over <- err
		return
	default:
		e.seen += n
		if _, err := c.TryWrite(b[:n]); err != nil {
			e.over <- err
			return
		}
	}
	l.Park(c, e)
}

func (e *echo) start(t *testing.T) {
	t.Helper()
	if !e.c.Park(e) {
		t.Fatal("a fresh connection cannot be parked")
	}
}

func TestParkedConnectionIsServedByItsLoop(t *testing.T) {
	g := openGroup(t, 2)
	for range 4 {
		c, peer := pair(t, g)
		e := &echo{c: c, over: make(chan error, 1)}
		// A new connection can be written to, which is no reason not to park it.
		e.start(t)
		sent := make([]byte, 100_000)
		for k := range sent {
			sent[k] = byte(rand.Int())
		}
		go func() {
			for rest := sent; len(rest) > 0; {
				n := min(len(rest), 1+rand.IntN(3000))
				peer.Write(rest[:n])
				rest = rest[n:]
			}
			peer.CloseWrite()
		}()
		got, err := io.ReadAll(io.LimitReader(peer, int64(len(sent))))
		if err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("%d bytes came back, error %v", len(got), err)
		}
		if err := <-e.over; err != io.EOF {
			t.Errorf("the end is %v", err)
		}
	}
}

// roamer sends back what comes and parks where the group has it, or, from a goroutine, goes on reading.
type roamer struct {
	c     *Conn
	last  atomic.Pointer[Loop]
	moves atomic.Int32
	over  chan error
}

func (m *roamer) Ready(l *Loop, c *Conn) {
	if c.loop.Load() != l {
		m.over <- errors.New("a loop has another's connection")
		return
	}
	if old := m.last.Swap(l); old != nil && old != l {
		m.moves.Add(1)
	}
	if m.serve() && !l.ParkHome(c, m) {
		go func() {
			for m.serve() && !c.Park(m) {
			}
		}()
	}
}

// serve sends back what there is; false at the end.
func (m *roamer) serve() bool {
	var b [1000]byte
	n, err := m.c.TryRead(b[:])
	if err == nil {
		_, err = m.c.TryWrite(b[:n])
	}
	if err != nil && err != syscall.EAGAIN {
		m.over <- err
		return false
	}
	return true
}

// Connections move to the loops in use, at any moment, and lose nothing.
func TestConnectionsMoveToTheLoopsInUse(t *testing.T) {
	const loops = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * loops)) // loops keep theirs while they nap
	g := openGroup(t, loops)
	var roamers []*roamer
	var talks sync.WaitGroup
	for range 8 {
		c, peer := pair(t, g)
		m := &roamer{c: c, over: make(chan error, 1)}
		if !c.Park(m) {
			t.Fatal("a fresh connection cannot be parked")
		}
		roamers = append(roamers, m)
		talks.Go(func() {
			var b [3]byte
			for k := range 3000 {
				sent := fmt.Appendf(nil, "%03d", k%1000)
				peer.Write(sent)
				if _, err := io.ReadFull(peer, b[:]); err != nil || !bytes.Equal(b[:], sent) {
					t.Errorf("%s came back as %s, error %v", sent, b[:], err)
					return
				}
			}
		})
	}
	stop, flipped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(flipped)
		for {
			select {
			case <-stop:
				return
			default:
				g.Use(1 + rand.IntN(loops))
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	talks.Wait()
	close(stop)
	<-flipped
	moved := int32(0)
	for _, m := range roamers {
		moved += m.moves.Load()
	}
	if moved < 100 {
		t.Errorf("%d moves", moved)
	}
	for k, m := range roamers {
		m.c.Close()
		if err := <-m.over; !errors.Is(err, net.ErrClosed) {
			t.Errorf("connection %d ended with %v", k, err)
		}
	}
}

// One loop in use holds all connections after a word on each; with all in use, each holds some.
func TestLoopsInUse(t *testing.T) {
	g := openGroup(t, 2)
	var roamers []*roamer
	var peers []*net.TCPConn
	for range 4 {
		c, peer := pair(t, g)
		m := &roamer{c: c, over: make(chan error, 1)}
		if !c.Park(m) {
			t.Fatal("a fresh connection cannot be parked")
		}
		roamers, peers = append(roamers, m), append(peers, peer)
	}
	holds := func(n int) (by [2]int) {
		g.Use(n)
		for k, peer := range peers {
			peer.Write([]byte("x"))
			if _, err := io.ReadFull(peer, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			c := roamers[k].c
			mysqltest.WaitFor(t, "the connection to be at home", func() bool { return c.loop.Load() == g.home(c) })
			by[c.loop.Load().index]++
		}
		return by
	}
	if by := holds(1); by != [2]int{4, 0} {
		t.Errorf("one loop in use: %v", by)
	}
	if by := holds(2); by != [2]int{2, 2} {
		t.Errorf("two loops in use: %v", by)
	}
}

// A connection that cannot be moved stays, and loses nothing.
func TestTakeThatFails(t *testing.T) {
	g := openGroup(t, 2)
	c, peer := pair(t, g)
	old := c.loop.Load()
	other := g.loops[1-old.index]
	if err := other.watch(c); err != nil { // so that it cannot be watched once more
		t.Fatal(err)
	}
	peer.Write([]byte("x"))
	mysqltest.WaitFor(t, "the event", func() bool { return c.in.state.Load() == ready })
	var b [1]byte
	if err := other.Take(c); err == nil || c.loop.Load() != old {
		t.Fatalf("error %v, in loop %d", err, c.loop.Load().index)
	}
	e := &echo{c: c, over: make(chan error, 1)}
	for !c.Park(e) {
		if n, err := c.TryRead(b[:]); err == nil {
			c.Write(b[:n])
		} else if err != syscall.EAGAIN {
			t.Fatal(err)
		}
	}
	peer.Write([]byte("y"))
	got := make([]byte, 2)
	if _, err := io.ReadFull(peer, got); err != nil || string(got) != "xy" {
		t.Errorf("%q came back, error %v", got, err)
	}
}

// A connection that cannot be watched is not taken.
func TestAdoptThatFails(t *testing.T) {
	g := openGroup(t, 1)
	_, nc := mysqltest.TCPPair(t)
	defer nc.Close()
	broken := &Loop{group: g, epoll: -1}
	if _, err := broken.Adopt(nc); !errors.Is(err, unix.EBADF) {
		t.Fatalf("error %v", err)
	}
	if _, err := nc.Write([]byte("x")); err != nil {
		t.Errorf("the connection was not left as it was: %v", err)
	}
}

// What came before the connection was parked is seen.
func TestParkWithSomethingToRead(t *testing.T) {
	g := openGroup(t, 1)
	for range 200 {
		c, peer := pair(t, g)
		e := &echo{c: c, over: make(chan error, 1)}
		peer.Write([]byte("x"))
		for !c.Park(e) {
			var b [1]byte
			if n, err := c.TryRead(b[:]); err == nil {
				c.Write(b[:n])
			} else if err != syscall.EAGAIN {
				t.Fatal(err)
			}
		}
		var b [1]byte
		if _, err := io.ReadFull(peer, b[:]); err != nil {
			t.Fatal(err)
		}
		peer.Close()
		if err := <-e.over; err != io.EOF {
			t.Fatal(err)
		}
		c.Close()
	}
}

func TestCloseTellsTheHandler(t *testing.T) {
	g := openGroup(t, 2)
	for range 200 {
		c, _ := pair(t, g)
		e := &echo{c: c, over: make(chan error, 1)}
		parked := c.Park(e)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { c.Close() })
		}
		if parked {
			if err := <-e.over; !errors.Is(err, net.ErrClosed) {
				t.Fatalf("the handler saw %v", err)
			}
		}
		all.Wait()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("read: %v", err)
		}
		if c.Park(e) {
			if err := <-e.over; !errors.Is(err, net.ErrClosed) {
				t.Fatalf("the handler saw %v", err)
			}
		}
	}
}

// For goroutines it is a net.Conn: reads wait, deadlines end them, Close does.
func TestGoroutineReads(t *testing.T) {
	g := openGroup(t, 1)
	c, peer := pair(t, g)
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a read with a deadline ended with %v", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	go func() {
		for range 100 {
			peer.Write([]byte("hello"))
			runtime.Gosched()
		}
	}()
	if _, err := io.ReadFull(c, make([]byte, 500)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	time.Sleep(time.Millisecond)
	_ = c.SetReadDeadline(time.Unix(1, 0))
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a deadline set meanwhile: %v", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	time.Sleep(time.Millisecond)
	c.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Fatalf("closed meanwhile: %v", err)
	}
}

// A write waits for a peer that does not read, without holding the loop up.
func TestWriteWaits(t *testing.T) {
	g := openGroup(t, 1)
	c, peer := pair(t, g)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	written := make(chan error, 1)
	go func() {
		_, err := c.Write(sent)
		written <- err
	}()
	other, otherPeer := pair(t, g)
	e := &echo{c: other, over: make(chan error, 1)}
	e.start(t)
	otherPeer.Write([]byte("y"))
	if _, err := io.ReadFull(otherPeer, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.LimitReader(peer, int64(len(sent))))
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes, error %v", len(got), len(sent), err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// switcher tells which loop called it, and gives the connection to a goroutine.
type switcher struct{ got chan *Loop }

func (s *switcher) Ready(l *Loop, c *Conn) { s.got <- l }

// mover moves a connection into its loop and parks it there.
type mover struct {
	c    *Conn
	h    Handler
	done chan error
}

func (m *mover) Ready(l *Loop, c *Conn) {
	var b [1]byte
	_, _ = c.TryRead(b[:])
	err := l.Take(m.c)
	if err == nil {
		l.Park(m.c, m.h)
	}
	m.done <- err
}

func TestTakeMovesBetweenLoops(t *testing.T) {
	g := openGroup(t, 2)
	c, peer := pair(t, g)
	for range 2 {
		door, doorPeer := pair(t, g)
		m := &mover{c: c, h: &switcher{make(chan *Loop, 1)}, done: make(chan error, 1)}
		if !door.Park(m) {
			t.Fatal("cannot park")
		}
		// The first move may be one into the loop in which it is.
		doorPeer.Write([]byte("z"))
		if err := <-m.done; err != nil {
			t.Fatal(err)
		}
		peer.Write([]byte("1"))
		if l := <-m.h.(*switcher).got; l != door.loop.Load() {
			t.Fatal("another loop than that which took the connection called its handler")
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

// Connections that come and go under load, closed from anywhere at any time: none hangs, and no descriptor is mixed up.
func TestCloseAtRandom(t *testing.T) {
	g := openGroup(t, 2)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 40 {
				c, peer := pair(t, g)
				e := &echo{c: c, over: make(chan error, 2)}
				parked := c.Park(e)
				var sides sync.WaitGroup
				sides.Go(func() {
					b := []byte{byte(rand.Int())}
					for range rand.IntN(20) {
						if _, err := peer.Write(b); err != nil {
							return
						}
						got := make([]byte, 1)
						if _, err := io.ReadFull(peer, got); err != nil {
							return
						}
						if got[0] != b[0] {
							t.Errorf("sent %d, got %d", b[0], got[0])
						}
					}
					peer.Close()
				})
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
				c.Close()
				if parked {
					<-e.over
				}
				peer.Close()
				sides.Wait()
			}
		})
	}
	all.Wait()
}

// ticking counts ticks.
type ticking struct {
	ticks  chan struct{}
	rounds int // ends of rounds in which a tick was
	stops  int
}

func (k *ticking) Tick(l *Loop) {
	select {
	case k.ticks <- struct{}{}:
	default:
	}
	l.After(time.Millisecond)
	l.AtRoundEnd()
}

func (k *ticking) Round(*Loop) { k.rounds++ }

func (k *ticking) Stop(*Loop) { k.stops++ }

func TestTicker(t *testing.T) {
	k := &ticking{ticks: make(chan struct{}, 3)}
	var running sync.WaitGroup
	g, err := Open(1, running.Go, func(*Loop) Ticker { return k })
	if err != nil {
		t.Fatal(err)
	}
	g.Loops()[0].TickNow()
	for range 10 {
		<-k.ticks
	}
	g.Close()
	running.Wait()
	if k.stops != 1 {
		t.Errorf("stopped %d times", k.stops)
	}
	if k.rounds == 0 {
		t.Error("no end of a round was told")
	}
}

// tickOnce asks for the end of a round in its second tick, for whose time the loop waits, and for nothing that would end the wait after.
type tickOnce struct {
	ticks  int
	rounds chan struct{}
}

func (k *tickOnce) Tick(l *Loop) {
	if k.ticks++; k.ticks == 1 {
		l.After(time.Millisecond)
	} else {
		l.AtRoundEnd()
	}
}

func (k *tickOnce) Round(*Loop) {
	select {
	case k.rounds <- struct{}{}:
	default:
	}
}

func (*tickOnce) Stop(*Loop) {}

// What a tick asks for at the end of a round is done in that round: the loop does not wait first.
func TestRoundOfATick(t *testing.T) {
	k := &tickOnce{rounds: make(chan struct{}, 1)}
	var running sync.WaitGroup
	g, err := Open(1, running.Go, func(*Loop) Ticker { return k })
	if err != nil {
		t.Fatal(err)
	}
	g.Nap(0) // a nap would end by itself
	g.Loops()[0].TickNow()
	select {
	case <-k.rounds:
	case <-time.After(10 * time.Second):
		t.Error("no end of the tick's round was told")
	}
	g.Close()
	running.Wait()
}

// An unix socket and a connection without a descriptor.
func TestAdopt(t *testing.T) {
	g := openGroup(t, 1)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]net.Conn, 2)
	for k, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		if ends[k], err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	c, err := g.Adopt(ends[0])
	if err != nil {
		t.Fatal(err)
	}
	if l, r := c.LocalAddr(), c.RemoteAddr(); l.Network() != "unix" || r.Network() != "unix" {
		t.Errorf("a unix socket from %v to %v", l, r)
	}
	e := &echo{c: c, over: make(chan error, 1)}
	e.start(t)
	ends[1].Write([]byte("w"))
	if _, err := io.ReadFull(ends[1], make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ends[1].Close()
	if err := <-e.over; err != io.EOF {
		t.Fatal(err)
	}
	c.Close()
	if l := c.LocalAddr(); l != nil {
		t.Errorf("a closed connection is at %v", l)
	}
	one, two := net.Pipe()
	defer two.Close()
	defer one.Close()
	if _, err := g.Adopt(one); err == nil {
		t.Error("a pipe in memory was adopted")
	}
}
