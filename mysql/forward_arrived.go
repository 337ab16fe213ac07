package mysql

import "encoding/binary"

// alike tells whether a plain response looks the same on both sides, but for status flags.
func (f *forward) alike() bool {
	const forms = ClientDeprecateEOF | ClientOptionalResultsetMetadata
	return f.src.Capabilities&forms == f.dst.Capabilities&forms && f.src.seq == 1 && f.dst.seq == 1 && f.src.zip == nil && f.dst.zip == nil &&
		len(f.o.Rename) == 0 && len(f.o.Definitions) == 0
}

// arrived forwards a response that has arrived whole, in one piece: status flags are changed where they lie.
func (f *forward) arrived(w *Walk) error {
	b := f.src.rbuf.b[f.src.start : f.src.start+w.at]
	last := b[w.last+headerLen:]
	if w.columns == 0 {
		if err := f.res.OK.Decode(last, f.src.Capabilities); err != nil {
			return f.protocolError(err)
		}
		if f.o.Patch != nil {
			f.o.Patch(&f.res.OK)
		}
	} else {
		f.res.Kind, f.res.Columns, f.res.Rows, f.res.Bytes = ResponseRows, w.columns, w.rows, uint64(w.last-w.rowsAt)
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
	if w.columns > 0 && !f.src.Capabilities.Has(ClientDeprecateEOF) {
		f.putEOF(last)
	} else {
		var room [64]byte
		changed := f.res.OK.AppendTo(room[:0], last[0], f.dst.Capabilities)
		if len(changed) != len(last) {
			f.dst.writeRaw(b[:w.last])
			f.dst.seq = w.seq
			f.dst.EndPacket(append(f.dst.StartPacket(), changed...))
			return f.dst.werr
		}
		copy(last, changed)
	}
	f.dst.writeRaw(b)
	f.dst.seq = w.seq + 1
	return f.dst.werr
}

// putEOF writes an EOF packet's warnings and flags over those at p.
func (f *forward) putEOF(p []byte) {
	binary.LittleEndian.PutUint16(p[1:], f.res.OK.Warnings)
	binary.LittleEndian.PutUint16(p[3:], uint16(f.res.OK.Status&^ServerSessionStateChanged))
}
