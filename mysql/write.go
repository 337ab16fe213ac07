package mysql

import (
	"unsafe"
)

// StartPacket returns the write buffer with room for a header behind what is already in it. The caller appends a
// payload to it and hands the result to EndPacket; between the two it makes no other call on c.
func (c *Conn) StartPacket() []byte {
	c.needWriteBuffer()
	return append(c.out, 0, 0, 0, 0)
}

func (c *Conn) needWriteBuffer() {
	if c.wbuf == nil {
		c.wbuf = c.spare.take(bufferSmall)
		c.out = c.wbuf.b[:0]
	}
}

// EndPacket completes the packet that StartPacket began. Nothing is sent before Flush, or before the buffer is full.
func (c *Conn) EndPacket(b []byte) {
	payload := len(b) - len(c.out) - headerLen
	if payload < payloadMax {
		putHeader(b[len(c.out):], payload, c.seq)
		c.seq++
		c.setOut(b)
		return
	}
	large := clone(b[len(c.out)+headerLen:])
	c.WritePacket(large)
}

// WritePacket queues a payload, split where it is longer than a packet can be. The payload is copied or sent before
// WritePacket returns. A failure to send is kept and returned by Flush.
func (c *Conn) WritePacket(payload []byte) {
	for n := payloadMax; n == payloadMax; payload = payload[n:] {
		n = min(len(payload), payloadMax)
		chunk := payload[:n]
		if len(c.out)+headerLen+n > bufferSmall && n < directWriteMin-headerLen {
			c.send()
		}
		b := c.StartPacket()
		putHeader(b[len(c.out):], n, c.seq)
		c.seq++
		if len(b)+n <= cap(b) {
			c.setOut(append(b, chunk...))
			continue
		}
		c.out = b
		c.sendWith(chunk)
	}
}

func putHeader(h []byte, n int, seq uint8) {
	h[0], h[1], h[2], h[3] = byte(n), byte(n>>8), byte(n>>16), seq
}

// writeRaw queues bytes that have their packet headers already: a short run is copied, a long one sent from where it is.
func (c *Conn) writeRaw(b []byte) {
	if len(b) >= directWriteMin {
		c.sendWith(b)
		return
	}
	if len(c.out)+len(b) > bufferSmall {
		c.send()
	}
	c.needWriteBuffer()
	c.setOut(append(c.out, b...))
}

// setOut stores the write buffer after an append and sends it when it is full.
func (c *Conn) setOut(b []byte) {
	c.out = b
	if len(b) >= bufferSmall-1024 {
		c.send()
	}
}

func (c *Conn) send() {
	c.sendFirst = false
	if len(c.out) == 0 {
		return
	}
	c.sendBytes(c.out)
	c.out = c.wbuf.b[:0]
}

// sendWith sends what is queued and b behind it, in one write where the connection can.
func (c *Conn) sendWith(b []byte) {
	if c.spare != nil && len(c.out) > 0 && len(c.out)+len(b) <= bufferLarge {
		c.join(b)
		c.send()
		return
	}
	if c.Net.Poller() != nil || len(c.unsent) > 0 {
		c.send()
		c.sendBytes(b)
		return
	}
	if len(c.out) > 0 && c.Net.WriteError() == nil {
		n := min(len(b), bufferLarge) // a peer that takes it bit by bit is not seen to do so
		c.Net.SendBoth(c.out, b[:n])
		c.out = c.wbuf.b[:0]
		b = b[n:]
	}
	c.sendBytes(b)
}

// join queues b behind what is queued, in a large buffer, where a copy is less than a second write.
func (c *Conn) join(b []byte) {
	if len(c.wbuf.b) < bufferLarge {
		old := c.wbuf
		c.wbuf = newBuffer(bufferLarge)
		c.out = c.wbuf.b[:copy(c.wbuf.b, c.out)]
		c.spare.put(old)
	}
	c.out = append(c.out, b...)
}

// sendBytes sends b behind what a write kept.
func (c *Conn) sendBytes(b []byte) {
	if c.spare != nil && c.Net.WriteError() == nil {
		c.sendNow(b)
		return
	}
	if len(c.unsent) > 0 {
		c.sendUnsent()
	}
	c.Net.Send(b)
}

