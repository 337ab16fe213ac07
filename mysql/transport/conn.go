// Package transport is the network connection under the packets: its layers (TLS, compression), its deadlines, how it has ended and
// whether bytes move. It knows nothing of packets and keeps no bytes.
package transport

import (
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is a network connection with the layers above it. It is made by Open and must not be copied.
//
// One goroutine at a time reads and writes it. NetConn, RemoteAddr, Secure, Activity, Writing, PeerGone, SetDeadline, SetReadDeadline and
// Close may be called from any goroutine, but not while Open or Rebase runs.
type Conn struct {
	nc     net.Conn                 // as given to Open, or to Rebase
	stream net.Conn                 // nc, as a socket where it is one
	tls    atomic.Pointer[tls.Conn] // the layer above nc once the TLS handshake succeeded
	layer  Layer                    // the one above all others, if there is one
	r      io.Reader                // nc, or the layer above it
	w      io.Writer
	raw    syscall.RawConn // nil over a layer or a Poller
	sealed *sealed         // the TLS above nc, if there is one
	poll   Poller          // nc after Rebase, or sealed
	unix   bool

	ending   Ending
	writeErr error
	received uint64
	activity atomic.Uint32
	writing  atomic.Bool
	closed   atomic.Bool
	both     *both // nil before SendBoth is called
}

// both is what one write of two pieces needs: vector, over parts.
type both struct {
	vector net.Buffers
	parts  [2][]byte
}

// Poller is a network connection that can also be used without waiting.
type Poller interface {
	net.Conn
	// TryRead reads what has arrived; syscall.EAGAIN if nothing has.
	TryRead(b []byte) (int, error)
	// TryWrite writes what fits in; with less than all written comes syscall.EAGAIN.
	TryWrite(b []byte) (int, error)
	// WaitRead waits until a read may give something.
	WaitRead() error
	// WaitWrite waits until a write may take something.
	WaitWrite() error
	// ReadAgain has the next wait until a read may give something be over at once.
	ReadAgain()
}

// Layer is what bytes go through on their way, such as a compression. What it writes may wait for Flush.
type Layer interface {
	io.ReadWriter
	Flush() error
}

// Open begins with a fresh network connection, which c owns from now on.
func (c *Conn) Open(nc net.Conn) {
	c.nc, c.stream, c.r, c.w = nc, nc, nc, nc
	_, c.unix = nc.(*net.UnixConn)
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			c.raw, c.stream = raw, newSocket(nc, raw, &c.activity)
			c.r, c.w = c.stream, c.stream
		}
	}
}

// StartTLS goes on inside TLS, wrap being tls.Server or tls.Client with a configuration. Prefix is what was read of the handshake already;
// it is copied.
func (c *Conn) StartTLS(prefix []byte, wrap func(net.Conn) *tls.Conn) error {
	s := &sealed{base: base{Conn: c.stream, moved: &c.activity}}
	if len(prefix) > 0 {
		s.base.prefix = append([]byte(nil), prefix...)
	}
	s.tls = wrap(&s.base)
	if err := s.tls.Handshake(); err != nil {
		return err
	}
	c.sealed = s
	c.tls.Store(s.tls)
	c.r, c.w, c.raw = s.tls, s.tls, nil
	return nil
}

// Stream is what a Layer reads and writes: the connection, or the TLS above it.
func (c *Conn) Stream() io.ReadWriter {
	if t := c.tls.Load(); t != nil {
		return t
	}
	return c.stream
}

// Wrap has all bytes go through l from now on, which goes over Stream.
func (c *Conn) Wrap(l Layer) { c.layer, c.r, c.w, c.raw = l, l, l, nil }

// Bare gives the network connection where there is no layer above it, neither TLS nor another. Else it is nil.
func (c *Conn) Bare() net.Conn {
	if c.tls.Load() != nil || c.layer != nil {
		return nil
	}
	return c.nc
}

// Pollable gives the network connection whose place a Poller can take: there is no layer above it but, perhaps, TLS. Else it is nil.
func (c *Conn) Pollable() net.Conn {
	if c.layer != nil {
		return nil
	}
	return c.nc
}

// Rebase goes on over p, which took the place of the network connection that Pollable gave. TLS above it goes on above p. It may have read
// more than the caller has of it, of which p does not tell: a TryRead does.
func (c *Conn) Rebase(p Poller) {
	c.nc, c.stream, c.raw, c.poll = p, p, nil, p
	if s := c.sealed; s != nil {
		s.Poller, s.base.Conn, s.base.poll = p, p, p
		c.poll = s
	}
	c.r, c.w = c.poll, c.poll
}

// Poller gives the network connection if it is one that Rebase was called with, or TLS above that, which is a Poller then. Else it is nil.
func (c *Conn) Poller() Poller { return c.poll }

// Raw gives the file descriptor to read from where there is no layer above it, nor a Poller. Else it is nil. What is read there is counted
// by Took.
func (c *Conn) Raw() syscall.RawConn { return c.raw }

// NetConn is the network connection underneath, TLS included.
func (c *Conn) NetConn() net.Conn {
	if t := c.tls.Load(); t != nil {
		return t
	}
	return c.nc
}

// RemoteAddr is the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// Secure reports whether the bytes cannot be read on the way: TLS or a unix socket.
func (c *Conn) Secure() bool { return c.unix || c.tls.Load() != nil }

// SetDeadline bounds all reads and writes from now on; the zero time lifts the bound.
func (c *Conn) SetDeadline(t time.Time) error { return c.nc.SetDeadline(t) }

// SetReadDeadline bounds all reads from now on; the zero time lifts the bound.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.nc.SetReadDeadline(t) }

// Activity counts the reads that moved bytes, and the bytes that writes moved, some of them twice; modulo 1<<32. A watcher that sees the
// same number twice knows that the connection stood still between.
func (c *Conn) Activity() uint32 { return c.activity.Load() }

// Close closes the network connection; it may be called more than once.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.NetConn().Close()
}
