package mysql

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// compressedFrame is the plain description of one compressed packet. plainLen is what its header announces.
func compressedFrame(seq byte, packed []byte, plainLen int) []byte {
	n := len(packed)
	b := []byte{byte(n), byte(n >> 8), byte(n >> 16), seq, byte(plainLen), byte(plainLen >> 8), byte(plainLen >> 16)}
	return append(b, packed...)
}

func zlibBytes(t testing.TB, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(plain)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstdBytes(t testing.TB, plain []byte) []byte {
	t.Helper()
	w, err := foreignZstd()
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(plain, nil)
}

// foreignZstd is set up unlike our own.
var foreignZstd = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil, zstd.WithWindowSize(8<<20)) })

func pack(t testing.TB, algorithm Compression, plain []byte) []byte {
	t.Helper()
	if algorithm == Zlib {
		return zlibBytes(t, plain)
	}
	return zstdBytes(t, plain)
}

func compressedConn(t testing.TB, mem *memConn, side Side, algorithm Compression) *Conn {
	t.Helper()
	c := NewConn(mem, side, testCap)
	if err := c.StartCompression(algorithm, 3); err != nil {
		t.Fatal(err)
	}
	return c
}

func eachAlgorithm(t *testing.T, f func(t *testing.T, algorithm Compression)) {
	t.Run("zlib", func(t *testing.T) { f(t, Zlib) })
	t.Run("zstd", func(t *testing.T) { f(t, Zstd) })
}

func TestCompressionRoundTrip(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		for _, n := range []int{0, 1, 45, 46, 50, 1000, bufferSmall, compressChunk - 4, compressChunk, bufferLarge + 1, 1 << 20, 17 << 20} {
			for side := range Side(2) {
				if n > 1<<20 && side == BackendSide {
					continue
				}
				mem := new(memConn)
				w := compressedConn(t, mem, 1-side, algorithm)
				w.WritePacket(payload(n))
				w.WritePacket([]byte("next"))
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				if n > 1000 && mem.out.Len() > n*3/4 {
					t.Errorf("%d bytes became %d", n, mem.out.Len())
				}
				r := compressedConn(t, &memConn{in: mem.out.Bytes(), next: func() int { return 1 + n/3 }}, side, algorithm)
				got, err := r.ReadPacket()
				if err != nil {
					t.Fatalf("%d: %v", n, err)
				}
				equalBytes(t, "payload", got, payload(n))
				if got, err = r.ReadPacket(); err != nil || string(got) != "next" {
					t.Fatalf("%d: behind it %q, %v", n, got, err)
				}
				_, err = r.ReadPacket()
				wantConnError(t, err, side, "read", io.EOF)
				r.Release()
				w.Release()
				for _, c := range []*Conn{r, w} {
					if z := c.zip; c.rbuf != nil || c.wbuf != nil || z.gather != nil || z.plainBuf != nil || z.inflater != nil || z.body != nil {
						t.Errorf("%d: an idle connection holds %+v", n, z)
					}
				}
			}
		}
	})
}

func TestCompressedPacketBytes(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		mem := new(memConn)
		c := compressedConn(t, mem, BackendSide, algorithm)
		c.WritePacket([]byte("\x0e"))
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "short", mem.out.Bytes(), unhex(t, "050000 00 000000 010000 00 0e"))
		mem.out.Reset()
		long := bytes.Repeat([]byte("a"), 1000)
		c.WritePacket(long)
		if c.Pending() != 1004 {
			t.Errorf("%d bytes pending", c.Pending())
		}
		if err := c.Flush(); err != nil || c.Pending() != 0 {
			t.Fatal(err)
		}
		b := mem.out.Bytes()
		if b[3] != 1 || int(b[4])|int(b[5])<<8 != 1004 || mem.writes != 2 {
			t.Errorf("header % x, %d writes", b[:7], mem.writes)
		}
	})
}

