package mysql

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// link is the network connection under a Conn, with the layers above it, how it ended and whether bytes move. It knows nothing of packets.
type link struct {
	side   Side
	nc     net.Conn                 // as given to NewConn, or to Rebase
	stream net.Conn                 // nc, as a socket where it is one
	tls    atomic.Pointer[tls.Conn] // the layer above nc once the TLS handshake succeeded
	r      io.Reader                // nc, or the layer above it
	w      io.Writer
	raw    syscall.RawConn // for reading without holding a buffer; nil over TLS or compression
	poll   Poller          // nc after Rebase
	unix   bool

	ending   Ending
	werr     error // the first write that failed, as a *ConnError
	activity atomic.Uint32
	writing  atomic.Bool
	closed   atomic.Bool
}

// open begins with a fresh network connection.
func (l *link) open(nc net.Conn, side Side) {
	l.nc, l.stream, l.side, l.r, l.w = nc, nc, side, nc, nc
	_, l.unix = nc.(*net.UnixConn)
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			l.raw, l.stream = raw, newSocket(nc, raw, &l.activity)
			l.r, l.w = l.stream, l.stream
		}
	}
}

// NetConn is the network connection underneath, TLS included.
func (l *link) NetConn() net.Conn {
	if t := l.tls.Load(); t != nil {
		return t
	}
	return l.nc
}

// RemoteAddr is the peer's address.
func (l *link) RemoteAddr() net.Addr { return l.nc.RemoteAddr() }

// Secure reports whether the bytes cannot be read on the way: TLS or a unix socket.
func (l *link) Secure() bool { return l.unix || l.tls.Load() != nil }

// Activity counts the reads that moved bytes, and the bytes that writes moved, some of them twice; modulo 1<<32. A watcher that sees the same number twice knows that
// the connection stood still between.
func (l *link) Activity() uint32 { return l.activity.Load() }

// Writing reports whether a write is under way now.
func (l *link) Writing() bool { return l.writing.Load() }

// SetDeadline bounds all reads and writes from now on; the zero time lifts the bound.
func (l *link) SetDeadline(t time.Time) error { return l.nc.SetDeadline(t) }

// SetReadDeadline bounds all reads from now on; the zero time lifts the bound. Any goroutine may call it.
func (l *link) SetReadDeadline(t time.Time) error { return l.nc.SetReadDeadline(t) }

// Poller gives the network connection if it is one that Rebase was called with.
func (l *link) Poller() Poller { return l.poll }

// Rebase goes on over p, which took the place of the network connection that Conn.Bare gave.
func (l *link) Rebase(p Poller) {
	l.nc, l.stream, l.r, l.w, l.raw, l.poll = p, p, p, p, nil, p
}

// startTLS goes on inside TLS; prefix is what was read too early.
func (l *link) startTLS(prefix []byte, wrap func(net.Conn) *tls.Conn) error {
	nc := l.stream
	if len(prefix) > 0 {
		nc = &prefixConn{Conn: nc, prefix: clone(prefix)}
	}
	t := wrap(nc)
	if err := t.Handshake(); err != nil {
		return &ConnError{l.side, "read", err}
	}
	l.tls.Store(t)
	l.r, l.w, l.raw = t, t, nil
	return nil
}

// close closes the network connection; safe to call more than once, from any goroutine.
func (l *link) close() error {
	if l.closed.Swap(true) {
		return nil
	}
	return l.NetConn().Close()
}

// readError is the error of a read that gave no bytes.
func (l *link) readError(err error) error {
	if err == nil {
		err = io.ErrNoProgress
	}
	l.noteEnding(err)
	return &ConnError{l.side, "read", err}
}

// Ending is what the first read that failed has found.
type Ending uint8

// The endings.
const (
	NotEnded     Ending = iota
	EndedInOrder        // the peer has closed its side
	EndedByReset        // ECONNRESET
	EndedOtherwise
)

// noteEnding notes why a read failed. The system tells of a reset once, and then that the peer has closed its side.
func (l *link) noteEnding(err error) {
	switch {
	case l.ending != NotEnded, errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOBUFS), errors.Is(err, os.ErrDeadlineExceeded):
	case errors.Is(err, io.EOF):
		l.ending = EndedInOrder
	case errors.Is(err, syscall.ECONNRESET):
		l.ending = EndedByReset
	default:
		l.ending = EndedOtherwise
	}
}

// unaskedMax is how many bytes awaitEnding reads at most.
const unaskedMax = 64 << 10

// awaitEnding reads and drops what is still to come, at most for d, and tells how the connection has ended.
func (l *link) awaitEnding(d time.Duration) Ending {
	var b [512]byte
	_ = l.SetReadDeadline(time.Now().Add(d))
	for range unaskedMax / len(b) {
		n, err := l.r.Read(b[:])
		if n > 0 {
			continue
		}
		l.noteEnding(err)
		break
	}
	return l.ending
}

// WriteFailed reports whether a write has failed: then the packets that were queued last have not all been handed to the system.
func (l *link) WriteFailed() bool { return l.werr != nil }

// Broken reports whether a read or a write has failed for good.
func (l *link) Broken() bool { return l.ending != NotEnded || l.werr != nil }

// writeStep is the most bytes handed to one write of the connection.
const writeStep = 1 << 20

// writeSome writes one step; over a Poller what the peer takes of b, and where that is not all it waits for the peer.
func (l *link) writeSome(b []byte) (int, error) {
	if l.poll == nil {
		return l.w.Write(b[:min(len(b), writeStep)])
	}
	n, err := l.poll.TryWrite(b)
	if err == syscall.EAGAIN {
		err = l.poll.WaitWrite()
	}
	return n, err
}

// PeerGone reports whether the peer has closed its side with nothing left to be read. It sends nothing and waits for nothing;
// any goroutine may call it while another one reads or writes.
func (l *link) PeerGone() bool {
	sc, ok := l.nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || err == syscall.ECONNRESET
	})
	return err == nil && gone
}
