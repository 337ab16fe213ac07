package mysql

import "encoding/binary"

// alike tells whether a plain response looks the same on both sides, but for status flags and EOF packets that dst alone has.
func (f *forward) alike() bool {
	differs := f.src.Capabilities ^ f.dst.Capabilities
	return !differs.Has(ClientOptionalResultsetMetadata) && (!differs.Has(ClientDeprecateEOF) || f.src.Capabilities.Has(ClientDeprecateEOF)) &&
		f.src.seq == 1 && f.dst.seq == 1 && f.src.zip == nil && f.dst.zip == nil && len(f.o.Rename) == 0 && len(f.o.Definitions) == 0 &&
		f.o.Quota == nil
}

// arrived forwards a response that has arrived whole, in one piece: status flags are changed where they lie.
func (f *forward) arrived(w *Walk) error {
	b := f.src.rbuf.b[f.src.start : f.src.start+w.at]
	last := b[w.last+headerLen:]
	if w.scanner.Columns == 0 {
		if err := f.res.OK.Decode(last, f.src.Capabilities); err != nil {
			return f.protocolError(err)
		}
		if f.o.Patch != nil {
			f.o.Patch(&f.res.OK)
		}
	} else {
		f.res.Kind, f.res.Columns, f.res.Rows, f.res.Bytes = ResponseRows, w.scanner.Columns, w.rows, uint64(w.last-w.rowsAt)
		if w.middle > 0 {
			middle := b[w.middle+headerLen : w.middle+headerLen+eofLen]
			if err := f.decodeEnd(middle); err != nil {
				return err
			}
			f.res.OK.Warnings = 0
			f.putEOF(middle)
		}
		if err := f.decodeEnd(last); err != nil {
			return err
		}
	}
	f.src.start += w.at
	f.src.seq = w.seq + 1
	if w.scanner.Columns > 0 && f.src.Capabilities.Has(ClientDeprecateEOF) != f.dst.Capabilities.Has(ClientDeprecateEOF) {
		f.withEOF(w, b)
		return f.dst.writeError()
	}
	if w.scanner.Columns > 0 && !f.src.Capabilities.Has(ClientDeprecateEOF) {
		f.putEOF(last)
	} else {
		var room [64]byte
		changed := f.res.OK.AppendTo(room[:0], last[0], f.dst.Capabilities)
		if len(changed) != len(last) {
			f.dst.writeRaw(b[:w.last])
			f.dst.seq = w.seq
			f.dst.EndPacket(append(f.dst.StartPacket(), changed...))
			return f.dst.writeError()
		}
		copy(last, changed)
	}
	f.dst.writeRaw(b)
	f.dst.seq = w.seq + 1
	return f.dst.writeError()
}

// putEOF writes an EOF packet's warnings and flags over those at p.
func (f *forward) putEOF(p []byte) {
	binary.LittleEndian.PutUint16(p[1:], f.res.OK.Warnings)
	binary.LittleEndian.PutUint16(p[3:], uint16(f.res.OK.Status&^ServerSessionStateChanged))
}

// withEOF forwards a result set in one write, with the EOF packet that src left out, so that the rows' sequence ids are one more.
func (f *forward) withEOF(w *Walk, b []byte) {
	f.dst.needWriteBuffer()
	out, own := f.dst.out, (*buffer)(nil)
	if size := len(b) + headerLen + 2*eofLen; len(out)+size > bufferSmall {
		f.dst.send()
		own = newBuffer(size)
		out = own.b[:0]
	}
	status := f.o.Status
	if w.rows == 0 {
		status = f.res.OK.Status &^ ServerMoreResultsExists
	}
	out = append(out, b[:w.rowsAt]...)
	out = appendEOF(out, b[w.rowsAt+3], EOFPacket{Status: status})
	for at := w.rowsAt; at < w.last; {
		h := b[at : at+headerLen]
		h[3]++
		at += headerLen + (int(h[0]) | int(h[1])<<8 | int(h[2])<<16)
	}
	out = append(out, b[w.rowsAt:w.last]...)
	out = appendEOF(out, w.seq+1, EOFPacket{Warnings: f.res.OK.Warnings, Status: f.res.OK.Status})
	f.dst.seq = w.seq + 2
	if own == nil {
		f.dst.setOut(out)
		return
	}
	f.dst.sendBytes(out)
	own.free()
}

func appendEOF(b []byte, seq uint8, p EOFPacket) []byte {
	return p.AppendTo(append(b, eofLen, 0, 0, seq))
}
