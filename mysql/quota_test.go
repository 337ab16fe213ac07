package mysql

import (
	"bytes"
	"math"
	"testing"
)

// What is more than the quota does not go on: the destination hears why in its place, and the rest lies on the source.
func TestForwardQuota(t *testing.T) {
	rowsOver, bytesOver := NewSQLError(1226, "rows"), NewSQLError(1226, "bytes")
	rows := [][]byte{textRow(10), textRow(300), textRow(40 << 10), textRow(10)}
	for _, caps := range []Capability{ClientProtocol41, ClientProtocol41 | ClientDeprecateEOF} {
		for _, c := range []struct {
			rows, bytes uint64
			sent        int
			err         *SQLError
		}{
			{math.MaxUint64, math.MaxUint64, 4, nil}, {4, math.MaxUint64, 4, nil}, {3, math.MaxUint64, 3, rowsOver}, {0, math.MaxUint64, 0, rowsOver},
			{9, 11 + 303, 2, bytesOver}, {9, 11 + 303 - 1, 1, bytesOver}, {9, 0, 0, bytesOver},
		} {
			r := reply{columns: 1, rows: rows, status: autocommit, midStatus: autocommit}
			dst, src, out := forwardPair(frames(1, r.packets(caps)...), caps, caps)
			q := &Quota{Rows: c.rows, Bytes: c.bytes, RowsOver: rowsOver, BytesOver: bytesOver}
			res, err := ForwardResult(dst, src, ForwardOptions{Quota: q})
			if err != nil || int(res.Rows) != c.sent || res.Cut != (c.err != nil) || res.Err != c.err || dst.Pending() != 0 {
				t.Errorf("%+v: %+v, %v", c, res, err)
				continue
			}
			if c.err == nil {
				equalBytes(t, "whole", out.out.Bytes(), frames(1, r.packets(caps)...))
				continue
			}
			r.rows, r.err = rows[:c.sent], c.err
			equalBytes(t, "cut", out.out.Bytes(), frames(1, r.packets(caps)...))
			if p, err := src.ReadPacket(); err != nil || !bytes.Equal(p, rows[c.sent]) {
				t.Errorf("%+v: next on the source are %d bytes, %v", c, len(p), err)
			}
		}
	}
}
