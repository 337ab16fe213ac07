package mysql

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdRatioMax is more than any zstd frame can grow: a block of four bytes stands for at most 128 KiB.
const zstdRatioMax = 32 << 10

// zstdDecoder serves the whole process: DecodeAll may be called by many goroutines and runs on as many states as there
// are processors.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(2*payloadMax), zstd.WithDecodeAllCapLimit(true))
})

// zstdEncoders has one encoder per strength for the whole process, made when first asked for.
var zstdEncoders = [...]func() (*zstd.Encoder, error){
	zstd.SpeedFastest:           newZstdEncoder(zstd.SpeedFastest),
	zstd.SpeedDefault:           newZstdEncoder(zstd.SpeedDefault),
	zstd.SpeedBetterCompression: newZstdEncoder(zstd.SpeedBetterCompression),
	zstd.SpeedBestCompression:   newZstdEncoder(zstd.SpeedBestCompression),
}

func newZstdEncoder(level zstd.EncoderLevel) func() (*zstd.Encoder, error) {
	return sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(bufferLarge))
	})
}

// zstdEncoder gives the encoder for zstd's own scale of levels, 1 to 22.
func zstdEncoder(level int) (*zstd.Encoder, error) {
	e, err := zstdEncoders[zstd.EncoderLevelFromZstd(level)]()
	if err != nil {
		return nil, fmt.Errorf("zstd encoder: %w", err)
	}
	return e, nil
}

// unpackZstd reads a packet's compressed bytes and puts the uncompressed ones into plain.
func (z *compressor) unpackZstd(packedLen, plainLen int) error {
	decoder, err := zstdDecoder()
	if err != nil {
		return fmt.Errorf("zstd decoder: %w", err)
	}
	if plainLen/zstdRatioMax > packedLen {
		return errUncompress
	}
	packed, packedBuf, err := readPacked(z.nc, packedLen)
	if packedBuf != nil {
		defer packedBuf.free()
	}
	if err != nil {
		return err
	}
	var dst []byte
	if plainLen <= bufferLarge {
		z.plainBuf = newBuffer(plainLen)
		dst = z.plainBuf.b[:0:plainLen]
	} else {
		dst = make([]byte, 0, plainLen)
	}
	dst, err = decoder.DecodeAll(packed, dst)
	if err != nil || len(dst) != plainLen {
		return errUncompress
	}
	z.plain.Reset(dst)
	return nil
}

// readPacked reads n bytes, into a pooled buffer where one holds them; else memory grows with what arrives.
func readPacked(r io.Reader, n int) ([]byte, *buffer, error) {
	if n <= bufferLarge {
		b := newBuffer(n)
		_, err := io.ReadFull(r, b.b[:n])
		return b.b[:n], b, inPacket(err)
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, int64(n))
	return b.Bytes(), nil, inPacket(err)
}

// inPacket is the error for a connection that ends where more bytes were announced.
func inPacket(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