// TestIncompressibleIsSentAsItIs: what does not get shorter travels with a plain length of 0.
func TestIncompressibleIsSentAsItIs(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		noise := zstdBytes(t, payload(400000))[1000:]
		noise = noise[:min(len(noise), 100000)]
		mem := new(memConn)
		c := compressedConn(t, mem, ClientSide, algorithm)
		c.WritePacket(noise)
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		if mem.out.Len() > len(noise)+100 {
			t.Errorf("%d bytes became %d", len(noise), mem.out.Len())
		}
		r := compressedConn(t, &memConn{in: mem.out.Bytes()}, BackendSide, algorithm)
		got, err := r.ReadPacket()
		if err != nil {
			t.Fatal(err)
		}
		equalBytes(t, "noise", got, noise)
	})
}

// TestForeignCompressedStreams: packets cut anywhere, inner sequence ids of any value, empty compressed packets.
func TestForeignCompressedStreams(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		inner := append(frames(9, payload(300)), frames(3, payload(70), nil)...)
		for _, cut := range []int{1, 3, 7, 100, 304, 400} {
			var wire []byte
			seq := byte(0)
			for rest := inner; len(rest) > 0; {
				n := min(cut, len(rest))
				wire = append(wire, compressedFrame(seq, pack(t, algorithm, rest[:n]), n)...)
				wire = append(wire, compressedFrame(seq+1, nil, 0)...)
				rest, seq = rest[n:], seq+2
			}
			for _, chunk := range []int{1, 1 << 20} {
				c := compressedConn(t, &memConn{in: wire, next: func() int { return chunk }}, ClientSide, algorithm)
				for _, want := range [][]byte{payload(300), payload(70), nil} {
					got, err := c.ReadPacket()
					if err != nil {
						t.Fatal(err)
					}
					equalBytes(t, "packet", got, want)
				}
			}
		}
	})
}

func TestCorruptCompressedPackets(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		inner := frames(0, payload(40), payload(1000))[:1044]
		good := pack(t, algorithm, inner)
		flipped := bytes.Clone(good)
		flipped[len(flipped)/2] ^= 0x55
		badSum := bytes.Clone(good)
		badSum[len(badSum)-1] ^= 1
		for name, wire := range map[string][]byte{
			"shorter than announced": compressedFrame(0, good, len(inner)+1),
			"longer than announced":  compressedFrame(0, good, len(inner)-1),
			"flipped":                compressedFrame(0, flipped, len(inner)),
			"checksum":               compressedFrame(0, badSum, len(inner)),
			"cut":                    compressedFrame(0, good[:len(good)-5], len(inner)),
			"garbage behind":         compressedFrame(0, append(bytes.Clone(good), 1, 2, 3), len(inner)),
			"empty":                  compressedFrame(0, nil, 100),
			"not compressed at all":  compressedFrame(0, inner, len(inner)),
			"most from nothing":      compressedFrame(0, good[:4], 1<<24-1),
		} {
			c := compressedConn(t, &memConn{in: wire}, ClientSide, algorithm)
			err := error(nil)
			for i := 0; i < 2 && err == nil; i++ {
				_, err = c.ReadPacket()
			}
			if !errors.Is(err, errUncompress) {
				t.Errorf("%s: %v", name, err)
			}
		}
		c := compressedConn(t, &memConn{in: compressedFrame(1, good, len(inner))}, ClientSide, algorithm)
		_, err := c.ReadPacket()
		wantConnError(t, err, ClientSide, "read", ErrPacketsOutOfOrder)
		// A server may answer early, so its ids are taken as they are.
		c = compressedConn(t, &memConn{in: compressedFrame(1, good, len(inner))}, BackendSide, algorithm)
		if _, err = c.ReadPacket(); err != nil || c.zip.seq != 2 {
			t.Error(err)
		}
	})
}

func TestCompressedConnectionThatEnds(t *testing.T) {
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		inner := frames(0, payload(1000))
		for name, wire := range map[string][]byte{
			"compressed": compressedFrame(0, pack(t, algorithm, inner), len(inner)),
			"plain":      compressedFrame(0, inner, 0),
		} {
			for n := range wire {
				want := io.ErrUnexpectedEOF
				if n == 0 {
					want = io.EOF
				}
				c := compressedConn(t, &memConn{in: wire[:n]}, ClientSide, algorithm)
				if _, err := c.ReadPacket(); !errors.Is(err, want) {
					t.Errorf("%s cut at %d: %v", name, n, err)
				}
			}
		}
	})
}

