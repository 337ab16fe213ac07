package session

import (
	"bytes"
	"errors"
	"hash/maphash"
	"os"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// With transaction_replay an open transaction whose connection broke is carried out anew on another one, that of a new primary say: its
// statements are sent again, and their answers compared with those that the client has heard. Where all are equal the client hears nothing of it. Else
// the transaction is over, and the client hears the error of a deadlock, as it does without.
//
// It is for a transaction on one node of which the connection had no more of the session than that. The server rolls back what it was; a COMMIT
// that may have arrived there is never sent again.

// The bounds of what is kept of a transaction for a replay.
const (
	replayBytes = 1 << 20 // of texts and values
	replayTries = 3       // connections that are tried
)

// replayTime bounds a replay on one connection: the server may not know yet that the connection broke, and keep the rows locked.
const replayTime = 10 * time.Second

// recorded is a statement of a transaction, with the sum of its answer; see [mysql.ForwardOptions].
type recorded struct {
	setting    *backend.Setting // that of the session
	insertID   uint64           // what LAST_INSERT_ID() gave ahead of it
	text       string
	attributes []byte
	st         *stmt // nil of a text
	ex         execution
	answer     uint64
}

// bytes is the memory that r takes.
func (r *recorded) bytes() int {
	return 200 + len(r.text) + len(r.attributes) + len(r.ex.bitmap) + len(r.ex.types) + len(r.ex.values)
}

// recording is a transaction so far. It goes on as long as its connection has answered nothing but the statements in it.
type recording struct {
	statements []recorded
	bytes      int
	// begin is the statement that began it, characteristics what SET TRANSACTION had said; "" for none.
	begin, characteristics string
	on                     *backend.Conn // nil where nothing is recorded
	received               uint64        // by on, behind the last statement
}

// take is what is known of a statement that belongs to a transaction which may be replayed.
type take struct {
	first bool   // of its transaction
	begin string // the statement ahead of the first one
	keeps bool   // it can be sent again
	aside bool   // it is no part of the transaction: nothing is recorded of it
	recorded
	sum maphash.Hash
}

// seed is that of all sums of this process.
var seed = maphash.MakeSeed()

// replay carries a transaction out anew.
type replay struct {
	client    *client
	leases    *leases
	exchanges *exchanges
}

func (xs *exchanges) replay() replay { return replay{xs.client, xs.leases, xs} }

// ahead looks at a statement before a connection is acquired for it. It returns nil where there is no transaction to be replayed.
func (r replay) ahead(q *query) *take {
	t := r.begin()
	if t == nil {
		return nil
	}
	c := r.client
	t.setting = c.state.Setting()
	if t.keeps = replayable(q) && len(q.text) <= replayBytes; !t.keeps {
		return t
	}
	t.sum.SetSeed(seed)
	t.insertID = c.state.InsertID.Last()
	t.recorded.text = strings.Clone(q.text)
	t.attributes = bytes.Clone(q.attributes)
	if t.st = q.st; q.ex != nil {
		t.ex = execution{flags: q.ex.flags, bitmap: bytes.Clone(q.ex.bitmap), types: bytes.Clone(q.ex.types), values: bytes.Clone(q.ex.values)}
	}
	return t
}

// aheadOfPrepare is ahead of a statement that is to be prepared on the transaction's connection.
func (r replay) aheadOfPrepare() *take {
	t := r.begin()
	if t != nil {
		t.keeps, t.aside, t.setting = true, true, r.client.state.Setting()
	}
	return t
}

// begin begins a take, if there is a transaction to be replayed.
func (r replay) begin() *take {
	c := r.client
	if !c.snap.Config.TransactionReplay || c.sink != nil || c.task().own || c.task().composed || c.txn.HasOthers() {
		return nil
	}
	begin, first := c.txn.Begin, false
	rec := &r.exchanges.several().recording
	held := c.txn.Conn()
	switch in := held != nil && held.Status.Has(mysql.ServerStatusInTrans); {
	case !in && begin == "" && c.state.Autocommit, c.state.InsertID.OnlyOn() != nil:
		*rec = recording{}
		return nil
	case !in:
		first = true
		*rec = recording{}
	case rec.on != held || rec.received != held.Net.Received():
		*rec = recording{}
		return nil
	}
	return &take{first: first, begin: begin}
}

// replayable reports whether a statement can be sent again in a transaction that replaces its own.
func replayable(q *query) bool {
	info := &q.info
	if q.st != nil {
		info = &q.st.info
	}
	switch info.Class {
	case sqltext.Select, sqltext.With, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete, sqltext.Savepoint, sqltext.RollbackTo, sqltext.ReleaseSavepoint,
		sqltext.Show, sqltext.Describe, sqltext.Explain:
	default:
		return false
	}
	return info.Traits&stateful == 0 && q.reached == 0 && (q.within == nil || len(q.within.Inner) == 0) && q.rows == nil && !q.wantsCursor() &&
		(q.st == nil || len(q.st.long) == 0 && !q.st.mixed && q.ex.attributes == nil)
}

// note records a statement whose answer the client has, if it is one of a transaction that may be replayed.
func (r replay) note(x *exchange) {
	t := x.take
	if t == nil {
		return
	}
	rec := &r.exchanges.several().recording
	if !r.client.txn.Holds(x.p) || !x.p.Conn.Status.Has(mysql.ServerStatusInTrans) || !t.keeps || r.client.txn.Branches || r.client.txn.Current.Unknown ||
		r.client.state.InsertID.OnlyOn() != nil || rec.bytes+t.bytes() > replayBytes {
		*rec = recording{}
		return
	}
	if t.first {
		*rec = recording{begin: t.begin, characteristics: r.client.txn.Current.Text(), on: x.p.Conn}
	}
	if !t.aside {
		t.answer = t.sum.Sum64()
		rec.statements = append(rec.statements, t.recorded)
		rec.bytes += t.bytes()
	}
	rec.received = x.p.Conn.Net.Received()
}

// may reports whether the transaction of a statement whose connection broke may be replayed, and the statement be sent then.
func (r replay) may(x *exchange, q *query, err error) bool {
	c := r.client
	if x.take == nil || !isConnError(err) || isClientSide(err) || c.shared.Draining.Load() || c.entry.IsCancelled() || r.leases.sharing() != nil || c.txn.HasOthers() || c.txn.Branches {
		return false
	}
	pins := c.txn.Pins
	c.txn.Pins = x.pins
	only := onlyTransaction(r.leases, x.p)
	c.txn.Pins = pins
	if !only || c.conn.Sequence() != x.sent || c.conn.Pending() > 0 || x.p.Conn.Net.Received()-x.had >= wrapsMin {
		return false // the client has, or may have, a part of the answer
	}
	return x.take.keeps || q.st == nil && q.info.Class == sqltext.Commit && x.p.Conn.NeverArrived()
}

// anew replays the transaction on another connection, which the session holds then. With an error the transaction is over.
func (r replay) anew(x *exchange, cause error) error {
	c, rec := r.client, r.exchanges.several().recording
	node, target := x.target.Node.Name, txn.Target{Node: x.target.Node}
	if x.take.first {
		rec = recording{begin: x.take.begin, characteristics: c.txn.Current.Text()}
	}
	c.shared.Log.Info("backend connection lost in a transaction, which is replayed", "conn", c.id, "node", node, "instance", x.p.Instance.Addr, "statements", len(rec.statements), "error", cause)
	x.p.Instance.CheckIdle()
	current := c.txn.Current
	r.leases.drop(x.p)
	err := cause
	for range replayTries {
		var p backend.Pooled
		if p, err = r.leases.obtain(target, x.take.setting); err != nil {
			break
		}
		if err = r.on(p, &rec); err == nil {
			c.txn.Replayed(p, x.pins)
			c.txn.Current = current
			rec.on, rec.received = p.Conn, p.Conn.Net.Received()
			r.exchanges.several().recording = rec
			c.observed.CountReplay(observe.ReplayDone)
			return nil
		}
		r.leases.drop(p)
		if c.entry.IsCancelled() || !isConnError(err) || errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	outcome := observe.ReplayFailed
	if errors.Is(err, errAnswersDiffer) {
		outcome = observe.ReplayDiffered
	}
	c.observed.CountReplay(outcome)
	c.shared.Log.Warn("a transaction could not be replayed", "conn", c.id, "node", node, "error", err)
	lost := r.leases.branches().transactionLost(node, true)
	if c.entry.IsCancelled() {
		return interrupted()
	}
	return lost
}

// errAnswersDiffer says that a replayed statement has another answer than the client has heard.
var errAnswersDiffer = errors.New("the answer is another one than the client has heard")

// on replays a transaction on p.
func (r replay) on(p backend.Pooled, rec *recording) error {
	c := r.client
	if !c.setRunning(p) {
		return interrupted()
	}
	p.Conn.Net.SetDeadline(time.Now().Add(replayTime))
	for _, sql := range [...]string{rec.characteristics, rec.begin} {
		if sql == "" {
			continue
		}
		if err := c.observed.Run(p, c.state.DB(), sql); err != nil {
			return err
		}
	}
	out := newSink(1 << 10)
	out.conn.Capabilities = c.conn.Capabilities
	for k := range rec.statements {
		if err := r.again(p, &rec.statements[k], out.conn); err != nil {
			return err
		}
	}
	if len(rec.statements) > 0 && !p.Conn.Status.Has(mysql.ServerStatusInTrans) {
		return errAnswersDiffer
	}
	p.Conn.Net.SetDeadline(time.Time{})
	if c.entry.TakeRunning() {
		return interrupted()
	}
	return nil
}

// again sends a recorded statement on p, and compares its answer, which goes to out.
func (r replay) again(p backend.Pooled, one *recorded, out *mysql.Conn) error {
	c := r.client
	var bs *backend.Stmt
	if one.st != nil {
		var err error
		if bs, err = r.exchanges.backendStmt(p, one.text, one.st, &one.ex); err != nil {
			return err
		}
	}
	if err := c.observed.Apply(p, c.state.DB(), one.setting); err != nil {
		return err
	}
	brings := state.InsertIDOf(one.insertID)
	brings.Queue(p.Conn)
	if one.st != nil {
		r.exchanges.sendExecution(p, bs, one.st, &one.ex)
	} else {
		r.exchanges.send(p, &query{text: one.text, attributes: one.attributes})
	}
	if err := p.Conn.Flush(); err != nil {
		return err
	}
	if err := p.Conn.ReadAhead(); err != nil {
		return err
	}
	var sum maphash.Hash
	sum.SetSeed(seed)
	out.ResetSequence()
	out.EndPacket(out.StartPacket()) // the command's
	res, err := mysql.ForwardResult(out, p.Conn.Conn, mysql.ForwardOptions{Sum: &sum})
	if err != nil {
		return err
	}
	if res.Kind != mysql.ResponseErr {
		p.Conn.Status = res.OK.Status
	}
	p.Conn.DoubtInsertID()
	if res.Kind == mysql.ResponseLocalInfile || res.More() || sum.Sum64() != one.answer {
		return errAnswersDiffer
	}
	return nil
}
