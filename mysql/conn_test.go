package mysql

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

const testCap = 128 << 20

// payload gives n bytes that do not repeat at any packet boundary and compress to about half. They are not to be changed.
func payload(n int) []byte { return payloads()[:n:n] }

var payloads = sync.OnceValue(func() []byte {
	b := make([]byte, 0, 64<<20+1<<16)
	r := rand.New(rand.NewPCG(1, 2))
	for len(b) < 64<<20 {
		v := r.Uint64()
		for range 16 { // a stretch of its own, and a multiple of no packet length
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		b = append(b, byte(v))
	}
	return b[:64<<20]
})

// frames is the plain description of how payloads travel: each cut into packets of 2^24-1 bytes, the last one shorter.
func frames(seq byte, payloads ...[]byte) []byte {
	size := 0
	for _, p := range payloads {
		size += len(p) + headerLen*(1+len(p)/(1<<24-1))
	}
	b := make([]byte, 0, size)
	for _, p := range payloads {
		for {
			n := min(len(p), 1<<24-1)
			b = append(b, byte(n), byte(n>>8), byte(n>>16), seq)
			b = append(b, p[:n]...)
			p = p[n:]
			seq++
			if n < 1<<24-1 {
				break
			}
		}
	}
	return b
}

func wantConnError(t *testing.T, err error, side Side, op string, cause error) {
	t.Helper()
	var ce *ConnError
	if !errors.As(err, &ce) || ce.Side != side || ce.Op != op || !errors.Is(err, cause) {
		t.Errorf("error %v, want %v %s: %v", err, side, op, cause)
	}
}

var payloadSizes = []int{0, 1, 59, 60, 61, bufferSmall - 4, bufferSmall - 3, bufferSmall, bufferLarge - 4, bufferLarge, bufferLarge + 1,
	1<<24 - 2, 1<<24 - 1, 1 << 24, 1<<24 + 1, 2 * (1<<24 - 1), 64 << 20}

func TestPayloadSizes(t *testing.T) {
	for _, n := range payloadSizes {
		p := payload(n)
		wire := frames(0, p, []byte("next"))

		out := &memConn{}
		out.out.Grow(len(wire))
		w := NewConn(out, BackendSide, testCap)
		w.WritePacket(p)
		w.WritePacket([]byte("next"))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "WritePacket", out.out.Bytes(), wire)

		if n < 1<<25 {
			out.out.Reset()
			w = NewConn(out, BackendSide, testCap)
			w.EndPacket(append(w.StartPacket(), p...))
			w.EndPacket(append(w.StartPacket(), "next"...))
			if err := w.Flush(); err != nil || w.Pending() != 0 {
				t.Fatal(err)
			}
			equalBytes(t, "EndPacket", out.out.Bytes(), wire)
		}

		out.out.Reset()
		w = NewConn(out, BackendSide, testCap)
		k := min(3, n)
		w.WritePacketParts(p[:k], string(p[k:]))
		w.WritePacket([]byte("next"))
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "WritePacketParts", out.out.Bytes(), wire)

		for _, next := range []func() int{nil, func() int { return 1 + rand.IntN(50000) }} {
			if next != nil && n > 1<<25 {
				continue
			}
			r := NewConn(&memConn{in: wire, next: next}, ClientSide, testCap)
			got, err := r.ReadPacket()
			if err != nil {
				t.Fatalf("%d: %v", n, err)
			}
			equalBytes(t, "ReadPacket", got, p)
			if got, err = r.ReadPacket(); err != nil || string(got) != "next" {
				t.Fatalf("%d: behind it %q, %v", n, got, err)
			}
			_, err = r.ReadPacket()
			wantConnError(t, err, ClientSide, "read", io.EOF)
			if r.Sequence() != byte(n/(1<<24-1)+2) {
				t.Errorf("%d: sequence id %d", n, r.Sequence())
			}
		}
	}
}

func TestShortReads(t *testing.T) {
	var all [][]byte
	for n := range 300 {
		all = append(all, payload(n))
	}
	all = append(all, payload(bufferSmall+100), payload(bufferLarge+100))
	for chunk := 1; chunk < 9; chunk++ {
		c := NewConn(&memConn{in: frames(0, all...), next: func() int { return chunk }}, ClientSide, testCap)
		for i, want := range all {
			got, err := c.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			equalBytes(t, "packet", got, want)
			if i%3 == 0 {
				c.Release()
			}
		}
	}
}

