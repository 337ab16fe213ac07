package transport

import (
	"syscall"

	"kingshard/mysql/rawio"
)

// writeStep is the most bytes handed to one write of the connection.
const writeStep = 1 << 20

// WriteError is why the first write that failed did so, nil if none has. After it Send and SendBoth write nothing.
func (c *Conn) WriteError() error { return c.writeErr }

// Writing reports whether a write is under way now that may wait for the peer.
func (c *Conn) Writing() bool { return c.writing.Load() }

// Send writes what is kept and all of b in steps, so that Activity shows a long one moving, and by what a peer takes where it takes less.
func (c *Conn) Send(b []byte) {
	c.writing.Store(true)
	defer c.writing.Store(false)
	for (len(b) > 0 || c.Kept() > 0) && c.writeErr == nil {
		n, err := c.writeSome(b)
		c.Sent(n, err)
		b = b[n:]
	}
}

// writeSome writes one step; over a Poller what the peer takes of b, and where that is not all it waits for the peer.
func (c *Conn) writeSome(b []byte) (int, error) {
	if c.poll == nil {
		return c.w.Write(b[:min(len(b), writeStep)])
	}
	n, err := c.poll.TryWrite(b)
	if err == syscall.EAGAIN {
		err = c.poll.WaitWrite()
	}
	return n, err
}

// SendBoth writes all of a and b, in one system call where the connection can.
func (c *Conn) SendBoth(a, b []byte) {
	if c.writeErr != nil {
		return
	}
	if c.both == nil {
		c.both = new(both)
	}
	c.both.parts = [2][]byte{a, b}
	c.both.vector = c.both.parts[:]
	c.writing.Store(true)
	w := c.w
	if c.raw != nil {
		w = c.nc // it has writev(2), for what is so long that the scheduler may well be told
	}
	moved, err := c.both.vector.WriteTo(w)
	c.writing.Store(false)
	c.Sent(int(moved), err)
	*c.both = both{}
}

// TrySend writes what fits in over a Poller, without waiting, and returns how many bytes did. With TLS a part of them may be Kept. A failure
// is in WriteError.
func (c *Conn) TrySend(b []byte) int {
	n, err := c.poll.TryWrite(b)
	if err == syscall.EAGAIN {
		err = nil
	}
	c.Sent(n, err)
	return n
}

// Kept is how many bytes TLS over a Poller has made of what it took and not sent yet: Send and TrySend send them first.
func (c *Conn) Kept() int {
	if !c.Seals() {
		return 0
	}
	return len(c.sealed.base.outgoing())
}

// Seals tells whether there is TLS over a Poller. Then others send what Seal gives, not the plain bytes.
func (c *Conn) Seals() bool { return c.poll != nil && c.sealed != nil }

// Seal encrypts b, at most 64 KiB, and gives all that is Kept by then, for others to send by the connection below. It is good until
// SentSealed, which says how much was sent, or the next write. A failure is in WriteError.
func (c *Conn) Seal(b []byte) []byte {
	if len(b) > 0 {
		c.Sent(c.sealed.seal(b))
	}
	return c.sealed.base.outgoing()
}

// SentSealed says that others have sent the first n bytes of what Seal gave.
func (c *Conn) SentSealed(n int) { c.sealed.base.took(n) }

// SendRaw makes one write to the file descriptor of Raw, without waiting, and returns how many bytes it took. A failure is in WriteError.
func (c *Conn) SendRaw(fd uintptr, b []byte) int {
	n, err := rawio.Send(fd, b)
	if n > 0 || err == syscall.EAGAIN {
		err = nil
	}
	c.Sent(n, err)
	return n
}

// FlushLayer has the layer above send what it has gathered, which is n bytes.
func (c *Conn) FlushLayer(n int) {
	c.writing.Store(true)
	err := c.layer.Flush()
	c.writing.Store(false)
	c.Sent(n, err)
}

// Sent counts n bytes that others wrote, and keeps the error, if there is one, as that of a write.
func (c *Conn) Sent(n int, err error) {
	if err != nil && c.writeErr == nil {
		c.writeErr = err
	}
	c.activity.Add(uint32(n))
}
