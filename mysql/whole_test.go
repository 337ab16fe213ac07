package mysql

import (
	"bytes"
	"fmt"
	"slices"
	"syscall"
	"testing"
)

// replies of one response each, with the arrival of the whole; ArrivedOther may be said before all is there.
func arrivalOf(replies []reply, caps Capability) Arrival {
	r := replies[0]
	switch {
	case len(replies) > 1, r.rowsOnly, r.infile != "", r.eof, r.cursor, Status(r.status)&unplain != 0:
		return ArrivedOther
	}
	for _, row := range r.rows {
		if len(row) == 0 || len(row) >= payloadMax {
			return ArrivedOther
		}
	}
	if r.err != nil || r.warnings != 0 {
		return ArrivedAside
	}
	return ArrivedPlain
}

// Of every prefix of a response: a part is never taken for the whole, and a whole that is plain is seen as such, whether
// the walk begins anew or goes on where it was.
func TestArrivedOfPrefixes(t *testing.T) {
	for _, test := range forwardCases {
		if test.r[0].rowsOnly || test.size() > 1<<20 {
			continue
		}
		for i, caps := range capabilitySets() {
			if test.big && i%7 > 0 {
				continue
			}
			var packets [][]byte
			for _, r := range test.r {
				packets = append(packets, r.packets(caps)...)
			}
			wire := frames(1, packets...)
			want := arrivalOf(test.r, caps)
			var carried Walk
			for n := range wire {
				if test.big && n%61 != 0 {
					continue
				}
				a := carried.First(wire[:n], caps)
				if carried.at > n {
					t.Fatalf("%s, %v: the walk is at %d of %d bytes", test.name, caps, carried.at, n)
				}
				if a == ArrivedOther && want == ArrivedOther {
					break
				}
				if a != ArrivedPart {
					t.Fatalf("%s, %v: %d of %d bytes are %d", test.name, caps, n, len(wire), a)
				}
				if fresh := new(Walk); !test.big && fresh.First(wire[:n], caps) != a {
					t.Fatalf("%s, %v: %d bytes at once differ from bytes one by one", test.name, caps, n)
				}
			}
			if a := new(Walk).First(wire, caps); a != want {
				t.Fatalf("%s, %v: the whole is %d, want %d", test.name, caps, a, want)
			}
			for behind := range 2 {
				c := NewConn(&memConn{}, BackendSide, testCap)
				c.Capabilities, c.rbuf, c.end = caps, &buffer{b: append(slices.Clip(wire), make([]byte, behind)...)}, len(wire)+behind
				alone, w := want, Walk{}
				if behind > 0 {
					alone = ArrivedOther
				}
				if a := new(Walk).Arrived(c.Unread(), c.Capabilities); a != alone {
					t.Fatalf("%s, %v: with %d bytes behind it is %d", test.name, caps, behind, a)
				}
				if a := w.First(c.Unread(), c.Capabilities); a != want {
					t.Fatalf("%s, %v: the first of several is %d, want %d", test.name, caps, a, want)
				}
				if c.Skip(w.Len()); want != ArrivedOther && c.Buffered() != behind {
					t.Fatalf("%s, %v: %d bytes are left behind it, want %d", test.name, caps, c.Buffered(), behind)
				}
			}
		}
	}
}

// What the walk takes for the whole of a plain response, ForwardResult reads without asking for more, and it ends the
// exchange; and no bytes make the walk go astray.
func FuzzArrived(f *testing.F) {
	for k, test := range forwardCases {
		if test.big || test.r[0].rowsOnly {
			continue
		}
		for bits, caps := range capabilitySets() {
			var packets [][]byte
			for _, r := range test.r {
				packets = append(packets, r.packets(caps)...)
			}
			f.Add(frames(1, packets...), uint8(bits), uint16(k))
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, bits uint8, cut uint16) {
		caps := capabilitySets()[bits%8]
		var w Walk
		if len(wire) > 0 {
			first := int(cut) % len(wire)
			if w.First(wire[:first], caps) != ArrivedPart {
				return
			}
		}
		if w.First(wire, caps) != ArrivedPlain {
			return
		}
		res, src, _, err := forwardWire(wire, caps, ClientProtocol41|ClientOptionalResultsetMetadata, nil)
		if err != nil {
			return // nonsense, which ForwardResult finds out about
		}
		for _, to := range capabilitySets() {
			plain, _, want, err := forwardWire(wire, caps, to, nil)
			known, _, got, knownErr := forwardWire(wire, caps, to, &w)
			if err != nil || knownErr != nil {
				if (err == nil) != (knownErr == nil) {
					t.Fatalf("to %v: %v, with the walk %v", to, err, knownErr)
				}
				continue
			}
			if !bytes.Equal(got, want) || fmt.Sprintf("%+v", known) != fmt.Sprintf("%+v", plain) {
				t.Fatalf("to %v:\n%q, %+v\nwith the walk\n%q, %+v", to, want, plain, got, known)
			}
		}
		if res.More() || res.Kind == ResponseErr || res.Kind == ResponseLocalInfile || src.Buffered()+len(src.Net.NetConn().(*memConn).in) != len(wire)-w.at || res.OK.Warnings != 0 {
			t.Fatalf("%+v, %d bytes behind it in the buffer", res, src.Buffered())
		}
	})
}

