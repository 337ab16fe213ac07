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

// Send writes all of b in steps, so that Activity shows a long one moving, and by what a peer takes where it takes less.
func (c *Conn) Send(b []byte) {
	c.writing.Store(true)
	defer c.writing.Store(false)
	for len(b) > 0 && c.writeErr == nil {
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
	c.parts = [2][]byte{a, b}
	c.vector = c.parts[:]
	c.writing.Store(true)
	w := c.w
	if c.raw != nil {
		w = c.nc // it has writev(2), for what is so long that the scheduler may well be told
	}
	moved, err := c.vector.WriteTo(w)
	c.writing.Store(false)
	c.Sent(int(moved), err)
	c.vector, c.parts = nil, [2][]byte{}
}

// TrySend writes what fits in over a Poller, without waiting, and returns how many bytes did. A failure is in WriteError.
func (c *Conn) TrySend(b []byte) int {
	n, err := c.poll.TryWrite(b)
	if err == syscall.EAGAIN {
		err = nil
	}
	c.Sent(n, err)
	return n
}

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
