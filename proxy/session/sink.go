package session

import (
	"net"
	"strconv"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/value"
)

// sink takes the answer to a query that the proxy runs for itself in the way of a client's.
type sink struct {
	conn *mysql.Conn
	kept keptBytes
	// drops says that nobody wants the answer, but for an error that it is: the query may run as the client's would.
	drops bool
}

// catches reports whether an answer is kept, for what the proxy makes of it.
func (s *sink) catches() bool { return s != nil && !s.drops }

// keptBytes is a network connection that keeps what is written to it, up to a number of bytes.
type keptBytes struct {
	net.Conn // nil: nobody reads, or asks where it leads
	bytes    []byte
	most     int
	closed   bool
}

// Close notes that the client's connection is to be closed.
func (k *keptBytes) Close() error {
	k.closed = true
	return nil
}

// SetDeadline does nothing: nobody waits.
func (k *keptBytes) SetDeadline(time.Time) error { return nil }

// Write keeps bytes.
func (k *keptBytes) Write(b []byte) (int, error) {
	k.bytes = append(k.bytes, b[:min(len(b), k.most-len(k.bytes))]...)
	return len(b), nil
}

// newSink makes a sink that keeps the first so many bytes of an answer.
func newSink(most int) *sink {
	s := &sink{kept: keptBytes{most: most}}
	s.conn = mysql.NewConn(&s.kept, mysql.ClientSide, most)
	s.conn.Capabilities = mysql.ClientProtocol41 | mysql.ClientDeprecateEOF | mysql.ClientTransactions
	return s
}

// answer is an answer taken apart: its columns, its first row, and the error that it is or that ended it.
type answer struct {
	columns []mysql.ColumnDefinition41
	first   []value.Cell
	rows    int // that were seen; 2 stands for more where they are not all asked for
	err     *mysql.SQLError
}

// packets gives the packets that were kept, continued ones joined; the last may be missing where the sink was full.
func (s *sink) packets() (list [][]byte) {
	const longest = 1<<24 - 1
	joined := false
	for b := s.kept.bytes; len(b) >= 4; {
		n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		if len(b) < 4+n {
			break
		}
		if joined {
			last := len(list) - 1
			list[last] = append(list[last][:len(list[last]):len(list[last])], b[4:4+n]...)
		} else {
			list = append(list, b[4:4+n])
		}
		joined = n == longest
		b = b[4+n:]
	}
	return list
}

// read takes the answer apart. ok is false where its first row was longer than the sink. each, if set, gets every row, and
// then ok is false where any was cut off.
func (s *sink) read(each func(columns []mysql.ColumnDefinition41, row []value.Cell) error) (a answer, ok bool, err error) {
	_ = s.conn.Flush()
	defer s.conn.Release()
	var scanner mysql.ResponseScanner
	layout := value.Layout{Format: value.TextRow}
	for _, p := range s.packets() {
		part, err := scanner.Scan(p, len(p), s.conn.Capabilities)
		if err != nil {
			return a, false, nil
		}
		switch part {
		case mysql.PartError:
			if a.err = new(mysql.SQLError); a.err.Decode(p) != nil {
				a.err = nil
				return a, false, nil
			}
			return a, true, nil
		case mysql.PartDefinition:
			var def mysql.ColumnDefinition41
			if def.Decode(p) != nil {
				return a, false, nil
			}
			a.columns, layout.Types = append(a.columns, def), append(layout.Types, value.TypeOf(&def))
			layout.Visible = len(a.columns)
		case mysql.PartRow:
			if a.rows++; a.rows > 1 && each == nil {
				return a, true, nil
			}
			row := value.Row{Raw: p, Cells: make([]value.Cell, len(a.columns))}
			if layout.Split(&row) != nil {
				return a, false, nil
			}
			if a.first == nil {
				a.first = row.Cells
			}
			if each != nil {
				if err := each(a.columns, row.Cells); err != nil {
					return a, true, err
				}
			}
		case mysql.PartEnd:
			return a, true, nil
		case mysql.PartOK, mysql.PartFile:
			return a, false, nil
		}
	}
	return a, a.rows > 0 && each == nil, nil
}

// take makes r of an answer: its OK, or its rows. The error is the one that it was answered with.
func (s *sink) take(r *result) error {
	_ = s.conn.Flush()
	if list := s.packets(); len(list) > 0 && len(list[0]) > 0 && list[0][0] == mysql.OKHeader {
		defer s.conn.Release()
		return r.ok.Decode(list[0], s.conn.Capabilities)
	}
	a, ok, err := s.read(func(columns []mysql.ColumnDefinition41, row []value.Cell) error {
		r.rows = append(r.rows, row)
		return nil
	})
	switch {
	case err != nil:
		return err
	case a.err != nil:
		return a.err
	case !ok:
		return newError(KSFinishLimit, "the statement has the proxy read more than "+strconv.Itoa(s.kept.most>>20)+" MB (finish_max_bytes)")
	}
	r.columns = a.columns
	return nil
}
