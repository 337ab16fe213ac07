package fastlane

import (
	"fmt"
	"net"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Group is a number of loops. Its methods may be called by any goroutine.
type Group struct {
	loops []*Loop
	used  atomic.Uint32 // loops that hold connections, the first ones
	naps  atomic.Uint32 // loops that may nap, the first ones
	next  atomic.Uint32 // turn of the next connection
	seq   atomic.Int32  // tells connections apart that had the same descriptor
	conns table
}

// Open starts n loops by spawn, each with a Ticker of its own. Close stops them.
func Open(n int, spawn func(func()), ticker func(*Loop) Ticker) (*Group, error) {
	g := new(Group)
	for k := range n {
		l, err := openLoop(g, uint32(k))
		if err != nil {
			for _, opened := range g.loops {
				opened.free()
			}
			return nil, fmt.Errorf("open an event loop: %w", err)
		}
		l.ticker = ticker(l)
		g.loops = append(g.loops, l)
	}
	g.used.Store(uint32(n))
	g.naps.Store(uint32(n))
	for _, l := range g.loops {
		spawn(l.run)
	}
	return g, nil
}

// Loops are the group's loops.
func (g *Group) Loops() []*Loop { return g.loops }

// Use sets how many of the loops hold the connections that the group adopted, from 1 to all. A connection that is in another one now
// moves when its owner parks it the next time.
func (g *Group) Use(n int) { g.used.Store(uint32(n)) }

// Nap sets how many of the loops have a place of the Go scheduler to keep while they wait for a moment, from none to all.
func (g *Group) Nap(n int) { g.naps.Store(uint32(n)) }

// Alone is why loops, or one of them, make each write by a system call of its own; nil if all make by one what they gathered.
func (g *Group) Alone() error {
	for _, l := range g.loops {
		if l.alone != nil {
			return l.alone
		}
	}
	return nil
}

// Gathered is how many writes the loops have made together with others so far.
func (g *Group) Gathered() uint64 {
	n := uint64(0)
	for _, l := range g.loops {
		n += l.together.Load()
	}
	return n
}

// Wakes is how often the loops have woken a goroutine so far, for which something had come.
func (g *Group) Wakes() uint64 {
	n := uint64(0)
	for _, l := range g.loops {
		n += l.wakes.Load()
	}
	return n
}

// Adopt takes a connection that nobody uses into one of the loops; see [Loop.Adopt].
func (g *Group) Adopt(nc net.Conn) (*Conn, error) {
	turn := g.next.Add(1)
	c, err := g.loops[turn%g.used.Load()].Adopt(nc)
	if err == nil {
		c.turn = turn
	}
	return c, err
}

// home is the loop that is to hold a connection.
func (g *Group) home(c *Conn) *Loop {
	if c.turn == 0 {
		return c.loop.Load()
	}
	return g.loops[c.turn%g.used.Load()]
}

// Close stops the loops and waits for them. No connection is parked any more.
func (g *Group) Close() {
	for _, l := range g.loops {
		l.stopping.Store(true)
		l.TickNow()
	}
	for _, l := range g.loops {
		<-l.done
	}
}

// Adopt takes a connection that nobody uses into the loop, with its socket options: nc is closed without ending the
// connection, which goes on as the Conn. Without success nc is as it was. nc has a file descriptor: it is TCP or a unix
// socket, with no layer above.
func (l *Loop) Adopt(nc net.Conn) (*Conn, error) {
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("a %T has no file descriptor", nc)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	cerr := raw.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if cerr != nil {
		return nil, cerr
	}
	if err != nil {
		return nil, err
	}
	c := &Conn{fd: fd, seq: l.group.seq.Add(1), group: l.group}
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		c.remote = a.AddrPort()
	}
	c.refs.Store(1)
	c.loop.Store(l)
	if err = l.group.conns.set(fd, c); err == nil {
		err = l.watch(c)
	}
	if err != nil {
		l.group.conns.drop(fd, c)
		_ = unix.Close(fd)
		return nil, err
	}
	_ = nc.Close()
	return c, nil
}
