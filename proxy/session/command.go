package session

import (
	"errors"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
	"kingshard/proxy/querylog"
	"kingshard/proxy/txn"
)

// begin notes what the session is about to do, for others to see. It fails when somebody closed the session meanwhile.
func (c *client) begin(cmd mysql.Command, text string) bool {
	now := time.Now()
	if t := c.tasked; t != nil && t.ahead.begun {
		now = c.entry.Since() // a loop began it
	}
	c.observed.Begin()
	c.passed = false
	return c.entry.Begin(cmd, text, now)
}

// conclude ends a command: what is queued is sent, and nothing is kept of it but the session's state.
func (c *client) conclude(cmd mysql.Command, end *endError) *endError {
	if err := c.conn.Flush(); err != nil && end == nil {
		end = clientEnd(err)
	}
	if c.observed.Traced() {
		c.endTrace(end)
	}
	if end != nil && end.failure() {
		c.observed.CutOff(end.origin())
	}
	text := c.entry.Text()
	if parts, statement := c.observed.End(cmd, c.finishCommand()); statement && c.shared.Queries.On() {
		c.logStatement(text, parts)
	}
	if c.lastChanges != nil {
		freshness{c}.ended()
	}
	c.conn.Release()
	c.returnOffer()
	c.outOfLine()
	c.releaseTask()
	c.observed.Unlabel()
	if end == nil && c.shared.Draining.Load() && !c.txn.InTransaction() {
		end = &endError{reason: process.EndDrained}
	}
	return end
}

// settle turns the outcome of a command into what the client hears and whether the session goes on.
func (c *client) settle(err error) *endError {
	if err == nil {
		return nil
	}
	var sqlErr *mysql.SQLError
	if errors.As(err, &sqlErr) {
		c.txn.LastOnHeld = false // the held connection knows nothing of it
		c.writeError(sqlErr, observe.OriginProxy)
		return nil
	}
	var end *endError
	if errors.As(err, &end) {
		return end
	}
	return clientEnd(err)
}

// finishCommand notes that the command is over and returns how long it took.
func (c *client) finishCommand() time.Duration {
	var whole []backend.Pooled
	if c.txn.Branches {
		whole = c.txn.All()
	}
	return c.entry.Finish(process.Kept{
		DB: c.state.DB(), Instance: c.txn.Held().Instance, Others: c.txn.Others(), Whole: whole, Pins: uint32(c.txn.Pins),
		InTransaction: c.txn.InTransaction(), Engaged: c.txn.Pins.Has(txn.PinXA) || c.txn.Pins.Has(txn.PinLockTables),
	})
}

// outOfLine notes that the session does not wait for a connection any more.
func (c *client) outOfLine() {
	if t := c.tasked; t != nil && !t.ahead.since.IsZero() {
		t.ahead.since = time.Time{}
		c.entry.Wants(nil)
	}
}

// returnOffer gives back a connection, or the right to open one, that the command did not need after all.
func (c *client) returnOffer() {
	if t := c.tasked; t != nil && t.placed != nil {
		t.placed = nil
		t.place.Decline()
	}
	if p := c.ahead().offer; p.Pooled != nil {
		c.ahead().offer = offer{}
		p.Put()
	}
}

// logStatement hands the statement that has ended to the statistics by digest and the logs.
func (c *client) logStatement(text string, parts observe.Parts) {
	o, addr := &c.observed, ""
	if o.Instance != nil {
		addr = o.Instance.Addr
	}
	normal, numbers, moved := "", sqltext.Numbers{}, moved{}
	if c.tasked != nil {
		normal, numbers = c.tasked.recognized.of(text)
		moved = c.tasked.moved
	}
	took := parts.Proxy + parts.Wait + parts.Backend
	c.shared.Queries.Statement(&querylog.Statement{
		Conn: c.id, User: c.entry.Name(), DB: c.state.DB(), Client: c.from(), Backend: addr, Text: text, Normal: normal, Numbers: numbers, Mode: c.mode(), Class: o.Class,
		Start: c.entry.Since().Add(-took), Total: took, Wait: parts.Wait, Exec: parts.Backend,
		Rows: o.Rows, Bytes: o.Bytes, MovedRows: moved.rows, MovedBytes: moved.bytes, Shards: o.Shards, Plan: o.Plan, ErrorCode: o.ErrorCode,
	})
}
