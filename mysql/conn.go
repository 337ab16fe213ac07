package mysql

import (
	"errors"
	"fmt"
	"net"
	"time"

	"kingshard/mysql/transport"
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
// One goroutine at a time reads and writes a Conn. Close may be called from any goroutine, and so may what Net says of itself.
// Reads take a buffer from a pool when bytes arrive and give it back in Release, so a connection that waits for its
// next command holds none.
type Conn struct {
	// Capabilities are those that both sides agreed on. Set once, after the handshake.
	Capabilities Capability
	// Net is the network connection. Its bytes are read and written by the Conn alone.
	Net transport.Conn

	side Side
	seq  uint8 // sequence id of the next packet, in either direction
	// zip is set when packets travel inside compressed ones, where inner sequence ids carry no meaning.
	zip        *compressor
	payloadCap int // longest payload accepted, continued packets added up

	rbuf  *buffer
	start int // unread bytes are rbuf.b[start:end]
	end   int
	// reach is how far the buffer was filled since Release; long says that it was farther than a small one goes before
	// that: then the next bytes come into a large one at once, which saves moving them, and a read.
	reach int
	long  bool
	rawN  int
	rawE  error
	rawFn func(fd uintptr) bool
	// sendFirst has the next read send what is queued; short says that not all of that fit in.
	sendFirst, short bool

	wbuf *buffer
	out  []byte // bytes not yet written, in wbuf.b where they fit
	// spare and unsent are those of NoWait; spare is nil while the Conn may wait.
	spare  *Buffers
	unsent []byte
	held   held
	// tiny is where a connection under a layer waits for its first bytes; nil before.
	tiny *[64]byte
}

// NewConn wraps a fresh network connection. The Conn owns nc and closes it. Payloads longer than payloadCap bytes are refused.
func NewConn(nc net.Conn, side Side, payloadCap int) *Conn {
	c := &Conn{side: side, payloadCap: payloadCap}
	c.rawFn = c.readRaw
	c.Net.Open(nc)
	return c
}

// SetPayloadCap changes the longest payload accepted, in bytes.
func (c *Conn) SetPayloadCap(n int) { c.payloadCap = n }

// Settled tells whether nothing that was read or written waits in the Conn.
func (c *Conn) Settled() bool { return c.Buffered() == 0 && len(c.out) == 0 && len(c.unsent) == 0 }

// Close closes the network connection; safe to call at any time, more than once, from any goroutine.
func (c *Conn) Close() error {
	c.held.letGo()
	return c.Net.Close()
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

// Release gives the buffers back to the pool when nothing is in them. Slices returned by ReadPacket end here.
func (c *Conn) Release() {
	c.held.letGo()
	if c.rbuf != nil && c.start == c.end {
		c.spare.put(c.rbuf)
		c.rbuf, c.start, c.end = nil, 0, 0
		c.long, c.reach = c.reach > bufferSmall, 0
	}
	if c.wbuf != nil && len(c.out) == 0 {
		c.spare.put(c.wbuf)
		c.wbuf, c.out = nil, nil
	}
}

// AwaitEnding reads what is still to come of a connection that is out of step, at most for d if it may wait, and returns how it has ended.
// What it reads is dropped.
func (c *Conn) AwaitEnding(d time.Duration) transport.Ending {
	if c.spare != nil {
		return c.Net.Ending()
	}
	return c.Net.AwaitEnding(d)
}
