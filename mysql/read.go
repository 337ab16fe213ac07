package mysql

import (
	"io"
	"syscall"

	"kingshard/mysql/rawio"
)

// ReadPacket reads one payload, continued packets joined. The slice is valid until the next read or Release.
// A payload longer than the cap gives ErrPacketTooLarge as soon as a header says so, before its bytes are read.
func (c *Conn) ReadPacket() ([]byte, error) {
	n, err := c.readHeader()
	if err != nil {
		return nil, err
	}
	if n > c.payloadCap {
		return nil, &ConnError{c.side, "read", ErrPacketTooLarge}
	}
	if n <= bufferMax {
		if err := c.fill(n); err != nil {
			return nil, midPacket(err)
		}
		p := c.rbuf.b[c.start : c.start+n : c.start+n]
		c.start += n
		return p, nil
	}
	return c.readLarge(n)
}

// Await waits until something of the next command has come; the Conn is between two commands. A time-out leaves it as it was.
func (c *Conn) Await() error {
	if c.Buffered() > 0 {
		return nil
	}
	return c.readMore(1)
}

// AwaitResponse waits until something of a response has come, and gives how its first packet begins without taking it: one byte, or three of
// an error, which say its code.
func (c *Conn) AwaitResponse() (begins []byte, err error) {
	n := headerLen + 1
	if err := c.fill(n); err != nil {
		return nil, err
	}
	if c.rbuf.b[c.start+headerLen] == ErrHeader {
		n = headerLen + 3
		if err := c.fill(n); err != nil {
			return nil, err
		}
	}
	return c.rbuf.b[c.start+headerLen : c.start+n], nil
}

// readHeader takes a packet header and checks its sequence id.
func (c *Conn) readHeader() (length int, err error) {
	if err := c.fill(headerLen); err != nil {
		return 0, err
	}
	h := c.rbuf.b[c.start : c.start+headerLen]
	c.start += headerLen
	if c.zip == nil && h[3] != c.seq {
		return 0, &ConnError{c.side, "read", ErrPacketsOutOfOrder}
	}
	c.seq = h[3] + 1
	return int(h[0]) | int(h[1])<<8 | int(h[2])<<16, nil
}

// readLarge joins a payload that no pooled buffer holds. Memory grows with the bytes that have come, not with those announced.
func (c *Conn) readLarge(n int) ([]byte, error) {
	var p []byte
	for {
		for n > 0 {
			if c.Buffered() == 0 {
				var err error
				if p, n, err = c.readInto(p, n); err != nil {
					c.held.letGo()
					return nil, err
				}
				continue
			}
			k := min(n, c.Buffered())
			p = append(p, c.rbuf.b[c.start:c.start+k]...)
			c.start += k
			n -= k
		}
		if len(p)%payloadMax != 0 {
			return p, nil
		}
		next, err := c.readHeader()
		if err != nil {
			return nil, midPacket(err)
		}
		if next == 0 {
			return p, nil
		}
		if len(p)+next > c.payloadCap {
			return nil, &ConnError{c.side, "read", ErrPacketTooLarge}
		}
		n = next
	}
}

// readInto reads straight into the end of p, making it at most bufferGrowth times as long, and says how much of n is left.
func (c *Conn) readInto(p []byte, n int) ([]byte, int, error) {
	k := min(n, max(len(p)*(bufferGrowth-1), bufferLarge))
	if cap(p)-len(p) < k {
		if !c.held.hold(k) {
			return nil, 0, &ConnError{c.side, "read", ErrMemory}
		}
		grown := make([]byte, len(p), len(p)+k)
		copy(grown, p)
		p = grown
	}
	for end := len(p) + k; len(p) < end; {
		m, err := c.Net.Read(p[len(p):end])
		if err != nil {
			return nil, 0, midPacket(&ConnError{c.side, "read", err})
		}
		p = p[:len(p)+m]
	}
	return p, n - k, nil
}

// fill reads until at least n unread bytes are in the buffer.
func (c *Conn) fill(n int) error {
	for c.end-c.start < n {
		if err := c.readMore(n); err != nil {
			return err
		}
	}
	return nil
}

