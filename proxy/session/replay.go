package session

import (
	"bytes"
	"errors"
	"hash/maphash"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
	"kingshard/router"
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

// replayTime bounds a replay from its first connection on: the server may not know yet that the old one broke, and keep the rows locked.
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
	bytes      int // that are taken of packet_memory
	// begin is the statement that began it, characteristics what SET TRANSACTION had said; "" for none.
	begin, characteristics string
	on                     *backend.Conn   // nil where nothing is recorded
	received               uint64          // by on, behind the last statement
	plans                  *Plans          // those that its first statement was planned by
	watched                []*router.Table // see [query]
}

// take is what is known of a statement that belongs to a transaction which may be replayed.
type take struct {
	first bool   // of its transaction
	begin string // the statement ahead of the first one
	keeps bool   // it can be sent again
	q     *query // it
	aside bool   // it is no part of the transaction: nothing is recorded of it
	recorded
	sum maphash.Hash
}

// seed makes the sums of answers comparable with each other, within this process.
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
	t.q, t.setting = q, c.state.Setting()
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

// aheadOfPrepare begins what is known of a COM_STMT_PREPARE on the transaction's connection: it may be sent again, and nothing of it is recorded.
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
	held := c.txn.Conn()
	in := held != nil && held.Status.Has(mysql.ServerStatusInTrans)
	if !in && begin == "" && c.state.Autocommit || r.heldKnows() || !in && c.txn.Pins.Has(txn.PinSavepoint) {
		r.forget()
		return nil
	}
	rec := &r.exchanges.several().recording
	switch {
	case !in:
		first = true
		r.forget()
	case rec.on != held || rec.received != held.Net.Received():
		r.forget()
		return nil
	}
	return &take{first: first, begin: begin}
}

// heldKnows reports whether the held connection alone knows what functions give of the session.
func (r replay) heldKnows() bool {
	return r.client.state.InsertID.OnlyOn() != nil || r.client.state.Found.OnlyOn() != nil
}

// forget ends the recording, if there is one.
func (r replay) forget() {
	if parts := r.exchanges.parts; parts != nil {
		held := heldBytes{&r.client.shared.Packets, parts.recording.bytes}
		held.set(0)
		parts.recording = recording{}
	}
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
	return info.Traits&(stateful|diagnostics|sqltext.IntoOutfile) == 0 && (q.within == nil || len(q.within.Inner) == 0) && q.rows == nil && !q.wantsCursor() &&
		(q.st == nil || len(q.st.long) == 0 && !q.st.mixed && q.ex.attributes == nil)
}

// note records a statement whose answer the client has, if it is one of a transaction that may be replayed.
func (r replay) note(x *exchange) {
	t := x.take
	if t == nil {
		return
	}
	rec := &r.exchanges.several().recording
	if !r.client.txn.Holds(x.p) || !x.p.Conn.Status.Has(mysql.ServerStatusInTrans) || !t.keeps || t.q != nil && t.q.reached != 0 || r.client.txn.Branches || r.client.txn.Current.Unknown ||
		r.heldKnows() || rec.bytes+t.bytes() > replayBytes {
		r.forget()
		return
	}
	if t.first {
		rec.begin, rec.characteristics, rec.on, rec.plans = t.begin, r.client.txn.Current.Text(), x.p.Conn, r.client.schema.Plans
	}
	if !t.aside {
		held := heldBytes{&r.client.shared.Packets, rec.bytes}
		if !held.set(rec.bytes + t.bytes()) {
			r.forget()
			return
		}
		rec.bytes = held.n
		rec.watched = append(rec.watched, t.q.watched...)
		t.q = nil // which lives for the command only
		t.answer = t.sum.Sum64()
		rec.statements = append(rec.statements, t.recorded)
	}
	rec.received = x.p.Conn.Net.Received()
}

// may reports whether the transaction of a statement whose connection broke may be replayed, and the statement be sent then.
func (r replay) may(x *exchange, q *query, err error) bool {
	c := r.client
	if x.take == nil || x.attempt > 0 || !isConnError(err) || isClientSide(err) || c.shared.Draining.Load() || c.entry.IsCancelled() || r.leases.sharing() != nil || c.txn.HasOthers() || c.txn.Branches {
		return false
	}
	pins := c.txn.Pins
	c.txn.Pins = x.pins
	only := onlyTransaction(r.leases, x.p)
	c.txn.Pins = pins
	if !only || c.conn.Sequence() != x.sent || c.conn.Pending() > 0 || x.p.Conn.Net.Received()-x.had >= wrapsMin {
		return false // the client has, or may have, a part of the answer
	}
	return x.take.keeps && q.reached == 0 || q.st == nil && q.info.Class == sqltext.Commit && x.p.Conn.NeverArrived()
}

