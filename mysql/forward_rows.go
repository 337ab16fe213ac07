package mysql

import (
	"encoding/binary"
	"fmt"
)

// peek gives length and first byte of the next packet without taking it. A packet without a first byte has no place
// where this is called.
func (f *forward) peek() (length int, first byte, err error) {
	if err := f.fill(headerLen); err != nil {
		return 0, 0, err
	}
	h := f.src.rbuf.b[f.src.start:]
	length = int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if length == 0 {
		return 0, 0, f.protocolError(fmt.Errorf("%w: empty", ErrMalformedPacket))
	}
	if err := f.fill(headerLen + 1); err != nil {
		return 0, 0, err
	}
	return length, f.src.rbuf.b[f.src.start+headerLen], nil
}

// fill waits until n bytes are unread in src; what dst has pending is sent before a read.
func (f *forward) fill(n int) error {
	for f.src.Buffered() < n {
		if f.dst.Pending() > 0 {
			if err := f.dst.Flush(); err != nil {
				return err
			}
		}
		if err := f.src.readMore(n); err != nil {
			return err
		}
	}
	return nil
}

// take checks and rewrites the header at b and gives the payload length.
func (f *forward) take(b []byte) (int, error) {
	if f.src.zip == nil && b[3] != f.src.seq {
		return 0, f.protocolError(ErrPacketsOutOfOrder)
	}
	f.src.seq = b[3] + 1
	b[3] = f.dst.seq
	f.dst.seq++
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16, nil
}

// copyPackets forwards the next n packets as they are: column definitions. done says that an error of the server came
// in their place and was forwarded.
func (f *forward) copyPackets(n int) (done bool, err error) {
	for n > 0 {
		length, first, err := f.peek()
		if err != nil {
			return false, err
		}
		if first == ErrHeader {
			p, err := f.packet()
			if err != nil {
				return false, err
			}
			return true, f.err(p)
		}
		if length == payloadMax {
			return false, f.protocolError(fmt.Errorf("%w: column definition", ErrMalformedPacket))
		}
		run, count, err := f.scanPackets(n)
		if err != nil {
			return false, err
		}
		if err := f.copyBytes(run); err != nil {
			return false, err
		}
		n -= count
	}
	return false, nil
}

// scanPackets walks the headers of at most n packets in src's buffer, the first of which peek has found good, up to one that
// needs a look. It gives their length and their number; the last may be still to come in part.
func (f *forward) scanPackets(n int) (run, count int, err error) {
	b := f.src.rbuf.b[f.src.start:f.src.end]
	for count < n && run+headerLen < len(b) {
		p := b[run:]
		length := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
		if length == 0 || length == payloadMax || p[headerLen] == ErrHeader {
			break
		}
		if _, err := f.take(p); err != nil {
			return 0, 0, err
		}
		run += headerLen + length
		count++
	}
	return run, count, nil
}

// copyBytes forwards the next n bytes of src.
func (f *forward) copyBytes(n int) error {
	for n > 0 {
		if err := f.fill(1); err != nil {
			return err
		}
		k := min(n, f.src.Buffered())
		f.dst.writeRaw(f.src.rbuf.b[f.src.start : f.src.start+k])
		f.src.start += k
		n -= k
	}
	return f.dst.writeError()
}

// rows forwards rows up to and with the packet that ends them.
func (f *forward) rows() error {
	f.res.Kind = ResponseRows
	if f.o.Rows != nil {
		return f.changedRows()
	}
	rest, continued := 0, false
	for {
		if err := f.waitRow(rest, continued); err != nil {
			return err
		}
		f.useLargerBuffer()
		run, left, ended, err := f.scan(rest, &continued)
		if err != nil {
			return err
		}
		if f.o.Sum != nil {
			f.sumRows(f.src.rbuf.b[f.src.start:f.src.start+run], rest)
		}
		rest = left
		f.res.Bytes += uint64(run)
		if err := f.copyBytes(run); err != nil {
			return err
		}
		if ended {
			return f.rowsEnd()
		}
		if f.res.Cut {
			f.res.Kind = ResponseErr
			f.dst.WriteError(f.res.Err)
			return nil
		}
	}
}