func TestPayloadCap(t *testing.T) {
	for _, test := range []struct {
		name string
		cap  int
		wire []byte
		ok   bool
	}{
		{"at the cap", 100, frames(0, payload(100)), true},
		{"over the cap", 100, []byte{101, 0, 0, 0}, false},
		{"16 MB announced", 1 << 20, []byte{0xfe, 0xff, 0xff, 0}, false},
		{"full packet at the cap", 1<<24 - 1, frames(0, payload(1<<24-1)), true},
		{"continued over the cap", 1 << 24, append(frames(0, payload(1<<24-1))[:1<<24+3], 2, 0, 0, 1), false},
		{"continued at the cap", 1 << 24, frames(0, payload(1<<24)), true},
	} {
		mem := &memConn{in: test.wire}
		c := NewConn(mem, ClientSide, test.cap)
		_, err := c.ReadPacket()
		if test.ok {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		wantConnError(t, err, ClientSide, "read", ErrPacketTooLarge)
		if c.Buffered() != 0 || len(mem.in) != 0 {
			t.Errorf("%s: the header was not the last that was read", test.name)
		}
	}
	c := NewConn(&memConn{in: frames(0, payload(100), payload(100))}, ClientSide, 100)
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	c.SetPayloadCap(99)
	if _, err := c.ReadPacket(); !errors.Is(err, ErrPacketTooLarge) {
		t.Error(err)
	}
}

// TestAnnouncedLengthTakesNoMemory: the reads asked for grow with what came, so no buffer of the announced size was made.
func TestAnnouncedLengthTakesNoMemory(t *testing.T) {
	mem := &memConn{in: append([]byte{0xff, 0xff, 0xff, 0}, payload(300<<10)...)}
	c := NewConn(mem, ClientSide, testCap)
	_, err := c.ReadPacket()
	wantConnError(t, err, ClientSide, "read", io.ErrUnexpectedEOF)
	if mem.readMax > 1<<20 {
		t.Errorf("a read of %d bytes for a peer that sent 300 KiB", mem.readMax)
	}
}

func TestEndOfConnection(t *testing.T) {
	wire := frames(0, payload(100))
	for n := range wire {
		for _, chunk := range []int{1, 1000} {
			c := NewConn(&memConn{in: wire[:n], next: func() int { return chunk }}, ClientSide, testCap)
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = io.EOF
			}
			_, err := c.ReadPacket()
			wantConnError(t, err, ClientSide, "read", want)
		}
	}
	wire = frames(0, payload(1<<24))
	for _, n := range []int{100000, 1<<24 + 2, 1<<24 + 3, 1<<24 + 7} {
		c := NewConn(&memConn{in: wire[:n]}, ClientSide, testCap)
		_, err := c.ReadPacket()
		wantConnError(t, err, ClientSide, "read", io.ErrUnexpectedEOF)
	}
}

func TestSequenceIDs(t *testing.T) {
	mem := &memConn{in: append(frames(0, []byte("a"), []byte("b")), frames(0, []byte("c"), []byte("d"))...)}
	c := NewConn(mem, ClientSide, testCap)
	for range 2 {
		if _, err := c.ReadPacket(); err != nil {
			t.Fatal(err)
		}
	}
	c.WritePacket([]byte("x"))
	c.ResetSequence()
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	c.ResetSequence()
	_, err := c.ReadPacket()
	wantConnError(t, err, ClientSide, "read", ErrPacketsOutOfOrder)
	if err := c.Flush(); err != nil || mem.out.Bytes()[3] != 2 {
		t.Errorf("an answer continues the ids: % x", mem.out.Bytes())
	}

	wrap := NewConn(&memConn{in: append(frames(255, []byte("a")), frames(0, []byte("b"))...)}, BackendSide, testCap)
	wrap.Discard(255)
	for range 2 {
		if _, err := wrap.ReadPacket(); err != nil {
			t.Errorf("ids wrap after 255: %v", err)
		}
	}

	large := frames(0, payload(1<<24))
	large[1<<24+3+3] = 7 // the continuation's id
	c = NewConn(&memConn{in: large}, ClientSide, testCap)
	_, err = c.ReadPacket()
	wantConnError(t, err, ClientSide, "read", ErrPacketsOutOfOrder)
}