// anew replays the transaction on another connection, which the session holds then. With an error the transaction is over.
func (r replay) anew(x *exchange, cause error) error {
	c, rec := r.client, r.exchanges.several().recording
	node, target := x.target.Node.Name, txn.Target{Node: x.target.Node}
	if x.take.first {
		rec = recording{begin: x.take.begin, characteristics: c.txn.Current.Text(), plans: c.schema.Plans}
	}
	c.shared.Log.Info("backend connection lost in a transaction, which is replayed", "conn", c.id, "node", node, "instance", x.p.Instance.Addr, "statements", len(rec.statements), "error", cause)
	x.p.Instance.CheckIdle()
	current, marked := c.txn.Current, x.p.Conn.Marked
	r.leases.drop(x.p)
	c.txn.Pins = x.pins
	err := cause
	var until time.Time
	for try := 0; try < replayTries && (try == 0 || time.Now().Before(until)); try++ {
		var p backend.Pooled
		if p, err = r.leases.obtain(target, x.take.setting); err != nil {
			break
		}
		if try == 0 {
			until = time.Now().Add(replayTime)
		}
		p.Conn.Marked = p.Conn.Marked || marked
		if err = r.on(p, &rec, until); err == nil {
			c.txn.Replayed(p, x.pins)
			c.txn.Current = current
			if p.Instance.GTIDs.Replicated.Load() && c.txn.Changed {
				freshness{c}.mayCommit(p.Instance.Node, p.Instance.GTIDs)
			}
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
	r.forget()
	c.shared.Log.Warn("a transaction could not be replayed", "conn", c.id, "node", node, "error", err)
	// Also where the statement was interrupted: that error would say that the transaction goes on.
	return r.leases.branches().transactionLost(node, true)
}

// errKeysChanged says that a replay would change rows without the entries of keys over shards that their table has got meanwhile.
var errKeysChanged = errors.New("tables have got other keys over their shards meanwhile")

// keysAsBefore reports whether the tables of a recording have the keys over shards that its statements were planned for.
func (r replay) keysAsBefore(rec *recording) bool {
	c := r.client
	schema := c.shared.Snapshot.Load().Schemas[c.entry.Name()]
	if schema == nil || r.leases.stillHeard(rec.watched) != nil {
		return false
	}
	if rec.plans == nil || rec.plans == schema.Plans {
		return true
	}
	now := schema.Plans.Tables()
	for _, t := range rec.plans.Tables() {
		if !slices.ContainsFunc(now, func(n *router.Table) bool {
			return n.DB == t.DB && n.Name == t.Name && slices.EqualFunc(n.Indexes, t.Indexes, sameIndex)
		}) {
			return false
		}
	}
	return true
}

func sameIndex(a, b *router.Index) bool { return a.Name == b.Name }

// errAnswersDiffer says that a replayed statement has another answer than the client has heard.
var errAnswersDiffer = errors.New("the answer is another one than the client has heard")

// on replays a transaction on p.
func (r replay) on(p backend.Pooled, rec *recording, until time.Time) error {
	c := r.client
	if !c.setRunning(p) {
		return interrupted()
	}
	if !r.keysAsBefore(rec) {
		return errKeysChanged
	}
	p.Conn.Net.SetDeadline(until)
	if err := r.exchanges.forgetDiagnostics(p); err != nil {
		return err
	}
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
	var st *stmt
	if one.st != nil {
		own := *one.st
		own.long = nil // what there is now is for a later execution
		st = &own
		var err error
		if bs, err = r.exchanges.backendStmt(p, one.text, st, &one.ex); err != nil {
			return err
		}
	}
	if err := c.observed.Apply(p, c.state.DB(), one.setting); err != nil {
		return err
	}
	brings := state.InsertIDOf(one.insertID)
	brings.Queue(p.Conn)
	if st != nil {
		r.exchanges.sendExecution(p, bs, st, &one.ex)
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
