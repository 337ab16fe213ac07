package mysql

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// textRow is a row whose first column has n bytes.
func textRow(n int) []byte { return join(lenenc(uint64(n)), payload(n)) }

// rowOf is a row of exactly n bytes, first column and all.
func rowOf(n int) []byte {
	for head := 1; head < 10; head++ {
		if l := lenenc(uint64(n - head)); len(l) == head {
			return join(l, payload(n-head))
		}
	}
	// No value has just this length: the last byte is a second, empty column.
	return append(rowOf(n-1), 0)
}

func manyRows(n, size int) [][]byte {
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = textRow(size + i%7)
	}
	return rows
}

const (
	autocommit = uint16(ServerStatusAutocommit)
	inTrans    = uint16(ServerStatusInTrans)
	more       = uint16(ServerMoreResultsExists)
)

type forwardCase struct {
	name string
	big  bool // of many bytes: not for every combination
	kind ResponseKind
	r    []reply
}

func (c *forwardCase) size() (n int) {
	for _, row := range c.r[0].rows {
		n += len(row)
	}
	return n
}

var forwardCases = []forwardCase{
	{"ok", false, ResponseOK, []reply{{status: autocommit}}},
	{"ok with all", false, ResponseOK, []reply{{affected: 300, insertID: 1 << 40, status: inTrans, warnings: 3, info: "Rows matched: 1", state: "\x01\x05\x04test"}}},
	{"ok with state only", false, ResponseOK, []reply{{status: autocommit, state: "\x02\x01\x31"}}},
	{"error", false, ResponseErr, []reply{{err: &SQLError{1146, "42S02", "Table 't' doesn't exist"}}}},
	{"set option", false, ResponseOK, []reply{{eof: true, status: autocommit}}},
	{"no rows", false, ResponseRows, []reply{{columns: 1, status: autocommit}}},
	{"one row", false, ResponseRows, []reply{{columns: 3, rows: [][]byte{textRow(3)}, status: autocommit, warnings: 2}}},
	{"end with info and state", false, ResponseRows, []reply{{columns: 1, rows: [][]byte{textRow(3)}, status: autocommit, info: "i", state: "\x02\x01\x31"}}},
	{"many rows", true, ResponseRows, []reply{{columns: 2, rows: manyRows(3000, 30), status: inTrans}}},
	{"rows as long as buffers", true, ResponseRows, []reply{{columns: 1, rows: [][]byte{rowOf(bufferSmall - 4), rowOf(bufferSmall), rowOf(bufferLarge - 4), rowOf(bufferLarge), rowOf(bufferLarge + 1), rowOf(1), rowOf(300000)}}}},
	{"4096 columns", true, ResponseRows, []reply{{columns: 4096, rows: [][]byte{bytes.Repeat([]byte{0xfb}, 4096)}, status: autocommit}}},
	{"first bytes", false, ResponseRows, []reply{{columns: 1, status: autocommit, rows: [][]byte{{0xfb}, {0}, {0xfb, 0xfb}, {0, 0, 1}, textRow(250), textRow(251), textRow(1000)}}}},
	{"first column of 64 KB", true, ResponseRows, []reply{{columns: 1, status: autocommit, rows: [][]byte{textRow(70000)}}}},
	{"error for a row", false, ResponseErr, []reply{{columns: 1, rows: manyRows(10, 5), err: &SQLError{1317, "70100", "Query execution was interrupted"}}}},
	{"error for the first row", false, ResponseErr, []reply{{columns: 1, err: &SQLError{1317, "70100", "interrupted"}}}},
	{"cursor", false, ResponseRows, []reply{{columns: 2, cursor: true, status: autocommit | uint16(ServerStatusCursorExists)}}},
	{"fetch", false, ResponseRows, []reply{{rowsOnly: true, rows: [][]byte{{0, 0, 1, 2}, {0, 0, 3, 4}}, status: uint16(ServerStatusCursorExists)}}},
	{"last fetch", false, ResponseRows, []reply{{rowsOnly: true, status: uint16(ServerStatusLastRowSent)}}},
	{"fetch error", false, ResponseErr, []reply{{rowsOnly: true, err: &SQLError{1243, "HY000", "Unknown handler"}}}},
	{"field list", false, ResponseRows, []reply{{rowsOnly: true, rows: [][]byte{append(column(0), 0xfb), append(column(1), 1, 'x')}, status: autocommit}}},
	{"multi results", false, ResponseErr, []reply{
		{affected: 1, status: autocommit | more}, {columns: 1, rows: manyRows(5, 4), status: autocommit | more, midStatus: autocommit | more},
		{columns: 1, status: more}, {status: more, info: "x"}, {err: &SQLError{1064, "42000", "syntax"}}}},
	{"rows of 2^24-1 and 2^24", true, ResponseRows, []reply{{columns: 1, status: autocommit, rows: [][]byte{
		rowOf(1<<24 - 1), rowOf(5), rowOf(1 << 24), rowOf(1<<24 - 2)}}}},
	{"row that begins with 0xfe, row of three packets", true, ResponseRows, []reply{{columns: 1, status: autocommit, rows: [][]byte{
		textRow(1 << 24), rowOf(2*(1<<24-1) + 3)}}}},
}

