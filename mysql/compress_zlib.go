package mysql

import (
	"bufio"
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// deflater is a zlib writer, some hundred KB of tables, and the slice that it appends to.
type deflater struct {
	zw  *zlib.Writer
	out []byte
}

var deflaters = sync.Pool{New: func() any {
	d := new(deflater)
	d.zw = zlib.NewWriter(d)
	return d
}}

// Write takes the compressed bytes.
func (d *deflater) Write(p []byte) (int, error) {
	d.out = append(d.out, p...)
	return len(p), nil
}

// deflate appends plain as a zlib stream. Writes to memory cannot fail.
func deflate(dst, plain []byte) []byte {
	d := deflaters.Get().(*deflater)
	d.out = dst
	d.zw.Reset(d)
	d.zw.Write(plain)
	d.zw.Close()
	dst, d.out = d.out, nil
	deflaters.Put(d)
	return dst
}

// inflater reads one zlib stream of known length from a connection as it comes.
type inflater struct {
	src io.LimitedReader
	buf *bufio.Reader
	zr  io.ReadCloser
	// srcErr is what the connection said, to tell its failures from corrupt bytes.
	srcErr error
}

var inflaters = sync.Pool{New: func() any {
	f := &inflater{buf: bufio.NewReaderSize(nil, 4<<10)}
	// The reader wants a valid stream from the start; reset gives it the real one.
	f.zr, _ = zlib.NewReader(bytes.NewReader(deflate(nil, nil)))
	return f
}}

// reset begins a stream of n compressed bytes.
func (f *inflater) reset(r io.Reader, n int) error {
	f.src, f.srcErr = io.LimitedReader{R: r, N: int64(n)}, nil
	f.buf.Reset(inflaterSource{f})
	return f.cause(f.zr.(zlib.Resetter).Reset(f.buf, nil))
}

// Read gives uncompressed bytes; an end of the stream is corrupt here, since the length is known and end looks for it.
func (f *inflater) Read(p []byte) (int, error) {
	n, err := f.zr.Read(p)
	if n > 0 {
		return n, nil
	}
	if err == io.EOF {
		err = errUncompress
	}
	return 0, f.cause(err)
}

// end checks that the stream ends here, checksum and all, and that nothing is behind it.
func (f *inflater) end() error {
	var one [1]byte
	n, err := f.zr.Read(one[:])
	if n > 0 || err != io.EOF || f.buf.Buffered() > 0 || f.src.N > 0 {
		if err == io.EOF {
			err = errUncompress
		}
		return f.cause(err)
	}
	f.src.R = nil
	return nil
}

// cause gives the connection's own failure, or errUncompress for anything wrong with the bytes.
func (f *inflater) cause(err error) error {
	switch {
	case err == nil:
		return nil
	case f.srcErr != nil:
		return f.srcErr
	}
	return errUncompress
}

// inflaterSource is the compressed side of an inflater.
type inflaterSource struct{ f *inflater }

// Read notes failures of the connection.
func (s inflaterSource) Read(p []byte) (int, error) {
	n, err := s.f.src.Read(p)
	if n == 0 && err != nil && s.f.src.N > 0 {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		s.f.srcErr = err
	}
	return n, err
}
