package fastlane

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kingshard/mysql/rawio"
)

// closedBit in Conn.refs says that Close was called.
const closedBit = 1 << 31

// Conn is a connection in a loop: a net.Conn, and a syscall.Conn.
type Conn struct {
	fd     int
	seq    int32
	turn   uint32 // says which loop is to hold it; 0: that which it is in
	group  *Group
	loop   atomic.Pointer[Loop]
	remote netip.AddrPort // invalid over a unix socket

	// refs counts system calls under way, and 1 until Close: the last one closes the descriptor, so that none works on a
	// descriptor that is another connection's already.
	refs atomic.Uint32
	// gone says that the peer has closed or the connection broke: after what can still be read comes an error.
	gone    atomic.Bool
	in, out side
	handler Handler // while parked
	// cause is what broke the connection if a write of a loop's batch found it: the system tells it once, and then EPIPE.
	cause syscall.Errno
}

// hold begins a system call; false if the connection is closed.
func (c *Conn) hold() bool {
	for {
		n := c.refs.Load()
		if n&closedBit != 0 {
			return false
		}
		if c.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// letGo ends a system call.
func (c *Conn) letGo() {
	if c.refs.Add(^uint32(0)) == closedBit {
		c.free()
	}
}

func (c *Conn) free() {
	c.group.conns.drop(c.fd, c)
	_ = unix.Close(c.fd)
}

func (c *Conn) closed() bool { return c.refs.Load()&closedBit != 0 }

// Close ends the connection. Reads and writes that wait fail with net.ErrClosed, and the handler of a parked connection
// is called. Any goroutine may call it, more than once.
func (c *Conn) Close() error {
	for {
		n := c.refs.Load()
		if n&closedBit != 0 {
			return nil
		}
		if c.refs.CompareAndSwap(n, (n-1)|closedBit) {
			if n == 1 {
				c.free()
			}
			break
		}
	}
	c.out.ready()
	if l := c.in.parkedIn(c.group); l != nil {
		l.post(c)
		return nil
	}
	c.in.ready()
	return nil
}

// Wake has the loop call the handler of a connection that is parked, as if something had come. Any goroutine may call it.
func (c *Conn) Wake() {
	if l := c.in.parkedIn(c.group); l != nil {
		l.post(c)
	}
}

// Leave takes the connection, which the caller owns, out of the loops for good: it is closed next, and goes on in another
// process, whose events must not come here any more.
func (c *Conn) Leave() {
	if c.hold() {
		defer c.letGo()
		_ = c.loop.Load().unwatch(c)
	}
}

// Park gives the connection up to the loop that is to hold it, which calls h when there is something to read. False says that
// there may be already: then the caller keeps the connection and reads. The caller is a goroutine, not the loop.
func (c *Conn) Park(h Handler) bool {
	if home := c.group.home(c); home != c.loop.Load() {
		_ = home.Take(c) // else it stays where it is
	}
	return c.park(h)
}

func (c *Conn) park(h Handler) bool {
	c.handler = h
	l := c.loop.Load()
	if c.gone.Load() || !c.in.state.CompareAndSwap(idle, parked+l.index) {
		return false
	}
	// A Close that came just before has not seen that the connection is parked.
	return !c.closed() || !c.in.state.CompareAndSwap(parked+l.index, idle)
}

// Park parks a connection that the loop owns and that is in it. What there is to read already is found in the next round.
func (l *Loop) Park(c *Conn, h Handler) {
	c.handler = h
	if !c.in.state.CompareAndSwap(idle, parked+l.index) {
		c.in.state.Store(parked + l.index)
		l.again = append(l.again, c)
		return
	}
	if c.gone.Load() || c.closed() {
		l.again = append(l.again, c)
	}
}

// ParkHome is Park for a connection that another loop may be to hold by now: then it is parked there, and not this loop's any more.
// False says that it could have been but that there may be something to read already: then the caller keeps it.
func (l *Loop) ParkHome(c *Conn, h Handler) bool {
	home := l.group.home(c)
	if home == l || home.Take(c) != nil {
		l.Park(c, h)
		return true
	}
	return c.park(h)
}

// Unpark takes back a connection that is parked in the loop. An event that has come and is not yet handled is not lost: it
// wakes whoever waits next.
func (l *Loop) Unpark(c *Conn) { c.in.state.CompareAndSwap(parked+l.index, idle) }

// Take moves a connection, which the caller owns, into this loop. After an error it is where it was. Any goroutine may call it.
func (l *Loop) Take(c *Conn) error {
	old := c.loop.Load()
	if old == l {
		return nil
	}
	if !c.hold() {
		return net.ErrClosed
	}
	defer c.letGo()
	c.loop.Store(l) // from here on the old loop does not heed its events
	if err := l.watch(c); err != nil {
		c.loop.Store(old)
		_ = old.watchAgain(c)
		return err
	}
	_ = old.unwatch(c)
	return nil
}

// readable is called on the loop when there is something to read, or the connection is closed.
func (c *Conn) readable(l *Loop) {
	for {
		// It may be parked at any moment: then the handler must hear of the event.
		switch s := c.in.state.Load(); s {
		case idle:
			if c.in.state.CompareAndSwap(idle, ready) {
				return
			}
		case waiting:
			if c.in.ready() {
				l.woken++
				return
			}
		case ready:
			return
		case parked + l.index:
			if c.in.state.CompareAndSwap(s, idle) {
				c.handler.Ready(l, c)
				return
			}
		default:
			return // parked in another loop since
		}
	}
}

// TryRead reads what has arrived; syscall.EAGAIN if nothing has, io.EOF at the end.
func (c *Conn) TryRead(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !c.hold() {
		return 0, net.ErrClosed
	}
	defer c.letGo()
	// An event that comes during the call counts for the next one.
	c.in.state.CompareAndSwap(ready, idle)
	n, err := rawio.Receive(uintptr(c.fd), b)
	switch {
	case err == nil:
		if n == len(b) || n == rawio.Step || c.gone.Load() {
			// What is left behind raises no event.
			c.in.state.CompareAndSwap(idle, ready)
		}
		return n, nil
	case err == syscall.EAGAIN:
		return 0, err
	}
	c.in.state.CompareAndSwap(idle, ready)
	if err != io.EOF {
		err = c.failed("read", err)
	}
	return 0, err
}

// TryWrite writes what fits in without waiting; with less than all written comes syscall.EAGAIN.
func (c *Conn) TryWrite(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if !c.hold() {
		return 0, net.ErrClosed
	}
	defer c.letGo()
	c.out.state.CompareAndSwap(ready, idle)
	total := 0
	for total < len(b) {
		n, err := rawio.Send(uintptr(c.fd), b[total:])
		if err == syscall.EAGAIN {
			return total, err
		}
		if err == syscall.EPIPE && c.cause != 0 {
			err = c.cause
		}
		if err != nil {
			return total, c.failed("write", err)
		}
		total += n
	}
	return total, nil
}

// Read is that of net.Conn.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		n, err := c.TryRead(b)
		if err != syscall.EAGAIN {
			return n, err
		}
		if err := c.WaitRead(); err != nil {
			return 0, err
		}
	}
}