// forwardWire forwards what begins wire, with the walk over it if there was one, and gives what went out.
func forwardWire(wire []byte, from, to Capability, w *Walk) (Response, *Conn, []byte, error) {
	in, out := &memConn{in: bytes.Clone(wire)}, &memConn{}
	src, dst := NewConn(in, BackendSide, testCap), NewConn(out, ClientSide, testCap)
	src.Capabilities, dst.Capabilities = from, to
	src.seq, dst.seq = 1, 1
	o := ForwardOptions{Arrived: w, Patch: func(p *OKPacket) { p.Status ^= ServerStatusInTrans }}
	if w != nil {
		src.rbuf, src.end = &buffer{b: bytes.Clone(wire)}, len(wire)
	}
	res, err := ForwardResult(dst, src, o)
	if w != nil && err == nil {
		if sent := out.out.Len(); sent > 0 && len(wire) < bufferSmall/2 {
			return res, src, nil, fmt.Errorf("%d bytes were sent that are the caller's to flush", sent)
		}
		err = dst.Flush()
	}
	return res, src, out.out.Bytes(), err
}

// pollConn is a Poller in memory: there are so many bytes to read, and so much room to write.
type pollConn struct {
	memConn
	here   int
	room   int
	writes int
}

func (c *pollConn) TryRead(b []byte) (int, error) {
	if c.here == 0 {
		return 0, syscall.EAGAIN
	}
	n, err := c.memConn.Read(b[:min(len(b), c.here)])
	c.here -= n
	return n, err
}

func (c *pollConn) TryWrite(b []byte) (int, error) {
	n := min(len(b), c.room)
	c.room -= n
	c.writes++
	c.memConn.Write(b[:n])
	if n < len(b) {
		return n, syscall.EAGAIN
	}
	return n, nil
}

func (c *pollConn) WaitRead() error { c.here = 1; return nil }

func (c *pollConn) ReadAgain() {}

func (c *pollConn) WaitWrite() error { c.room = 1000; return nil }

func polled(in []byte, side Side) (*Conn, *pollConn) {
	p := &pollConn{memConn: memConn{in: in}}
	c := NewConn(p, side, testCap)
	c.Net.Rebase(p)
	return c, p
}

// A command is seen when it is there whole and alone, and stays to be read.
func TestPeek(t *testing.T) {
	command := frames(0, []byte("\x03SELECT 1"))
	for n := 1; n <= len(command); n++ {
		c, p := polled(command, ClientSide)
		if p.here = n; c.ReadNow() != nil {
			t.Fatal("nothing read")
		}
		if got := c.Peek(); (got != nil) != (n == len(command)) || got != nil && string(got) != "\x03SELECT 1" {
			t.Fatalf("of %d bytes: %q", n, got)
		}
		if err := c.ReadNow(); err != syscall.EAGAIN {
			t.Fatalf("with nothing more there: %v", err)
		}
		if got, err := c.ReadPacket(); err != nil || string(got) != "\x03SELECT 1" {
			t.Fatalf("read after %d bytes: %q, %v", n, got, err)
		}
		if c.Release(); c.rbuf != nil {
			t.Fatal("a buffer is kept")
		}
	}
	for name, wire := range map[string][]byte{
		"two commands": append(slices.Clip(command), command...), "second packet first": frames(1, []byte("\x03SELECT 1")), "too long": frames(0, make([]byte, 100)),
	} {
		c, p := polled(wire, ClientSide)
		c.SetPayloadCap(50)
		p.here = len(wire)
		if err := c.ReadNow(); err != nil || c.Peek() != nil {
			t.Errorf("%s: taken for a command, or %v", name, err)
		}
	}
}

// A read of what is there takes no more than the largest buffer, and keeps no buffer for nothing.
func TestReadNowIsBounded(t *testing.T) {
	c, p := polled(payload(3*bufferLarge), BackendSide)
	if err := c.ReadNow(); err != syscall.EAGAIN || c.rbuf != nil {
		t.Fatalf("nothing there: %v, buffer kept: %t", err, c.rbuf != nil)
	}
	p.here = 3 * bufferLarge
	var err error
	for err == nil {
		err = c.ReadNow()
	}
	if err != syscall.ENOBUFS || c.Buffered() != bufferLarge {
		t.Fatalf("%v with %d bytes", err, c.Buffered())
	}
}

