package mysql

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// forwardPair gives a source that will read wire and a destination that writes into memory.
func forwardPair(wire []byte, srcCaps, dstCaps Capability) (dst, src *Conn, out *memConn) {
	out = new(memConn)
	src, dst = NewConn(&memConn{in: wire}, BackendSide, testCap), NewConn(out, ClientSide, testCap)
	src.Capabilities, dst.Capabilities = srcCaps, dstCaps
	src.seq, dst.seq = 1, 1
	return dst, src, out
}

func TestForwardLocalInfileIsNotForwarded(t *testing.T) {
	r := reply{infile: "/etc/passwd"}
	dst, src, out := forwardPair(frames(1, r.packets(0)...), 0, 0)
	res, err := ForwardResult(dst, src, ForwardOptions{})
	if err != nil || res.Kind != ResponseLocalInfile || string(res.LocalInfile) != "\xfb/etc/passwd" || out.out.Len() != 0 || dst.Pending() != 0 {
		t.Errorf("%+v, %v, %d bytes sent", res, err, out.out.Len())
	}
}

func TestForwardWithoutMetadata(t *testing.T) {
	r := reply{columns: 2, noMeta: true, rows: [][]byte{textRow(3)}, status: autocommit}
	for _, deprecate := range []Capability{0, ClientDeprecateEOF} {
		caps := ClientProtocol41 | ClientOptionalResultsetMetadata | deprecate
		checkForward(t, "no metadata", ResponseRows, []reply{r}, caps, caps, ForwardOptions{}, nil)
		dst, src, _ := forwardPair(frames(1, r.packets(caps)...), caps, ClientProtocol41)
		_, err := ForwardResult(dst, src, ForwardOptions{})
		wantConnError(t, err, BackendSide, "read", errNoMetadata)
	}
}

func TestForwardPatch(t *testing.T) {
	for _, caps := range []Capability{ClientProtocol41, ClientProtocol41 | ClientDeprecateEOF} {
		patch := func(p *OKPacket) { p.Status |= ServerStatusInTrans }
		for _, r := range []reply{
			{status: autocommit}, {columns: 1, rows: [][]byte{{1, 'x'}}, status: autocommit, midStatus: autocommit},
			{columns: 1, status: autocommit, midStatus: autocommit}, {eof: true, status: autocommit},
		} {
			dst, src, out := forwardPair(frames(1, r.packets(caps)...), caps, caps)
			res, err := ForwardResult(dst, src, ForwardOptions{Patch: patch})
			if err != nil || !res.OK.Status.Has(ServerStatusInTrans) {
				t.Fatalf("%+v, %v", res, err)
			}
			r.status |= inTrans
			r.midStatus |= inTrans
			equalBytes(t, "patched", out.out.Bytes(), frames(1, r.packets(caps)...))
		}
	}
}

// stallConn checks, whenever it is read, that all that was given before has been written on the other side.
type stallConn struct {
	memConn
	t      *testing.T
	pieces [][]byte
	given  int
	dst    *memConn
}

func (c *stallConn) Read(p []byte) (int, error) {
	if c.given > 0 && c.dst.out.Len() == 0 {
		c.t.Error("a read that may block, with bytes still queued")
	}
	if len(c.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.pieces[0])
	if c.pieces[0] = c.pieces[0][n:]; len(c.pieces[0]) == 0 {
		c.pieces = c.pieces[1:]
	}
	c.given += n
	return n, nil
}

