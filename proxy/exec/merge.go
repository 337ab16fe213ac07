package exec

import (
	"errors"

	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/proxy/faultpoint"
	"kingshard/router/plan"
)

// Options are what Merge must know of one run of a plan.
type Options struct {
	// Offset and Limit count merged rows; math.MaxUint64 is no limit.
	Offset, Limit uint64
	// Status goes into the packet that ends the result, together with what the shards say of transactions and the use of
	// indexes.
	Status mysql.Status
	// Hide are flags that the shards say of what is not the client's.
	Hide mysql.Status
	// Warnings are added to the shards' own.
	Warnings uint16
	// Recount, if set, is asked for the number of warnings when the shards have some: shards of one statement warn of its
	// text each. It may use the connections of sources that are Done.
	Recount func() uint16
	// Names are the client's names of tables.
	Names []mysql.TableName
	// CountAll reads all rows, those behind the limit too, so that Summary.Found is what there would be without one.
	CountAll bool
	// Quota, if set, bounds the rows that are sent; what is more ends the merge with the quota's error.
	Quota *mysql.Quota
	// Definitions, if set, are sent in place of the first shard's.
	Definitions []mysql.ColumnDefinition41
}

// Summary is what one merge did.
type Summary struct {
	Rows     uint64 // sent to the client
	Found    uint64 // merged rows that were read, those that OFFSET and LIMIT leave out included
	Bytes    uint64 // of those rows, without packet headers
	Warnings uint16
	Status   mysql.Status // as sent at the end
	// Sent tells whether a part of the result is queued on dst or may have reached the client.
	Sent bool
	// Err is an error that ended the result after a part of it may have been sent; the client has heard it.
	Err *mysql.SQLError
	// Unread are the sources, by number, whose responses were not read to the end, in ascending order: to be drained, or
	// their connections closed. It is set whatever Merge returns.
	Unread []int
}

// Merge sends the client one result set made of the responses of sources, to each of which the statement has been sent. The
// sources' rows are of one format, and their connections are the caller's, who flushes dst, too, so that the connections can be others' before
// the client hears the end.
//
// A shard's error of which the client can be told in place of a result is returned as a *mysql.SQLError, with nothing
// queued or sent; the same goes for ErrMismatch and for errors of the plan itself. A *mysql.ConnError says which side
// failed; Summary.Sent tells how far the result got. After an error of a shard that the client heard in the middle of its
// result, Merge returns nil and sets Summary.Err.
func Merge(dst *mysql.Conn, sources []*Source, p *plan.Merge, o Options) (Summary, error) {
	m := &merge{dst: dst, plan: p, o: o, skip: o.Offset, left: o.Limit}
	err := m.run(sources)
	if err != nil {
		err = m.fail(err)
	}
	for i, s := range sources {
		if !s.done {
			m.sum.Unread = append(m.sum.Unread, i)
		}
	}
	return m.sum, err
}

// mark is where dst stood before the first packet of the result.
type mark struct {
	sequence uint8
	activity uint32
	pending  int
}

// merge is one Merge under way.
type merge struct {
	dst  *mysql.Conn
	plan *plan.Merge
	o    Options
	sum  Summary
	mark mark

	defs     []mysql.ColumnDefinition41
	layout   value.Layout
	keyTypes []value.Type // of the order's keys
	groupLen int          // how many of them say which rows become one; 0 is all rows, where grouping
	grouping bool

	streams       []stream
	losers        []int
	advanceWinner bool
	at            int // the stream being read, without order

	group      group
	skip, left uint64
	out        []byte // a row that is not sent as it came
	unflushed  int    // bytes written since dst was last asked whether it still works
}

func (m *merge) run(sources []*Source) error {
	if len(sources) == 0 {
		return planError("no sources")
	}
	if err := m.open(sources); err != nil {
		return err
	}
	m.resolve()
	if err := m.prepare(); err != nil {
		return err
	}
	m.makeStreams(sources)
	if err := m.start(); err != nil {
		return err
	}
	m.mark = mark{sequence: m.dst.Sequence(), activity: m.dst.Net.Activity(), pending: m.dst.Pending()}
	m.sum.Sent = true
	m.writeColumns()
	rows := m.plainRows
	if m.grouping {
		rows = m.groupRows
	}
	if err := rows(); err != nil {
		return err
	}
	return m.end(sources)
}

