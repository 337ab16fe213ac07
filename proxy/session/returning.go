package session

import (
	"bytes"
	"fmt"
	"slices"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/txn"
	"kingshard/router"
	"kingshard/router/plan"
)

// readAnswer reads the answer of one shard to its part of a change; first says that it is the first one's.
type readAnswer func(l *txn.Lease, p *plan.Plan, q *plan.Query, first bool) (mysql.OKPacket, error)

// readChange reads the OK packet, or the error, of a shard whose part of a change returns no rows.
func readChange(l *txn.Lease, _ *plan.Plan, _ *plan.Query, _ bool) (mysql.OKPacket, error) {
	return l.Conn.ReadChange()
}

// returned are the rows of RETURNING of a change of several shards. The client gets none before all shards have kept the change. MariaDB Knowledge Base:
// "INSERT...RETURNING", "DELETE".
type returned struct {
	// columns are nil where no shard gave any, not even for no rows.
	columns     []mysql.ColumnDefinition41
	rows        []returnedRow
	bytes, most uint64
	unordered   bool // which of an INSERT's rows some are is not known
	failed      bool // fault has found one
}

// returnedRow is a row as its shard sent it, and the number that it has in an INSERT; 0 of any other change.
type returnedRow struct {
	number int
	packet []byte
}

// read is a readAnswer. Of a reference table each node gives the rows, and those of the first count.
func (rt *returned) read(l *txn.Lease, p *plan.Plan, q *plan.Query, first bool) (mysql.OKPacket, error) {
	numbers, had := q.Rows(), len(rt.rows)
	columns, ok, err := l.Conn.ReadReturned(func(packet []byte) {
		if !first && p.Target.Table.Kind == router.Reference {
			return
		}
		row := returnedRow{}
		if n := len(rt.rows) - had; n < len(numbers) {
			row.number = numbers[n]
		}
		if rt.bytes += uint64(len(packet)); rt.bytes <= rt.most {
			row.packet = bytes.Clone(packet)
		}
		rt.rows = append(rt.rows, row)
	})
	if n := len(rt.rows) - had; n > 0 && n != len(numbers) && len(numbers) > 0 {
		rt.unordered = true
	}
	if err == nil && rt.columns == nil && columns != nil {
		names := renames(p, q.Shards)
		for k := range columns {
			columns[k].Rename(names)
		}
		rt.columns = columns
	}
	return ok, err
}

// fault returns why the rows cannot be given, once all shards have answered.
func (rt *returned) fault(c *client, q *query) error {
	rt.failed = true
	quota := c.quota(q)
	if quota != nil {
		of := *quota // the change may be tried again
		quota = &of
	}
	for k := range rt.rows {
		if e := quota.Take(uint64(len(rt.rows[k].packet))); e != nil {
			observe.Exceeded(c.account, q.quota, e)
			return e
		}
	}
	switch {
	case rt.bytes > rt.most:
		return newError(KSFinishLimit, fmt.Sprintf("the rows that RETURNING of a change of several shards gives are more than %v (finish_max_bytes)", config.ByteSize(rt.most)))
	case rt.unordered:
		return newError(KSRefusedSharding, "RETURNING of an INSERT of rows to several shards, one of which has left rows out: which rows were inserted is not known, and nothing was changed")
	}
	rt.failed = false
	slices.SortStableFunc(rt.rows, func(a, b returnedRow) int { return a.number - b.number })
	return nil
}

// write gives the rows to the client.
func (rt *returned) write(c *client, end *mysql.OKPacket) {
	c.state.Diagnostics.RowCount = -1
	b := mysql.AppendLenenc(c.conn.StartPacket(), uint64(len(rt.columns)))
	if c.conn.Capabilities.Has(mysql.ClientOptionalResultsetMetadata) {
		b = append(b, 1)
	}
	c.conn.EndPacket(b)
	c.writeDefinitions(rt.columns)
	for k := range rt.rows {
		c.conn.EndPacket(append(c.conn.StartPacket(), rt.rows[k].packet...))
	}
	c.conn.WriteEnd(&mysql.OKPacket{Status: end.Status, Warnings: end.Warnings})
}
