package mysql

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// loopConn gives the same bytes again and again, in reads as long as asked for, and drops what is written.
type loopConn struct {
	memConn
	wire []byte
	pos  int
}

func (c *loopConn) Read(p []byte) (int, error) {
	if c.pos == len(c.wire) {
		c.pos = 0
	}
	n := copy(p, c.wire[c.pos:])
	c.pos += n
	return n, nil
}

func newLoopConn(wire []byte) *loopConn {
	return &loopConn{memConn: memConn{discard: true}, wire: wire}
}

// exchange reads one command and passes it on, as a session does.
func exchange(tb testing.TB, client, backend *Conn) {
	client.ResetSequence()
	p, err := client.ReadPacket()
	if err != nil {
		tb.Fatal(err)
	}
	backend.ResetSequence()
	backend.WritePacketParts(p[:1], unsafe.String(&p[1], len(p)-1))
	if err := backend.Flush(); err != nil {
		tb.Fatal(err)
	}
	client.Release()
	backend.Release()
}

// queryPair has a client that sends a statement of so many bytes.
func queryPair(bytes int) (client, backend *Conn) {
	wire := frames(0, []byte("\x03SELECT c FROM t WHERE id = "+strings.Repeat("1", bytes-27)))
	return NewConn(newLoopConn(wire), ClientSide, testCap), NewConn(newLoopConn(nil), BackendSide, testCap)
}

func resultPair(rows int, algorithm Compression) (dst, src *Conn) {
	r := reply{columns: 1, status: autocommit}
	for range rows {
		r.rows = append(r.rows, textRow(100))
	}
	return replyPair(r, algorithm)
}

func replyPair(r reply, algorithm Compression) (dst, src *Conn) {
	caps := ClientProtocol41 | ClientDeprecateEOF
	wire := frames(1, r.packets(caps)...)
	if algorithm != NoCompression {
		mem := new(memConn)
		server := NewConn(mem, ClientSide, testCap)
		server.StartCompression(algorithm, 3)
		server.writeRaw(wire)
		server.Flush()
		wire = mem.out.Bytes()
	}
	src, dst = NewConn(newLoopConn(wire), BackendSide, testCap), NewConn(newLoopConn(nil), ClientSide, testCap)
	src.Capabilities, dst.Capabilities = caps, caps
	src.StartCompression(algorithm, 3)
	dst.StartCompression(algorithm, 3)
	return dst, src
}

func forwardOne(tb testing.TB, dst, src *Conn, o ForwardOptions) {
	src.ResetSequence()
	dst.ResetSequence()
	src.seq, dst.seq = 1, 1
	if _, err := ForwardResult(dst, src, o); err != nil {
		tb.Fatal(err)
	}
	src.Release()
	dst.Release()
}

func patchNothing(*OKPacket) {}

func BenchmarkQuery(b *testing.B) {
	for _, bytes := range []int{40, 1000, 17_000, 170_000, 1_000_000} {
		b.Run(fmt.Sprintf("bytes=%d", bytes), func(b *testing.B) {
			client, backend := queryPair(bytes)
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				exchange(b, client, backend)
			}
		})
	}
}

func BenchmarkForwardResult(b *testing.B) {
	for _, bench := range []struct {
		name      string
		rows      int
		algorithm Compression
	}{{"rows=1", 1, NoCompression}, {"rows=10000", 10000, NoCompression}, {"rows=1/zlib", 1, Zlib}, {"rows=10000/zlib", 10000, Zlib}, {"rows=1/zstd", 1, Zstd}, {"rows=10000/zstd", 10000, Zstd}} {
		b.Run(bench.name, func(b *testing.B) {
			dst, src := resultPair(bench.rows, bench.algorithm)
			b.SetBytes(int64(bench.rows * 105))
			b.ReportAllocs()
			for b.Loop() {
				forwardOne(b, dst, src, ForwardOptions{Patch: patchNothing})
			}
		})
	}
}

// BenchmarkForwardArrived is what a loop does with a response that has arrived whole: it walks over it, and forwards it by that walk.
func BenchmarkForwardArrived(b *testing.B) {
	rows := func(n int) reply {
		r := reply{columns: 1, status: autocommit}
		for range n {
			r.rows = append(r.rows, textRow(100))
		}
		return r
	}
	for _, bench := range []struct {
		name string
		r    reply
	}{{"rows=1", rows(1)}, {"rows=100", rows(100)}, {"rows=400", rows(400)}, {"columns=400", reply{columns: 400, rows: [][]byte{textRow(4000)}, status: autocommit}}} {
		for _, known := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/known=%t", bench.name, known), func(b *testing.B) {
				dst, src := replyPair(bench.r, NoCompression)
				dst.Capabilities &^= ClientDeprecateEOF // as many clients
				b.ReportAllocs()
				var w Walk
				for b.Loop() {
					src.seq, dst.seq, w = 1, 1, Walk{}
					for w.Arrived(src.Unread(), src.Capabilities) != ArrivedPlain {
						if err := src.readMore(bufferLarge); err != nil {
							b.Fatal(err)
						}
					}
					o := ForwardOptions{Patch: patchNothing}
					if known {
						o.Arrived = &w
					}
					if _, err := ForwardResult(dst, src, o); err != nil {
						b.Fatal(err)
					}
					src.Release()
					dst.Release()
				}
			})
		}
	}
}

// BenchmarkForwardColumns is a row of many columns.
func BenchmarkForwardColumns(b *testing.B) {
	dst, src := replyPair(reply{columns: 400, rows: [][]byte{textRow(4000)}, status: autocommit}, NoCompression)
	b.ReportAllocs()
	for b.Loop() {
		forwardOne(b, dst, src, ForwardOptions{Patch: patchNothing})
	}
}

func BenchmarkOKPacket(b *testing.B) {
	dst, src := NewConn(newLoopConn(nil), ClientSide, testCap), NewConn(newLoopConn(frames(1, []byte("\x00\x01\x00\x02\x00\x00\x00"))), BackendSide, testCap)
	b.ReportAllocs()
	for b.Loop() {
		forwardOne(b, dst, src, ForwardOptions{Patch: patchNothing})
	}
}