// WaitRead waits until a read may give something.
func (c *Conn) WaitRead() error { return c.wait(&c.in) }

// ReadAgain has the next wait for something to read be over at once, and Park find something, as if an event had come: the owner has read more
// than it has looked at.
func (c *Conn) ReadAgain() { c.in.state.CompareAndSwap(idle, ready) }

// Write is that of net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	total := 0
	for {
		n, err := c.TryWrite(b[total:])
		if total += n; err != syscall.EAGAIN {
			return total, err
		}
		if err := c.WaitWrite(); err != nil {
			return total, err
		}
	}
}

// WaitWrite waits until a write may take something.
func (c *Conn) WaitWrite() error { return c.wait(&c.out) }

// LocalAddr is that of net.Conn. It asks the system, as hardly anybody asks it; nil when the connection is closed.
func (c *Conn) LocalAddr() net.Addr {
	if !c.hold() {
		return nil
	}
	defer c.letGo()
	local, err := unix.Getsockname(c.fd)
	if err != nil {
		return nil
	}
	switch a := local.(type) {
	case *unix.SockaddrInet4:
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)))
	case *unix.SockaddrInet6:
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)))
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: a.Name, Net: "unix"}
	}
	return nil
}

// RemoteAddr is that of net.Conn.
func (c *Conn) RemoteAddr() net.Addr {
	if !c.remote.IsValid() {
		return &net.UnixAddr{Net: "unix"}
	}
	return net.TCPAddrFromAddrPort(c.remote)
}

// failed makes of err what other network connections give.
func (c *Conn) failed(op string, err error) error {
	peer := c.RemoteAddr()
	return &net.OpError{Op: op, Net: peer.Network(), Addr: peer, Err: err}
}

// SetDeadline is that of net.Conn; it does not concern TryRead, TryWrite and handlers.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline is that of net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

// SetWriteDeadline is that of net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(t)
	return nil
}

// SyscallConn is that of syscall.Conn.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return (*rawConn)(c), nil }

// rawConn is the syscall.RawConn of a Conn.
type rawConn Conn

func (r *rawConn) Control(f func(fd uintptr)) error {
	c := (*Conn)(r)
	if !c.hold() {
		return net.ErrClosed
	}
	defer c.letGo()
	f(uintptr(c.fd))
	return nil
}

func (r *rawConn) Read(f func(fd uintptr) bool) error { return r.until(&r.in, f) }

func (r *rawConn) Write(f func(fd uintptr) bool) error { return r.until(&r.out, f) }

func (r *rawConn) until(s *side, f func(fd uintptr) bool) error {
	c := (*Conn)(r)
	for done := false; ; {
		if err := r.Control(func(fd uintptr) { done = f(fd) }); err != nil || done {
			return err
		}
		if s.state.CompareAndSwap(ready, idle) {
			continue // it may have been raised since f looked
		}
		if err := c.wait(s); err != nil {
			return err
		}
	}
}
