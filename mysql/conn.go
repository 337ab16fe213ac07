package mysql

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	headerLen = 4
	// payloadMax is the longest payload of one packet; one that long is continued in the next packet.
	payloadMax = 1<<24 - 1
	// directWriteMin is the size from which a run of bytes is written from where it lies instead of being copied
	// into the write buffer: below it, one more copy is cheaper than one more system call.
	directWriteMin = 16 << 10
)

// Errors that end a connection because the peer broke the protocol.
var (
	ErrPacketsOutOfOrder = errors.New("packets out of order")
	ErrPacketTooLarge    = errors.New("packet larger than max_allowed_packet")
)

// Side names whose connection failed.
type Side uint8

// The two sides of the proxy.
const (
	ClientSide Side = iota
	BackendSide
)

// String gives "client" or "backend".
func (s Side) String() string {
	if s == BackendSide {
		return "backend"
	}
	return "client"
}

// ConnError is a failure to read from or write to one connection. It is made where the bytes move, so whoever handles
// it knows at which side the fault lies.
type ConnError struct {
	Side Side
	Op   string // "read" or "write"
	Err  error
}

// Error says side, operation and cause.
func (e *ConnError) Error() string { return fmt.Sprintf("%s %s: %v", e.Side, e.Op, e.Err) }

// Unwrap gives the cause.
func (e *ConnError) Unwrap() error { return e.Err }

// Conn reads and writes packets over one network connection, either side of the protocol.
//
// One goroutine at a time reads and writes a Conn. Close, Activity, Writing, PeerGone and SetDeadline may be called from any
// goroutine.
// Reads take a buffer from a pool when bytes arrive and give it back in Release, so a connection that waits for its
// next command holds none.
type Conn struct {
	// Capabilities are those that both sides agreed on. Set once, after the handshake.
	Capabilities Capability

	nc     net.Conn                 // as given to NewConn
	stream net.Conn                 // nc, as a socket where it is one
	tls    atomic.Pointer[tls.Conn] // the layer above nc once StartTLS succeeded
	side   Side
	seq    uint8 // sequence id of the next packet, in either direction
	// zip is set when packets travel inside compressed ones, where inner sequence ids carry no meaning.
	zip        *compressor
	payloadCap int // longest payload accepted, continued packets added up

	r     io.Reader // nc, or the layer above it
	w     io.Writer
	raw   syscall.RawConn // for reading without holding a buffer; nil over TLS or compression
	poll  Poller          // nc after Rebase
	rbuf  *buffer
	start int // unread bytes are rbuf.b[start:end]
	end   int
	// received is how many bytes have come.
	received uint64
	// reach is how far the buffer was filled since Release; long says that it was farther than a small one goes before
	// that: then the next bytes come into a large one at once, which saves moving them, and a read.
	reach int
	long  bool
	rawN  int
	rawE  error
	rawFn func(fd uintptr) bool
	// sendFirst has the next read send what is queued; short says that not all of that fit in.
	sendFirst, short bool
	ending           Ending

	wbuf *buffer
	out  []byte // bytes not yet written, in wbuf.b where they fit
	werr error
	// vector, over parts, is what one write of several pieces needs.
	vector net.Buffers
	parts  [2][]byte
	// spare and unsent are those of NoWait; spare is nil while the Conn may wait.
	spare  *Buffers
	unsent []byte
	unix   bool

	// holds is what the connection has of memory, which is nil where nobody counts.
	memory *Memory
	holds  atomic.Int64

	activity atomic.Uint32
	writing  atomic.Bool
	closed   atomic.Bool
	tiny     [64]byte // where a connection without raw waits for its first bytes
}

// NewConn wraps a fresh network connection. The Conn owns nc and closes it. Payloads longer than payloadCap bytes are refused.
func NewConn(nc net.Conn, side Side, payloadCap int) *Conn {
	c := &Conn{nc: nc, stream: nc, side: side, payloadCap: payloadCap, r: nc, w: nc}
	c.rawFn = c.readRaw
	_, c.unix = nc.(*net.UnixConn)
	if sc, ok := nc.(syscall.Conn); ok {
		if raw, err := sc.SyscallConn(); err == nil {
			c.raw, c.stream = raw, newSocket(nc, raw, &c.activity)
			c.r, c.w = c.stream, c.stream
		}
	}
	return c
}

// SetPayloadCap changes the longest payload accepted, in bytes.
func (c *Conn) SetPayloadCap(n int) { c.payloadCap = n }

// NetConn is the network connection underneath, TLS included.
func (c *Conn) NetConn() net.Conn {
	if t := c.tls.Load(); t != nil {
		return t
	}
	return c.nc
}

// RemoteAddr is the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// Secure tells whether the bytes cannot be read on the way: TLS or a unix socket.
func (c *Conn) Secure() bool {
	return c.unix || c.tls.Load() != nil
}

// Activity counts the reads that moved bytes, and the bytes that writes moved, some of them twice; modulo 1<<32. A watcher that sees the same number twice knows that
// the connection stood still between.
func (c *Conn) Activity() uint32 { return c.activity.Load() }

// Writing tells whether a write is under way now.
func (c *Conn) Writing() bool { return c.writing.Load() }

// SetDeadline bounds all reads and writes from now on; the zero time lifts the bound.
func (c *Conn) SetDeadline(t time.Time) error { return c.nc.SetDeadline(t) }

// SetReadDeadline bounds all reads from now on; the zero time lifts the bound. Any goroutine may call it.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.nc.SetReadDeadline(t) }

// Received is the number of bytes that were read so far, without TLS and as they were compressed. It is for the goroutine that reads.
func (c *Conn) Received() uint64 { return c.received }

// Settled tells whether nothing that was read or written waits in the Conn.
func (c *Conn) Settled() bool { return c.Buffered() == 0 && len(c.out) == 0 && len(c.unsent) == 0 }

// Close closes the network connection; safe to call at any time, more than once, from any goroutine.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.letGo()
	return c.NetConn().Close()
}

// ResetSequence starts a new command: the next packet, sent or received, has sequence id 0.
func (c *Conn) ResetSequence() {
	c.seq = 0
	if c.zip != nil {
		c.zip.seq = 0
	}
}

// Buffered is the number of bytes received and not yet read.
func (c *Conn) Buffered() int { return c.end - c.start }

// newBuffer gives a buffer of at least n bytes.
func (c *Conn) newBuffer(n int) *buffer {
	if c.spare != nil && n == bufferSmall {
		return c.spare.take()
	}
	return newBuffer(n)
}

// freeBuffer takes back what newBuffer gave, to whichever Conn.
func (c *Conn) freeBuffer(b *buffer) {
	if c.spare != nil {
		c.spare.put(b)
		return
	}
	b.free()
}

// Release gives the buffers back to the pool when nothing is in them. Slices returned by ReadPacket end here.
func (c *Conn) Release() {
	c.letGo()
	if c.rbuf != nil && c.start == c.end {
		c.freeBuffer(c.rbuf)
		c.rbuf, c.start, c.end = nil, 0, 0
		c.long, c.reach = c.reach > bufferSmall, 0
	}
	if c.wbuf != nil && len(c.out) == 0 {
		c.freeBuffer(c.wbuf)
		c.wbuf, c.out = nil, nil
	}
}
