package transport

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	// sealStep is how many plain bytes TryWrite has encrypted at a time: one record, the rest of which a small buffer for what is kept holds.
	sealStep = 16 << 10
	// keptSmall is the size of such a buffer. Longer ones are not used again.
	keptSmall = 20 << 10
	// keptMax bounds what is kept: more than what callers write at a time there is only where a peer has TLS itself say more and more.
	keptMax = 256 << 10
)

// errNotTaken ends a connection whose peer has TLS send more and more, and takes nothing of it.
var errNotTaken = errors.New("the peer does not take what it asks for in TLS")

// sealed is TLS over a network connection. Begun by StartTLS it reads and writes what lies below as it needs and waits; after Rebase it is a
// Poller over a Poller, whose bytes are plain.
type sealed struct {
	tls  *tls.Conn
	base base
	// below is that of the base.
	Poller
}

// TryRead implements Poller. Where it does not fill b, nothing of what was taken from the connection below is left in TLS but a part of a
// record: no event tells of that.
func (s *sealed) TryRead(b []byte) (int, error) {
	n, err := s.tls.Read(b)
	if n == 0 {
		return 0, err
	}
	s.base.still = true
	for err == nil && n < len(b) {
		var m int
		m, err = s.tls.Read(b[n:])
		n += m
	}
	if s.base.still = false; err != syscall.EAGAIN {
		s.ReadAgain() // what is left, or why no more will come
	}
	return n, nil
}

// Read implements net.Conn.
func (s *sealed) Read(b []byte) (int, error) {
	for {
		n, err := s.TryRead(b)
		if err != syscall.EAGAIN {
			return n, err
		}
		if err := s.WaitRead(); err != nil {
			return 0, err
		}
	}
}

// TryWrite implements Poller. What it has taken of b but not sent yet is kept, and goes first the next time: syscall.EAGAIN may come with
// all of b written.
func (s *sealed) TryWrite(b []byte) (int, error) {
	total := 0
	for {
		if err := s.base.flush(); err != nil || total == len(b) {
			return total, err
		}
		n, err := s.tls.Write(b[total:min(len(b), total+sealStep)])
		if total += n; err != nil {
			return total, err
		}
	}
}

// Write implements net.Conn.
func (s *sealed) Write(b []byte) (int, error) {
	total := 0
	for {
		n, err := s.TryWrite(b[total:])
		if total += n; err != syscall.EAGAIN {
			return total, err
		}
		if err := s.WaitWrite(); err != nil {
			return total, err
		}
	}
}

// seal encrypts b behind what is kept, and sends nothing.
func (s *sealed) seal(b []byte) (int, error) {
	s.base.gather()
	return s.tls.Write(b)
}

// base is the network connection that a tls.Conn lies on. With a Poller nothing here waits: a read that finds nothing fails with
// syscall.EAGAIN, which a tls.Conn passes on and forgets, as it says of itself that it is temporary, and what a write does not get rid of
// is kept, as a tls.Conn can neither send the rest of a record later nor make the same one again.
type base struct {
	net.Conn
	prefix []byte // read too early, it comes before what is to be read of the connection
	poll   Poller // Conn, after Rebase
	still  bool   // reads give nothing, whatever has arrived
	// moved counts what the peer took of what was kept, see Conn.Activity.
	moved *atomic.Uint32

	// mu guards what follows: Close of the tls.Conn, which any goroutine may call, writes here, too.
	mu        sync.Mutex
	kept      *kept // nil: nothing
	sent      int   // of kept
	gathering bool  // all that is written is kept
}

// kept are encrypted bytes that are yet to be sent.
type kept struct{ b []byte }

var keptPool = sync.Pool{New: func() any { return &kept{make([]byte, 0, keptSmall)} }}

// Read implements net.Conn.
func (b *base) Read(p []byte) (int, error) {
	switch {
	case len(b.prefix) > 0:
		n := copy(p, b.prefix)
		if b.prefix = b.prefix[n:]; len(b.prefix) == 0 {
			b.prefix = nil
		}
		return n, nil
	case b.poll == nil:
		return b.Conn.Read(p)
	case b.still:
		return 0, syscall.EAGAIN
	}
	return b.poll.TryRead(p)
}

// Write implements net.Conn.
func (b *base) Write(p []byte) (int, error) {
	if b.poll == nil {
		return b.Conn.Write(p)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rest := p
	if !b.gathering && b.kept == nil {
		n, err := b.poll.TryWrite(p)
		if err != syscall.EAGAIN {
			return n, err
		}
		rest = p[n:]
	}
	if b.kept == nil {
		b.kept = keptPool.Get().(*kept)
	}
	if len(b.kept.b)+len(rest) > keptMax {
		return 0, errNotTaken
	}
	b.kept.b = append(b.kept.b, rest...)
	return len(p), nil
}

// gather has what is written be kept until flush or took.
func (b *base) gather() {
	b.mu.Lock()
	b.gathering = true
	b.mu.Unlock()
}

// outgoing is what is kept. It is good until the next call of flush or took.
func (b *base) outgoing() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		return nil
	}
	return b.kept.b[b.sent:]
}

// flush sends what is kept; syscall.EAGAIN if not all fits in.
func (b *base) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gathering = false
	if b.kept == nil {
		return nil
	}
	n, err := b.poll.TryWrite(b.kept.b[b.sent:])
	b.tookLocked(n)
	return err
}

// took says that others have sent the first n bytes of outgoing.
func (b *base) took(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gathering = false
	b.tookLocked(n)
}

func (b *base) tookLocked(n int) {
	b.moved.Add(uint32(n))
	if b.sent += n; b.sent < len(b.kept.b) {
		return
	}
	if cap(b.kept.b) == keptSmall {
		b.kept.b = b.kept.b[:0]
		keptPool.Put(b.kept)
	}
	b.kept, b.sent = nil, 0
}