func TestReleaseKeepsUnreadBytes(t *testing.T) {
	c := NewConn(&memConn{in: append(frames(0, []byte("one")), frames(2, []byte("two"))...)}, ClientSide, testCap)
	if p, err := c.ReadPacket(); err != nil || string(p) != "one" {
		t.Fatal(p, err)
	}
	c.Release()
	if c.rbuf == nil || c.Buffered() != 7 {
		t.Fatal("unread bytes were given away")
	}
	c.WritePacket([]byte("queued"))
	c.Release()
	if c.wbuf == nil || c.Pending() != 10 {
		t.Fatal("queued bytes were given away")
	}
	if p, err := c.ReadPacket(); err != nil || string(p) != "two" {
		t.Fatal(p, err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	c.Release()
	if c.rbuf != nil || c.wbuf != nil || c.out != nil {
		t.Error("an idle connection holds a buffer")
	}
	c.Release()
	if _, err := c.ReadPacket(); !errors.Is(err, io.EOF) || c.rbuf != nil {
		t.Errorf("%v; a connection that waits holds a buffer", err)
	}
}

func TestDiscardDropsWhatIsQueued(t *testing.T) {
	mem := &memConn{}
	c := NewConn(mem, ClientSide, testCap)
	c.Discard(0)
	c.WritePacket([]byte("first"))
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	seq := c.Sequence()
	c.WritePacket([]byte("second"))
	c.WritePacket([]byte("third"))
	c.Discard(seq)
	c.WriteError(NewSQLError(ERUnknown, "no"))
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	want := append(frames(0, []byte("first")), frames(1, []byte("\xff\x51\x04#HY000no"))...)
	equalBytes(t, "sent", mem.out.Bytes(), want)
}

func TestOneWritePerFlush(t *testing.T) {
	mem := &memConn{}
	c := NewConn(mem, ClientSide, testCap)
	for range 100 {
		c.WritePacket(payload(100))
	}
	if mem.writes != 0 || c.Pending() != 100*104 {
		t.Errorf("%d writes before Flush, %d bytes pending", mem.writes, c.Pending())
	}
	if err := c.Flush(); err != nil || mem.writes != 1 {
		t.Errorf("%d writes, %v", mem.writes, err)
	}
}

func TestWriteErrorsSurfaceInFlush(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{1, bufferSmall, 3 << 20} {
		mem := &memConn{err: broken}
		c := NewConn(mem, BackendSide, testCap)
		c.WritePacket(payload(n))
		wantConnError(t, c.Flush(), BackendSide, "write", broken)
		mem.err = nil
		c.WritePacket([]byte("more"))
		wantConnError(t, c.Flush(), BackendSide, "write", broken)
		if mem.out.Len() != 0 || mem.writes != 1 {
			t.Errorf("%d: wrote after a failed write", n)
		}
		c.Release()
		if c.wbuf != nil {
			t.Error("a failed connection keeps its buffer")
		}
	}
}

func TestActivityCountsLongTransfers(t *testing.T) {
	mem := &memConn{in: frames(0, payload(8<<20)), next: func() int { return 100000 }}
	c := NewConn(mem, ClientSide, testCap)
	if c.Net.Activity() != 0 {
		t.Fatal("activity before any")
	}
	p, err := c.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	n := c.Net.Activity()
	if int(n) < mem.reads-1 {
		t.Errorf("%d reads moved activity by %d", mem.reads, n)
	}
	c.WritePacket(p)
	if err := c.Flush(); err != nil || c.Net.Activity() < n+8 {
		t.Errorf("writing 8 MiB moved activity by %d, %v", c.Net.Activity()-n, err)
	}
}

// A peer that takes a long write bit by bit is seen to do so.
func TestActivityCountsPartsOfAWrite(t *testing.T) {
	const size = 256 << 10 // less than one step of a write
	t.Run("poller", func(t *testing.T) {
		c, _ := polled(nil, ClientSide) // it has room for 1,000 bytes after each wait
		c.WritePacket(payload(size))
		if err := c.Flush(); err != nil || c.Net.Activity() < size/1000 {
			t.Errorf("activity %d, %v", c.Net.Activity(), err)
		}
	})
	t.Run("socket", func(t *testing.T) {
		client, server := socketPair(t)
		if err := errors.Join(server.(*net.TCPConn).SetWriteBuffer(16<<10), client.(*net.TCPConn).SetReadBuffer(16<<10)); err != nil {
			t.Fatal(err)
		}
		read := make(chan error)
		go func() {
			var err error
			for left := int64(size); left > 0 && err == nil; left -= 8 << 10 {
				time.Sleep(time.Millisecond) // so that it is never as fast as the writer
				_, err = io.CopyN(io.Discard, client, 8<<10)
			}
			read <- err
		}()
		c := NewConn(server, ClientSide, testCap)
		c.WritePacket(payload(size - headerLen))
		if err := errors.Join(c.Flush(), <-read); err != nil || c.Net.Activity() < 4 {
			t.Errorf("activity %d, %v", c.Net.Activity(), err)
		}
	})
}

func TestCloseIsIdempotent(t *testing.T) {
	mem := &memConn{}
	c := NewConn(mem, ClientSide, testCap)
	if c.Close() != nil || c.Close() != nil || mem.closed != 1 {
		t.Errorf("closed %d times", mem.closed)
	}
	if c.Net.NetConn() != net.Conn(mem) || c.Net.RemoteAddr() == nil || c.Net.Secure() {
		t.Error("accessors")
	}
}
