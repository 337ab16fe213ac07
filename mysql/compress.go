package mysql

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Compression names the algorithm of the compressed protocol.
type Compression uint8

// The algorithms. MySQL manual: "Compression".
const (
	NoCompression Compression = iota
	Zlib
	Zstd
)

const (
	compressedHeaderLen = 7
	// compressMin is the length below which compressing costs more than it saves; the same bound as the server's.
	compressMin = 50
	// zlibLevel is the level that servers use and name for zlib.
	zlibLevel = 6
	// compressChunk is how much is gathered into one compressed packet. What an algorithm adds to bytes that it cannot
	// compress still fits a large buffer.
	compressChunk = bufferLarge - 256
)

// errUncompress says that a compressed packet does not hold what its header announces.
var errUncompress = errors.New("compressed packet is corrupt")

// StartCompression makes every byte from now on travel in compressed packets. Called on both sides right after the
// handshake's OK, which is sent first where it is still queued. It fails when the peer has sent bytes beyond the
// handshake. level is zstd's, 1 to 22; zlib uses its default. MySQL manual: "Compressed Packet".
func (c *Conn) StartCompression(algorithm Compression, level int) error {
	if algorithm == NoCompression {
		return nil
	}
	if err := c.Flush(); err != nil {
		return err
	}
	if c.Buffered() > 0 {
		return &ConnError{c.side, "read", ErrPacketsOutOfOrder}
	}
	z := &compressor{nc: c.Net.Stream(), algorithm: algorithm, level: zlibLevel, side: c.side}
	if algorithm == Zstd {
		var err error
		if z.encoder, err = zstdEncoder(level); err != nil {
			return err
		}
		z.level = level
	}
	c.zip = z
	c.Net.Wrap(z)
	return nil
}

// Compression is how packets travel, and the level as MySQL counts it: 6 for zlib, 1 to 22 for zstd, 0 without compression.
func (c *Conn) Compression() (algorithm Compression, level int) {
	if c.zip == nil {
		return NoCompression, 0
	}
	return c.zip.algorithm, c.zip.level
}

// compressor is the layer of the compressed protocol under a Conn: an io.Reader of the uncompressed stream and an
// io.Writer that gathers until Flush. Between packets it holds no buffer and no state of an algorithm.
type compressor struct {
	nc        io.ReadWriter
	algorithm Compression
	level     int
	side      Side
	seq       uint8 // sequence id of the next compressed packet, in either direction

	header [compressedHeaderLen]byte
	left   int       // uncompressed bytes of the packet under way not yet read
	body   io.Reader // gives them: nc, inflater or plain
	// inflater decompresses zlib as it comes, so that a packet that grows a thousandfold takes no memory.
	inflater *inflater
	plain    bytes.Reader // over plainBuf, where that is set
	plainBuf *buffer

	encoder  *zstd.Encoder
	gather   *buffer
	gathered int // bytes written and not yet sent, in gather.b
}

// Read gives uncompressed bytes. The last bytes of a packet are given only after its checksum was found right.
func (z *compressor) Read(p []byte) (int, error) {
	for z.left == 0 {
		if err := z.startPacket(); err != nil {
			return 0, err
		}
	}
	n, err := z.body.Read(p[:min(len(p), z.left)])
	z.left -= n
	if z.left == 0 {
		if err := z.endPacket(); err != nil {
			return 0, err
		}
		return n, nil
	}
	if err == io.EOF && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	if n > 0 {
		err = nil // shows again at the next read
	}
	return n, err
}

// startPacket reads the header of a compressed packet. A server may send its answer before it has read all that the
// client wrote, with a younger sequence id than expected, so that only clients' ids are checked, as in the server.
func (z *compressor) startPacket() error {
	if _, err := io.ReadFull(z.nc, z.header[:]); err != nil {
		return err
	}
	c := NewCursor(z.header[:])
	packedLen, seq, plainLen := int(c.Uint24()), c.Uint8(), int(c.Uint24())
	if z.side == ClientSide && seq != z.seq {
		return ErrPacketsOutOfOrder
	}
	z.seq = seq + 1
	switch {
	case plainLen == 0:
		z.body, z.left = z.nc, packedLen
	case z.algorithm == Zstd:
		if err := z.unpackZstd(packedLen, plainLen); err != nil {
			return err
		}
		z.body, z.left = &z.plain, plainLen
	default:
		z.inflater = inflaters.Get().(*inflater)
		if err := z.inflater.reset(z.nc, packedLen); err != nil {
			return err
		}
		z.body, z.left = z.inflater, plainLen
	}
	return nil
}

// endPacket gives back what the packet used and tells whether it proves corrupt.
func (z *compressor) endPacket() error {
	z.body = nil
	if f := z.inflater; f != nil {
		z.inflater = nil
		if err := f.end(); err != nil {
			return err
		}
		inflaters.Put(f)
	}
	z.plain.Reset(nil)
	if z.plainBuf != nil {
		z.plainBuf.free()
		z.plainBuf = nil
	}
	return nil
}

// Write gathers; full chunks are sent.
func (z *compressor) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		if z.gather == nil {
			z.gather = newBuffer(bufferLarge)
		}
		n := copy(z.gather.b[z.gathered:compressChunk], p)
		z.gathered += n
		p = p[n:]
		if z.gathered == compressChunk {
			if err := z.Flush(); err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}

// Flush sends what was gathered as one compressed packet, uncompressed where that is shorter.
func (z *compressor) Flush() error {
	if z.gathered == 0 {
		return nil
	}
	plain := z.gather.b[:z.gathered]
	out := newBuffer(bufferLarge)
	b, plainLen := out.b[:compressedHeaderLen], len(plain)
	if plainLen >= compressMin {
		b = z.pack(b, plain)
	}
	if n := len(b) - compressedHeaderLen; n == 0 || n >= plainLen {
		b, plainLen = append(b[:compressedHeaderLen], plain...), 0
	}
	n := len(b) - compressedHeaderLen
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), z.seq
	b[4], b[5], b[6] = byte(plainLen), byte(plainLen>>8), byte(plainLen>>16)
	z.seq++
	_, err := z.nc.Write(b)
	out.free()
	z.gather.free()
	z.gather, z.gathered = nil, 0
	return err
}

// pack appends the compressed bytes.
func (z *compressor) pack(dst, plain []byte) []byte {
	if z.algorithm == Zstd {
		return z.encoder.EncodeAll(plain, dst)
	}
	return deflate(dst, plain)
}