// readMore makes one read; room for want unread bytes is made first.
func (c *Conn) readMore(want int) error {
	if c.rbuf == nil {
		return c.readFirst()
	}
	if c.spare != nil {
		return &ConnError{c.side, "read", syscall.EAGAIN}
	}
	if c.start == c.end {
		c.start, c.end = 0, 0
	}
	if c.start+want > len(c.rbuf.b) {
		room := affordable(want, c.Buffered())
		if room > bufferLarge && room > len(c.rbuf.b) {
			if !c.held.hold(room) {
				return &ConnError{c.side, "read", ErrMemory}
			}
		}
		c.makeRoom(room)
	}
	n, err := c.Net.Read(c.rbuf.b[c.end:])
	return c.took(n, err)
}

// affordable is the size of buffer that want unread bytes justify: beyond a large one, only so many times what is unread of
// them now. It always leaves room for a read.
func affordable(want, unread int) int {
	return min(want, max(bufferLarge, bufferGrowth*unread))
}

// makeRoom moves the unread bytes to the front of a buffer that holds want bytes.
func (c *Conn) makeRoom(want int) {
	old := c.rbuf
	if c.start == 0 && want <= len(old.b) {
		return
	}
	if want > len(old.b) {
		c.rbuf = newBuffer(want)
	}
	c.end = copy(c.rbuf.b, old.b[c.start:c.end])
	c.start = 0
	if old != c.rbuf {
		c.spare.put(old)
	}
}

// readFirst waits for bytes without holding a buffer and takes one when they are there.
func (c *Conn) readFirst() error {
	c.start, c.end = 0, 0
	if c.Net.Poller() != nil {
		return c.readPolled()
	}
	raw := c.Net.Raw()
	if raw == nil {
		if c.tiny == nil {
			c.tiny = new([64]byte)
		}
		n, err := c.Net.Read(c.tiny[:])
		if n > 0 {
			c.rbuf = newBuffer(bufferSmall)
			copy(c.rbuf.b, c.tiny[:n])
		}
		return c.took(n, err)
	}
	c.rawN, c.rawE = 0, nil
	err := raw.Read(c.rawFn)
	if c.short || c.Net.WriteError() != nil {
		c.short = false
		if err := c.Flush(); err != nil {
			return err
		}
		return c.readFirst()
	}
	if err == nil {
		err = c.rawE
	}
	return c.took(c.Net.Took(c.rawN, err))
}

// firstSize is the size of the buffer for the first bytes of a command or its response; long says that the one before was long.
func firstSize(long bool) int {
	if long {
		return bufferLarge
	}
	return bufferSmall
}

// readRaw is one non-blocking read for RawConn.Read; false makes the caller wait until the socket is readable.
func (c *Conn) readRaw(fd uintptr) bool {
	if c.sendFirst {
		c.sendFirst = false
		if len(c.out) > 0 {
			return !c.sendRaw(fd) // sent: then there is nothing to read yet
		}
	}
	b := newBuffer(firstSize(c.long))
	n, err := rawio.Receive(fd, b.b)
	if n > 0 {
		c.rbuf, c.rawN = c.begun(b, n), n
		return true
	}
	b.free()
	if err == syscall.EAGAIN {
		return false
	}
	c.rawE = err
	return true
}

// took puts what a read of c.Net gave behind the unread bytes, where it lies already.
func (c *Conn) took(n int, err error) error {
	if n > 0 {
		c.end += n
		c.reach = max(c.reach, c.end)
		return nil
	}
	if err = (&ConnError{c.side, "read", err}); c.end > c.start {
		err = midPacket(err)
	}
	return err
}

// midPacket tells an end of the connection inside a packet from one between two packets.
func midPacket(err error) error {
	if e, ok := err.(*ConnError); ok && e.Err == io.EOF {
		e.Err = io.ErrUnexpectedEOF
	}
	return err
}

// holdsPacket reports whether unread bytes begin with a whole packet.
func holdsPacket(unread []byte) bool {
	if len(unread) < headerLen {
		return false
	}
	return len(unread) >= headerLen+(int(unread[0])|int(unread[1])<<8|int(unread[2])<<16)
}