// Flush sends what is queued, in one write where the write buffer holds it. It returns the first failure since the
// connection was made.
func (c *Conn) Flush() error {
	if len(c.unsent) > 0 && c.spare == nil {
		c.sendUnsent()
	}
	c.send()
	if c.Net.Kept() > 0 {
		c.sendBytes(nil)
	}
	if c.zip != nil && c.zip.gathered > 0 && c.Net.WriteError() == nil {
		c.Net.FlushLayer(c.zip.gathered)
	}
	return c.writeError()
}

// writeError is the first failure to write since the connection was made.
func (c *Conn) writeError() error {
	if err := c.Net.WriteError(); err != nil {
		return &ConnError{c.side, "write", err}
	}
	return nil
}

// FlushWithRead is Flush just before the read of an answer. Where it can, it leaves the sending to that read, which then waits: a read
// that would find nothing is saved. Only towards a server, from which nothing comes unasked.
func (c *Conn) FlushWithRead() error {
	if c.Net.Raw() == nil || c.rbuf != nil || len(c.unsent) > 0 || c.Net.WriteError() != nil {
		return c.Flush()
	}
	c.sendFirst = true
	return nil
}

// sendRaw makes one non-blocking write of what is queued and tells whether all of it went out.
func (c *Conn) sendRaw(fd uintptr) bool {
	n := c.Net.SendRaw(fd, c.out)
	if n == len(c.out) {
		c.out = c.wbuf.b[:0]
		return true
	}
	c.out, c.short = c.out[n:], true
	return false
}

// Pending is the number of bytes queued and not sent.
func (c *Conn) Pending() int {
	if c.zip != nil {
		return len(c.out) + c.zip.gathered
	}
	return len(c.out)
}

// Discard drops what is queued, of a response that shall not be sent after all, and takes the sequence id back to seq.
func (c *Conn) Discard(seq uint8) {
	if c.wbuf != nil {
		c.out = c.wbuf.b[:0]
	}
	c.seq = seq
}

// Sequence is the id that the next packet will have.
func (c *Conn) Sequence() uint8 { return c.seq }

// WriteOK queues an OK packet in the form this connection negotiated.
func (c *Conn) WriteOK(p *OKPacket) {
	c.EndPacket(p.AppendTo(c.StartPacket(), OKHeader, c.Capabilities))
}

// WriteError queues an ERR packet.
func (c *Conn) WriteError(e *SQLError) {
	c.EndPacket(e.AppendTo(c.StartPacket()))
}

// WriteEnd queues the packet that ends a result set: EOF, or OK with an EOF header, as negotiated.
func (c *Conn) WriteEnd(p *OKPacket) {
	if c.Capabilities.Has(ClientDeprecateEOF) {
		c.EndPacket(p.AppendTo(c.StartPacket(), EOFHeader, c.Capabilities))
		return
	}
	eof := EOFPacket{Warnings: p.Warnings, Status: p.Status}
	c.EndPacket(eof.AppendTo(c.StartPacket()))
}

// WritePacketParts queues one payload that is given in two parts, without joining them in memory: the prefix is short,
// the rest is sent from where it lies.
func (c *Conn) WritePacketParts(prefix []byte, rest string) {
	first := min(len(rest), payloadMax-len(prefix))
	b := c.StartPacket()
	putHeader(b[len(c.out):], len(prefix)+first, c.seq)
	c.seq++
	c.out = append(b, prefix...)
	body := unsafe.Slice(unsafe.StringData(rest), len(rest))
	c.writeRaw(body[:first])
	if len(prefix)+first == payloadMax {
		c.WritePacket(body[first:])
	}
}

// QueueSilent queues a command that has no response, such as COM_STMT_CLOSE, even while the response to another one is
// being read: that one's sequence ids go on undisturbed.
func (c *Conn) QueueSilent(payload []byte) {
	saved := c.seq
	c.seq = 0
	c.WritePacket(payload)
	c.seq = saved
}