// TestForwardFlushesBeforeItWaits: rows that have come are sent on although the end packet is only half there, and
// through compression too.
func TestForwardFlushesBeforeItWaits(t *testing.T) {
	r := reply{columns: 1, rows: manyRows(3, 5), status: autocommit}
	wire := frames(1, r.packets(ClientProtocol41)...)
	for _, algorithm := range []Compression{NoCompression, Zlib} {
		for _, cut := range []int{len(wire) - 9, len(wire) - 6, len(wire) - 5, len(wire) - 1} {
			out := new(memConn)
			stall := &stallConn{t: t, pieces: [][]byte{wire[:40], wire[40:cut], wire[cut:]}, dst: out}
			// The first read of a connection takes little, so that what counts is the second.
			src, dst := NewConn(stall, BackendSide, testCap), NewConn(out, ClientSide, testCap)
			if err := dst.StartCompression(algorithm, 0); err != nil {
				t.Fatal(err)
			}
			src.seq = 1
			stall.given = -40
			if _, err := ForwardResult(dst, src, ForwardOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Of a long result what one read brings leaves by one write, the end of a row that began in the read before with it.
func TestForwardWritesAsItReads(t *testing.T) {
	r := reply{columns: 1, status: autocommit, rows: manyRows(50_000, 100)}
	dst, src, out := forwardPair(frames(1, r.packets(ClientDeprecateEOF)...), ClientProtocol41|ClientDeprecateEOF, ClientProtocol41|ClientDeprecateEOF)
	in := src.Net.NetConn().(*memConn)
	if _, err := ForwardResult(dst, src, ForwardOptions{}); err != nil {
		t.Fatal(err)
	}
	if in.reads < 20 || out.writes > in.reads+2 { // those before the buffer is a large one, and the end
		t.Errorf("%d reads, %d writes", in.reads, out.writes)
	}
}

func TestForwardThroughCompression(t *testing.T) {
	r := reply{columns: 2, rows: append(manyRows(2000, 40), rowOf(1<<24+5)), status: autocommit, info: "i"}
	caps := ClientProtocol41 | ClientDeprecateEOF
	for _, algorithm := range []Compression{NoCompression, Zlib, Zstd} {
		mem := new(memConn)
		server := NewConn(mem, ClientSide, testCap)
		if err := server.StartCompression(algorithm, 1); err != nil {
			t.Fatal(err)
		}
		server.seq = 1
		for _, p := range r.packets(caps) {
			server.WritePacket(p)
		}
		if err := server.Flush(); err != nil {
			t.Fatal(err)
		}
		dst, src, out := forwardPair(mem.out.Bytes(), caps, caps)
		if err := errors.Join(src.StartCompression(algorithm, 1), dst.StartCompression(algorithm, 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := ForwardResult(dst, src, ForwardOptions{}); err != nil {
			t.Fatal(err)
		}
		client := NewConn(&memConn{in: out.out.Bytes()}, BackendSide, testCap)
		if err := client.StartCompression(algorithm, 1); err != nil {
			t.Fatal(err)
		}
		client.seq = 1
		for _, want := range r.packets(caps) {
			got, err := client.ReadPacket()
			if err != nil {
				t.Fatal(err)
			}
			equalBytes(t, "packet", got, want)
		}
	}
}

func TestForwardDestinationThatFails(t *testing.T) {
	broken := errors.New("broken")
	r := reply{columns: 1, rows: manyRows(5000, 100), status: autocommit}
	dst, src, out := forwardPair(frames(1, r.packets(0)...), 0, 0)
	out.err = broken
	_, err := ForwardResult(dst, src, ForwardOptions{})
	wantConnError(t, err, ClientSide, "write", broken)
	if left := len(src.Net.NetConn().(*memConn).in); left < 400000 {
		t.Errorf("read on after the client was gone; %d bytes left", left)
	}
	dst, src, out = forwardPair(frames(1, []byte("\x00\x00\x00\x02\x00\x00\x00")), 0, 0)
	out.err = broken
	_, err = ForwardResult(dst, src, ForwardOptions{})
	wantConnError(t, err, ClientSide, "write", broken)
}

func TestForwardMaliciousServers(t *testing.T) {
	end := []byte{0xfe, 0, 0, 2, 0}
	for name, test := range map[string]struct {
		wire  []byte
		shape Shape
		cause error
	}{
		"empty first packet":        {frames(1, nil), ShapeResult, ErrMalformedPacket},
		"short ok":                  {frames(1, []byte{0, 0}), ShapeResult, ErrMalformedPacket},
		"short error":               {frames(1, []byte{0xff, 0}), ShapeResult, ErrMalformedPacket},
		"too many columns":          {frames(1, lenenc(1<<16)), ShapeResult, ErrMalformedPacket},
		"2^63 columns":              {frames(1, lenenc(1<<63)), ShapeResult, ErrMalformedPacket},
		"bytes behind the count":    {frames(1, []byte{1, 1, 1}), ShapeResult, ErrMalformedPacket},
		"count cut":                 {frames(1, []byte{0xfc, 1}), ShapeResult, ErrMalformedPacket},
		"empty definition":          {frames(1, []byte{1}, nil), ShapeResult, ErrMalformedPacket},
		"endless definition":        {append(frames(1, []byte{1}), 0xff, 0xff, 0xff, 2, 3), ShapeResult, ErrMalformedPacket},
		"no EOF behind definitions": {frames(1, []byte{1}, column(0), textRow(3)), ShapeResult, ErrMalformedPacket},
		"empty row":                 {frames(1, []byte{1, 'x'}, nil), ShapeRows, ErrMalformedPacket},
		"empty row, nothing more":   {frames(1, nil), ShapeRows, ErrMalformedPacket},
		"row out of order":          {frames(7, []byte{1, 'x'}), ShapeRows, ErrPacketsOutOfOrder},
		"definition out of order":   {append(frames(1, []byte{1}), frames(7, column(0))...), ShapeResult, ErrPacketsOutOfOrder},
		"end out of order":          {frames(7, end), ShapeRows, ErrPacketsOutOfOrder},
		"huge ok":                   {[]byte{0, 0, 0xff, 1, 0}, ShapeResult, ErrPacketTooLarge},
		"huge error for a row":      {[]byte{0, 0, 0xff, 1, 0xff}, ShapeRows, ErrPacketTooLarge},
		"end of connection":         {nil, ShapeResult, io.EOF},
		"end inside a row":          {frames(1, payload(100))[:50], ShapeRows, io.EOF},
		"end behind a full packet":  {append([]byte{0xff, 0xff, 0xff, 1, 0xfe}, payload(1<<24-2)...), ShapeRows, io.EOF},
	} {
		for _, next := range []func() int{nil, func() int { return 1 }} {
			if next != nil && len(test.wire) > 1<<20 {
				continue
			}
			dst, src, _ := forwardPair(test.wire, 0, 0)
			src.Net.NetConn().(*memConn).next = next
			_, err := ForwardResult(dst, src, ForwardOptions{Shape: test.shape})
			var ce *ConnError
			if !errors.As(err, &ce) || ce.Side != BackendSide || !errors.Is(err, test.cause) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestForwardErrorInsteadOfDefinitions(t *testing.T) {
	failed := []byte("\xff\x51\x04#HY000no")
	wire := frames(1, []byte{2}, column(0), failed)
	dst, src, out := forwardPair(wire, 0, 0)
	res, err := ForwardResult(dst, src, ForwardOptions{})
	if err != nil || res.Kind != ResponseErr || res.More() {
		t.Errorf("%+v, %v", res, err)
	}
	equalBytes(t, "sent", out.out.Bytes(), wire)
}

func TestForwardDefinitions(t *testing.T) {
	eof := func(status byte) []byte { return []byte{0xfe, 0, 0, status, 0} }
	with := [][]byte{column(0), column(1), eof(2), column(2), eof(2)}
	without := [][]byte{column(0), column(1), column(2)}
	for _, test := range []struct {
		src, dst Capability
		in, want [][]byte
	}{
		{0, 0, with, with},
		{0, ClientDeprecateEOF, with, without},
		{ClientDeprecateEOF, 0, without, [][]byte{column(0), column(1), eof(1), column(2), eof(1)}},
		{ClientDeprecateEOF, ClientDeprecateEOF, without, without},
	} {
		dst, src, out := forwardPair(frames(1, test.in...), test.src, test.dst)
		if err := errors.Join(ForwardDefinitions(dst, src, []int{2, 0, 1}, ServerStatusInTrans, nil), dst.Flush()); err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "definitions", out.out.Bytes(), frames(1, test.want...))
	}
}

// FuzzForward: whatever a server sends, forwarding ends, without a panic, and sends no more than it got and a little
// for every packet that only the destination has.
func FuzzForward(f *testing.F) {
	for _, test := range forwardCases {
		if test.big {
			continue
		}
		for i, caps := range capabilitySets() {
			var packets [][]byte
			for _, r := range test.r {
				packets = append(packets, r.packets(caps)...)
			}
			if wire := frames(1, packets...); len(wire) < 4096 {
				f.Add(wire, byte(i), byte(1))
			}
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, caps, chunk byte) {
		sets := capabilitySets()
		dst, src, out := forwardPair(bytes.Clone(wire), sets[caps&7], sets[caps>>3&7])
		if chunk > 0 {
			src.Net.NetConn().(*memConn).next = func() int { return int(chunk) }
		}
		o := ForwardOptions{Shape: Shape(caps >> 6 & 1)}
		for results := 0; ; results++ {
			res, err := ForwardResult(dst, src, o)
			if err != nil || !res.More() {
				break
			}
			if results > len(wire) {
				t.Fatal("no end")
			}
		}
		if out.out.Len()+dst.Pending() > 2*len(wire)+32 {
			t.Fatalf("%d bytes became %d", len(wire), out.out.Len())
		}
		if readMax := src.Net.NetConn().(*memConn).readMax; readMax > terminatorMax {
			t.Fatalf("a read of %d bytes", readMax)
		}
	})
}