// A read begins at the front of the buffer when all that was in it is read: so little room is left only by what is still to be read.
func TestReadNowBeginsInFront(t *testing.T) {
	c, p := polled(frames(0, payload(bufferSmall/2), payload(bufferSmall-headerLen)), BackendSide)
	p.here = headerLen + bufferSmall/2
	if err := c.ReadNow(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	p.here = bufferSmall
	if err := c.ReadNow(); err != nil || c.Buffered() != bufferSmall {
		t.Fatalf("%d bytes, %v", c.Buffered(), err)
	}
}

// Without waiting, a payload goes out in one write with what is ahead of it where a large buffer holds both, and all of it is there.
func TestNoWaitJoins(t *testing.T) {
	for _, n := range []int{directWriteMin - 10, directWriteMin, bufferLarge - 20, bufferLarge, 3 * bufferLarge} {
		c, p := polled(nil, ClientSide)
		c.NoWait(new(Buffers))
		p.room = 1 << 20
		c.WritePacket([]byte("ahead"))
		c.WritePacketParts([]byte("x"), string(payload(n)))
		if err := c.Flush(); err != nil || c.Unsent() != 0 {
			t.Fatal(err, c.Unsent())
		}
		equalBytes(t, "sent", p.out.Bytes(), frames(0, []byte("ahead"), append([]byte("x"), payload(n)...)))
		if one := n > directWriteMin && n < bufferLarge-10; one && p.writes != 1 {
			t.Errorf("%d bytes: %d writes", n, p.writes)
		}
		if c.Release(); c.wbuf != nil {
			t.Error("a buffer is kept")
		}
	}
}

// Without waiting, what does not fit in is kept; it goes out first once waiting is allowed.
func TestNoWait(t *testing.T) {
	for room := range 30 {
		c, p := polled(nil, ClientSide)
		c.NoWait(new(Buffers))
		p.room = room
		for _, s := range []string{"one", "two"} {
			c.WritePacket([]byte(s))
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		want := frames(0, []byte("one"), []byte("two"))
		if sent := p.out.Len(); sent != min(room, len(want)) || c.Unsent() != len(want)-sent {
			t.Fatalf("room for %d: %d sent, %d kept", room, sent, c.Unsent())
		}
		c.MayWait()
		if err := c.Flush(); err != nil || c.Unsent() != 0 {
			t.Fatal(err, c.Unsent())
		}
		equalBytes(t, "sent", p.out.Bytes(), want)
	}
	c, p := polled(frames(0, []byte("x")), ClientSide)
	p.here = 5
	c.NoWait(new(Buffers))
	if err := c.ReadNow(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	_, err := c.ReadPacket()
	wantConnError(t, err, ClientSide, "read", syscall.EAGAIN)
}

// Of what is queued, others may send a part or all; the next Flush sends the rest, once.
func TestOutgoing(t *testing.T) {
	want := frames(0, []byte("one"), []byte("two"))
	for n := 1; n <= len(want); n++ {
		c, p := polled(nil, ClientSide)
		c.NoWait(new(Buffers))
		p.room = 1 << 10
		if c.Outgoing() != nil {
			t.Fatal("something to send of nothing")
		}
		c.WritePacket([]byte("one"))
		c.WritePacket([]byte("two"))
		equalBytes(t, "to send", c.Outgoing(), want)
		p.out.Write(c.Outgoing()[:n])
		active := c.Net.Activity()
		if c.Sent(n); c.Net.Activity() == active {
			t.Error("what is sent is no activity")
		}
		if err := c.Flush(); err != nil || c.Pending() != 0 {
			t.Fatal(err, c.Pending())
		}
		c.WritePacket([]byte("three"))
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "sent", p.out.Bytes(), append(slices.Clip(want), frames(2, []byte("three"))...))
	}
	for room := range len(want) - 2 { // the rest does not fit in either
		c, p := polled(nil, ClientSide)
		c.NoWait(new(Buffers))
		c.WritePacket([]byte("one"))
		c.WritePacket([]byte("two"))
		p.out.Write(c.Outgoing()[:2])
		c.Sent(2)
		p.room = room
		if err := c.Flush(); err != nil || c.Unsent() != len(want)-2-room {
			t.Fatal(err, c.Unsent())
		}
		c.MayWait()
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "sent", p.out.Bytes(), want)
	}
	c, p := polled(nil, ClientSide)
	c.WritePacket([]byte("one"))
	if c.Outgoing() != nil {
		t.Error("a connection that may wait is not the loop's")
	}
	c.NoWait(new(Buffers))
	p.room = 3
	_ = c.Flush()
	c.WritePacket([]byte("two"))
	if c.Unsent() == 0 || c.Outgoing() != nil {
		t.Error("something is ahead of it")
	}
}