// sumRows adds a run of rows to the sum, which begins with the last rest bytes of a packet: all but their places in the response.
func (f *forward) sumRows(b []byte, rest int) {
	for len(b) > 0 {
		k := min(rest, len(b))
		_, _ = f.o.Sum.Write(b[:k])
		if b = b[k:]; len(b) == 0 {
			return
		}
		_, _ = f.o.Sum.Write(b[:headerLen-1])
		rest = int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		b = b[headerLen:]
	}
}

// waitRow waits for as much as scan needs: of the rest of a packet anything, of the next one its header, and its first byte unless
// it continues a row.
func (f *forward) waitRow(rest int, continued bool) error {
	switch {
	case rest > 0:
		return f.fill(1)
	case continued:
		return f.fill(headerLen)
	}
	_, _, err := f.peek()
	return err
}

// useLargerBuffer moves a result that proves long in larger and larger pieces.
func (f *forward) useLargerBuffer() {
	if n := bufferGrowth * len(f.src.rbuf.b); n <= bufferResult && f.res.Bytes > uint64(n) {
		f.src.makeRoom(n)
	}
}

// scan walks the packet headers of the rows in src's buffer, which begins with the last rest bytes of a packet that the walk before
// has seen. run is how many bytes of rows are in the buffer, left how many bytes of the last one are still to come; ended says that
// the end packet follows. The row that the quota has no place for ends the walk, with Cut set.
// continued is carried from call to call: the packet before was full, so the next one is its continuation.
func (f *forward) scan(rest int, continued *bool) (run, left int, ended bool, err error) {
	b := f.src.rbuf.b[f.src.start:f.src.end]
	if rest >= len(b) {
		return len(b), rest - len(b), false, nil
	}
	run = rest
	if !*continued && f.src.zip == nil && f.o.Quota == nil {
		run = f.scanWhole(b, run)
	}
	for run+headerLen < len(b) || *continued && run+headerLen == len(b) {
		p := b[run:]
		length := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
		if !*continued {
			if length == 0 {
				return 0, 0, false, f.protocolError(fmt.Errorf("%w: empty row", ErrMalformedPacket))
			}
			if first := p[headerLen]; first == ErrHeader || first == EOFHeader && endsRows(length, f.src.Capabilities) {
				return run, 0, true, nil
			}
			if over := f.o.Quota.Take(uint64(length)); over != nil {
				f.res.Cut, f.res.Err = true, over
				return run, 0, false, nil
			}
			f.res.Rows++
		}
		if length, err = f.take(p); err != nil {
			return 0, 0, false, err
		}
		*continued = length == payloadMax
		if len(p) < headerLen+length {
			return len(b), headerLen + length - len(p), false, nil
		}
		run += headerLen + length
	}
	return run, 0, false, nil
}

// scanWhole is scan for the rows from b[run] on that are whole and need no further look, which is nearly all of a long result.
func (f *forward) scanWhole(b []byte, run int) int {
	from, to := f.src.seq, f.dst.seq
	for len(b)-run > headerLen {
		h := binary.LittleEndian.Uint32(b[run:])
		length := int(h & payloadMax)
		next := run + headerLen + length
		if length == 0 || length == payloadMax || next > len(b) || byte(h>>24) != from || b[run+headerLen] >= EOFHeader {
			break
		}
		b[run+3] = to
		from++
		to++
		run = next
		f.res.Rows++
	}
	f.src.seq, f.dst.seq = from, to
	return run
}

func (f *forward) rowsEnd() error {
	p, part, err := f.part()
	if err != nil {
		return err
	}
	if part == PartError {
		return f.err(p)
	}
	return f.end(p)
}