// TestZlibBomb: 16 MB of zeros in 16 KB are handed out piece by piece; the payload cap stops them at the first header.
func TestZlibBomb(t *testing.T) {
	plain := append([]byte{0, 0, 0xff, 0}, make([]byte, 1<<24-5)...)
	wire := compressedFrame(0, zlibBytes(t, plain), len(plain))
	c := NewConn(&memConn{in: wire}, ClientSide, 1<<20)
	if err := c.StartCompression(Zlib, 0); err != nil {
		t.Fatal(err)
	}
	zlibBytes(t, nil)
	inflaters.Put(inflaters.Get())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.ReadPacket()
	runtime.ReadMemStats(&after)
	wantConnError(t, err, ClientSide, "read", ErrPacketTooLarge)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestZstdBomb: a frame that grows beyond what its packet announces is stopped there.
func TestZstdBomb(t *testing.T) {
	wire := compressedFrame(0, zstdBytes(t, make([]byte, 64<<20)), 1000)
	c := compressedConn(t, &memConn{in: wire}, ClientSide, Zstd)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.ReadPacket()
	runtime.ReadMemStats(&after)
	wantConnError(t, err, ClientSide, "read", errUncompress)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

func TestStartCompression(t *testing.T) {
	mem := &memConn{in: frames(0, []byte("response"), []byte("too early"))}
	c := NewConn(mem, ClientSide, testCap)
	if _, err := c.ReadPacket(); err != nil {
		t.Fatal(err)
	}
	if err := c.StartCompression(NoCompression, 0); err != nil || c.zip != nil {
		t.Error("no compression is no change")
	}
	if err := c.StartCompression(Zlib, 0); !errors.Is(err, ErrPacketsOutOfOrder) {
		t.Errorf("plain bytes behind the handshake: %v", err)
	}
	mem = new(memConn)
	c = NewConn(mem, ClientSide, testCap)
	c.WriteOK(&OKPacket{})
	if err := c.StartCompression(Zstd, 22); err != nil {
		t.Fatal(err)
	}
	equalBytes(t, "the OK goes before", mem.out.Bytes(), frames(0, []byte("\x00\x00\x00\x00\x00\x00\x00")))
}

func TestCompressedWriteErrors(t *testing.T) {
	broken := errors.New("broken")
	eachAlgorithm(t, func(t *testing.T, algorithm Compression) {
		for _, n := range []int{1, 1 << 20} {
			mem := &memConn{err: broken}
			c := compressedConn(t, mem, BackendSide, algorithm)
			c.WritePacket(payload(n))
			wantConnError(t, c.Flush(), BackendSide, "write", broken)
		}
	})
}

func TestZstdLevelsShareEncoders(t *testing.T) {
	seen := map[*zstd.Encoder]bool{}
	for level := range 30 {
		e, err := zstdEncoder(level)
		if err != nil {
			t.Fatal(err)
		}
		seen[e] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d encoders", len(seen))
	}
}

func FuzzCompressed(f *testing.F) {
	for _, algorithm := range []Compression{Zlib, Zstd} {
		inner := frames(0, payload(300))
		f.Add(append(compressedFrame(0, pack(f, algorithm, inner), len(inner)), compressedFrame(1, []byte{1, 0, 0, 1, 3}, 0)...), algorithm == Zstd)
	}
	f.Fuzz(func(t *testing.T, wire []byte, useZstd bool) {
		algorithm := Zlib
		if useZstd {
			algorithm = Zstd
		}
		c := NewConn(&memConn{in: wire}, ClientSide, 1<<20)
		if err := c.StartCompression(algorithm, 1); err != nil {
			t.Fatal(err)
		}
		for {
			p, err := c.ReadPacket()
			if err != nil {
				break
			}
			if len(p) > 1<<20 {
				t.Fatal(fmt.Sprint(len(p), " bytes beyond the cap"))
			}
		}
	})
}