// capabilitySets are all combinations of the capabilities that change the form of a response.
func capabilitySets() []Capability {
	var sets []Capability
	for i := range 8 {
		c := ClientProtocol41
		for bit, flag := range []Capability{ClientDeprecateEOF, ClientSessionTrack, ClientOptionalResultsetMetadata} {
			if i>>bit&1 != 0 {
				c |= flag
			}
		}
		sets = append(sets, c)
	}
	return sets
}

// through gives what the destination must be sent for r: what only one form can carry is lost by the way.
func (r reply) through(src, dst Capability, o ForwardOptions) reply {
	isEnd := r.columns > 0 || r.rowsOnly || r.eof
	if isEnd && src&ClientDeprecateEOF == 0 {
		r.affected, r.insertID, r.info, r.state = 0, 0, "", ""
	}
	if src&ClientSessionTrack == 0 {
		r.state = ""
	}
	if src&ClientDeprecateEOF != 0 && r.columns > 0 {
		r.midStatus = uint16(o.Status)
		if len(r.rows) == 0 && r.err == nil && !r.cursor {
			r.midStatus = r.status &^ more
		}
	}
	return r
}

func TestForwardResult(t *testing.T) {
	o := ForwardOptions{Status: ServerStatusAutocommit | ServerStatusInTransReadonly}
	rng := rand.New(rand.NewPCG(7, 7))
	for _, test := range forwardCases {
		chunks := map[string]func() int{
			"all": nil, "bytes": func() int { return 1 }, "small": func() int { return 1 + rng.IntN(9) }, "large": func() int { return 1 + rng.IntN(70000) },
		}
		for i, src := range capabilitySets() {
			for j, dst := range capabilitySets() {
				for name, next := range chunks {
					if test.big && (i%7 > 0 || j%7 > 0) { // from all and none to all and none
						continue
					}
					if test.size() > 1<<20 && name != map[bool]string{true: "large", false: "all"}[i == j] {
						continue
					}
					checkForward(t, fmt.Sprintf("%s, %v to %v, %s", test.name, src, dst, name), test.kind, test.r, src, dst, o, next)
				}
			}
		}
	}
}

func checkForward(t *testing.T, what string, kind ResponseKind, replies []reply, srcCaps, dstCaps Capability, o ForwardOptions, next func() int) {
	t.Helper()
	var in, want [][]byte
	for _, r := range replies {
		in = append(in, r.packets(srcCaps)...)
		expected := r.through(srcCaps, dstCaps, o)
		want = append(want, expected.packets(dstCaps)...)
	}
	wire := frames(1, in...)
	behind := frames(byte(countFrames(wire)+1), []byte("next"))
	src := NewConn(&memConn{in: append(wire, behind...), next: next}, BackendSide, testCap)
	mem := new(memConn)
	dst := NewConn(mem, ClientSide, testCap)
	src.Capabilities, dst.Capabilities = srcCaps, dstCaps
	src.seq, dst.seq = 1, 5
	for i, r := range replies {
		if r.rowsOnly {
			o.Shape = ShapeRows
		}
		res, err := ForwardResult(dst, src, o)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		last := i == len(replies)-1
		if res.More() == last || last && (res.Kind != kind || dst.Pending() != 0) {
			t.Fatalf("%s: reply %d: more %v, kind %d, %d bytes pending", what, i, res.More(), res.Kind, dst.Pending())
		}
		if res.Columns != r.columns || int(res.Rows) != len(r.rows) || (res.Err == nil) != (r.err == nil) || r.err != nil && *res.Err != *r.err {
			t.Fatalf("%s: %+v", what, res)
		}
		if r.err == nil && (res.OK.Status&^ServerSessionStateChanged != Status(r.status) || res.OK.Warnings != r.warnings) {
			t.Fatalf("%s: %+v", what, res.OK)
		}
	}
	equalBytes(t, what, mem.out.Bytes(), frames(5, want...))
	if p, err := src.ReadPacket(); err != nil || string(p) != "next" {
		t.Fatalf("%s: behind it: %q, %v", what, p, err)
	}
	src.Release()
	dst.Release()
	if src.rbuf != nil || dst.wbuf != nil {
		t.Fatalf("%s: buffers kept", what)
	}
}

func countFrames(b []byte) int {
	n := 0
	for len(b) > 0 {
		b = b[headerLen+(int(b[0])|int(b[1])<<8|int(b[2])<<16):]
		n++
	}
	return n
}
