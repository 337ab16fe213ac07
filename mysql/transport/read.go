package transport

// Read reads what comes through the layers: at least one byte, else there is an error. It waits for that.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	return c.Took(n, err)
}

// TryRead reads what has arrived over a Poller: at least one byte, else there is an error, syscall.EAGAIN if nothing has arrived.
func (c *Conn) TryRead(b []byte) (int, error) {
	n, err := c.poll.TryRead(b)
	return c.Took(n, err)
}

// Took counts what a read from Raw gave: n bytes, else err says why there were none. An error that came with bytes is left out, as it shows
// again at the next read.
func (c *Conn) Took(n int, err error) (int, error) {
	if n > 0 {
		c.activity.Add(1)
		c.received += uint64(n)
		return n, nil
	}
	return 0, c.noteEnding(err)
}

// Received is the number of bytes that were read so far, above all layers. It is for the goroutine that reads.
func (c *Conn) Received() uint64 { return c.received }
