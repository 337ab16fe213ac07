package mysql

import "syscall"

// NoWait says that the Conn must not wait, from now on: a write keeps what does not fit in until Flush is called while waiting is
// allowed, and a read that finds too little is an error. Only for a Conn over a transport.Poller. Its small buffers are of b, of which the caller's
// goroutine has the use.
func (c *Conn) NoWait(b *Buffers) { c.spare = b }

// MayWait ends what NoWait began.
func (c *Conn) MayWait() { c.spare = nil }

// Unsent is the number of bytes that a write kept because they did not fit in.
func (c *Conn) Unsent() int { return len(c.unsent) + c.Net.Kept() }

// Outgoing is what Flush would write now on a Conn that must not wait, for the caller to write before, with what others have to send; nil
// where only Flush knows how. It is good until the next call on c, which is Sent if something was written.
func (c *Conn) Outgoing() []byte {
	if c.spare == nil || len(c.unsent) > 0 || c.Net.WriteError() != nil || c.zip != nil {
		return nil
	}
	if !c.Net.Seals() {
		return c.out
	}
	b := c.out
	c.out = b[:0]
	return c.Net.Seal(b)
}

// Sent says that the first n bytes of Outgoing were written.
func (c *Conn) Sent(n int) {
	if c.Net.Seals() {
		c.Net.SentSealed(n)
		return
	}
	c.Net.Sent(n, nil)
	if c.out = c.out[n:]; len(c.out) == 0 {
		c.out = c.wbuf.b[:0]
	}
}

// ReadNow makes one read of what has arrived, for Peek and Whole to look at. The error is syscall.EAGAIN if nothing has,
// syscall.ENOBUFS if bufferLarge bytes are unread already, else the reason why no more will come; io.EOF is one.
func (c *Conn) ReadNow() error {
	if c.rbuf == nil {
		c.rbuf, c.start, c.end = c.spare.take(firstSize(c.long)), 0, 0
	}
	if c.start == c.end {
		c.start, c.end = 0, 0
	}
	if c.end == len(c.rbuf.b) {
		if c.start == 0 && c.end >= bufferLarge {
			return syscall.ENOBUFS
		}
		want := bufferSmall
		if c.start == 0 {
			want = bufferLarge
		}
		c.makeRoom(want)
	}
	n, err := c.Net.TryRead(c.rbuf.b[c.end:])
	if n > 0 {
		return c.took(n, nil)
	}
	if c.start == c.end {
		c.spare.put(c.rbuf)
		c.rbuf, c.start, c.end = nil, 0, 0
	}
	return err
}

// Full tells whether the last read may have left something behind, as it filled the buffer.
func (c *Conn) Full() bool { return c.rbuf != nil && c.end == len(c.rbuf.b) }

// Unread is what has been received and not yet read. It is valid until the next read.
func (c *Conn) Unread() []byte {
	if c.rbuf == nil {
		return nil
	}
	return c.rbuf.b[c.start:c.end]
}

// Skip drops the first n unread bytes, which are whole packets.
func (c *Conn) Skip(n int) { c.start += n }

// ExpectResponse has the next packet be the first of a response, whatever was sent since the command.
func (c *Conn) ExpectResponse() { c.seq = 1 }

// Peek gives the payload of a command that is in the read buffer whole and alone, and leaves it there; nil for anything else.
func (c *Conn) Peek() []byte {
	n := c.Buffered()
	if n <= headerLen {
		return nil
	}
	p := c.rbuf.b[c.start:c.end]
	length := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
	if p[3] != 0 || n != headerLen+length || length > c.payloadCap {
		return nil
	}
	return p[headerLen:]
}

// readPolled waits for bytes without holding a buffer and takes one when they are there.
func (c *Conn) readPolled() error {
	for {
		b := newBuffer(firstSize(c.long))
		n, err := c.Net.TryRead(b.b)
		if n > 0 {
			c.rbuf = c.begun(b, n)
			return c.took(n, nil)
		}
		b.free()
		if err != syscall.EAGAIN || c.spare != nil {
			return c.took(0, err)
		}
		if err := c.Net.Poller().WaitRead(); err != nil {
			return c.took(0, err)
		}
	}
}

// sendNow writes what fits in and keeps the rest.
func (c *Conn) sendNow(b []byte) {
	n := 0
	if len(c.unsent) == 0 {
		if n = c.Net.TrySend(b); c.Net.WriteError() != nil {
			return
		}
	}
	c.unsent = append(c.unsent, b[n:]...)
}

// sendUnsent writes what sendNow kept.
func (c *Conn) sendUnsent() {
	b := c.unsent
	c.unsent = nil
	c.sendBytes(b)
}