// makeStreams takes rows apart as far as the plan asks: not at all where they are sent as they came and in no order.
func (m *merge) makeStreams(sources []*Source) {
	split := 0
	if m.plan.Visible < len(m.defs) {
		split = m.plan.Visible
	}
	for _, k := range m.plan.Order {
		split = max(split, k.Column+1)
	}
	if m.grouping {
		split = len(m.defs)
	}
	if split > 0 {
		split = max(split, m.plan.Visible)
	}
	m.streams = make([]stream, len(sources))
	cells, order := make([]value.Cell, split*len(sources)), len(m.plan.Order)
	keys := make([]value.Key, order*len(sources))
	for i := range m.streams {
		m.streams[i] = stream{source: sources[i], row: value.Row{Cells: cells[i*split : (i+1)*split]}, keys: keys[i*order : (i+1)*order]}
	}
}

// plainRows sends rows that are merged without becoming others.
func (m *merge) plainRows() error {
	for m.left > 0 || m.o.CountAll {
		s, err := m.next()
		if s == nil || err != nil {
			return err
		}
		if m.skipped() {
			continue
		}
		if err := m.writeRow(&s.row); err != nil {
			return err
		}
	}
	return nil
}

// skipped counts a row of the merged ones and tells whether OFFSET or LIMIT leaves it out.
func (m *merge) skipped() bool {
	m.sum.Found++
	switch {
	case m.skip > 0:
		m.skip--
		return true
	case m.left == 0:
		return true
	}
	m.left--
	return false
}

// writeRow queues a row of a shard without its hidden columns.
func (m *merge) writeRow(row *value.Row) error {
	switch {
	case m.plan.Visible == len(m.defs):
		return m.write(row.Raw)
	case m.layout.Format == value.TextRow:
		return m.write(row.Raw[:row.VisibleEnd])
	}
	m.out = m.layout.AppendVisible(m.out[:0], row.Cells)
	return m.write(m.out)
}

// flushEvery is how many bytes are written before the client is looked after: a write that failed shows only in a flush.
const flushEvery = 64 << 10

func (m *merge) write(payload []byte) error {
	if over := m.o.Quota.Take(uint64(len(payload))); over != nil {
		return over
	}
	m.dst.WritePacket(payload)
	m.sum.Rows++
	m.sum.Bytes += uint64(len(payload))
	if m.unflushed += len(payload); m.unflushed < flushEvery {
		return nil
	}
	m.unflushed = 0
	return m.dst.Flush()
}

// flushBefore sends what is queued before a read of a shard that may have to wait.
func (m *merge) flushBefore(s *Source) error {
	pending := m.dst.Pending()
	if pending == 0 || !s.mayWait(pending) {
		return nil
	}
	err := m.dst.Flush()
	if fault := faultpoint.Fail(faultpoint.InResult); fault != nil {
		return fault
	}
	return err
}

// sharedStatus are the flags that hold for the whole when they hold for one shard.
const sharedStatus = mysql.ServerStatusInTrans | mysql.ServerStatusInTransReadonly | mysql.ServerStatusNoGoodIndexUsed |
	mysql.ServerStatusNoIndexUsed | mysql.ServerQueryWasSlow

// end queues the packet behind the rows.
func (m *merge) end(sources []*Source) error {
	warnings := int(m.o.Warnings)
	m.sum.Status = m.o.Status
	for _, s := range sources {
		warnings += int(s.end.Warnings)
		m.sum.Status |= s.end.Status & sharedStatus &^ m.o.Hide
	}
	if warnings > int(m.o.Warnings) && m.o.Recount != nil {
		warnings = int(m.o.Warnings) + int(m.o.Recount())
	}
	m.sum.Warnings = uint16(min(warnings, 1<<16-1))
	m.dst.WriteEnd(&mysql.OKPacket{Status: m.sum.Status, Warnings: m.sum.Warnings})
	return nil
}

// fail ends a merge that failed: what is queued and not sent is taken back, else the client hears of it in its result.
func (m *merge) fail(err error) error {
	var conn *mysql.ConnError
	isConn := errors.As(err, &conn)
	if !m.sum.Sent || isConn && conn.Side == mysql.ClientSide {
		return err
	}
	if m.mark.pending == 0 && m.dst.Net.Activity() == m.mark.activity {
		m.dst.Discard(m.mark.sequence)
		m.sum.Sent, m.sum.Rows, m.sum.Bytes = false, 0, 0
		return err
	}
	if isConn {
		return err
	}
	if !errors.As(err, &m.sum.Err) {
		m.sum.Err = mysql.NewSQLError(mysql.ERUnknown, "%s", err.Error())
	}
	m.dst.WriteError(m.sum.Err)
	return m.dst.Flush()
}
