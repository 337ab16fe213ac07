package txn

import (
	"errors"
	"testing"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/kserror"
)

// A connection stays with the session while its server says that a transaction is open, or for a reason, and no longer.
func TestConnectionsStay(t *testing.T) {
	r := newRig(t)
	if _, stays := r.statement(0, "SELECT 1"); stays || !r.Free() {
		t.Error("one without a transaction stays")
	}
	r.Pin(PinNextTransaction) // until the server says that a transaction is open
	p, stays := r.statement(0, "START TRANSACTION")
	if !stays || r.Pins != 0 || !r.Holds(p) || !r.InTransaction() || !r.Engaged() || r.Free() || r.Disposable(p) || !r.LastOnHeld {
		t.Errorf("one in a transaction: stays %v", stays)
	}
	r.out(1, 0, 0)
	if err := r.Commit(r.exec); err != nil || r.release(p) || r.Holding() || !r.Free() {
		t.Errorf("behind COMMIT: %v", err)
	}
	r.expect("a: " + SQLCommit)

	r.Pin(PinTempTable)
	r.Pin(PinTempTable)
	if p, stays = r.statement(0, "CREATE TEMPORARY TABLE t (a INT)"); !stays || !r.Holds(p) || r.InTransaction() || r.Engaged() {
		t.Errorf("one with a pin: stays %v", stays)
	}
	if r.Unpin(PinTempTable); r.release(p) || r.Holding() {
		t.Error("it stays behind the last reason")
	}
	r.out(0, 0, 0)
	if n := r.counts.Totals(); n["temporary_table"] != 1 || n["xa"] != 0 {
		t.Errorf("counted: %v", n)
	}
}

// A statement beside the held connection leaves that as it is.
func TestConnectionBesideTheHeldOne(t *testing.T) {
	r := newRig(t)
	r.Pin(PinUserVariable)
	held, _ := r.statement(0, "SET @a = 1")
	beside, stays := r.statement(1, "SELECT 1")
	if stays || !r.Holds(held) || r.Holds(beside) || r.Beside(beside) || r.LastOnHeld {
		t.Error("the statement beside changed what is held")
	}
	if !r.MayHold(held) || r.MayHold(beside) || r.Disposable(held) || !r.Disposable(beside) {
		t.Error("which one may be held")
	}
	r.End(r.exec)
	r.out(0, 0, 0)
}

// Where the connection of a statement to node b comes from.
func TestPlace(t *testing.T) {
	r := newRig(t)
	b := Target{Node: r.nodes[1]}
	reads, stateless := b, b
	reads.Reads, stateless.Stateless = true, true
	both := reads
	both.Stateless = true
	const refused = Place(9)
	held := r.get(0)
	var readOnly Characteristics
	readOnly.access = 2
	for _, test := range []struct {
		name               string
		target             Target
		open               bool // a transaction is, on the held connection
		pins               Pins
		next               Characteristics
		begins, autocommit bool
		want               Place
	}{
		{"the held one", Target{Node: r.nodes[0]}, true, 0, Characteristics{}, true, true, FromHeld},
		{"a change elsewhere", b, true, 0, Characteristics{}, true, true, refused},
		{"a read elsewhere", reads, true, 0, Characteristics{}, true, true, FromOther},
		{"a read elsewhere, autocommit off", reads, false, OfTransaction, Characteristics{}, true, false, FromOther},
		{"a read that may use state", reads, true, 1 << PinUserVariable, Characteristics{}, true, true, refused},
		{"a read that does not", both, true, 1 << PinUserVariable, Characteristics{}, true, true, FromOther},
		{"a change beside state", stateless, false, 1 << PinUserVariable, Characteristics{}, true, true, FromPool},
		{"a change beside state, autocommit off", stateless, false, 1 << PinUserVariable, Characteristics{}, true, false, refused},
		{"behind SET TRANSACTION", stateless, false, 1 << PinUserVariable, readOnly, true, true, refused},
		{"that begins none", stateless, false, 1 << PinUserVariable, readOnly, false, true, FromPool},
		{"behind one that was sent", stateless, false, 1<<PinUserVariable | 1<<PinNextTransaction, Characteristics{}, true, true, refused},
	} {
		r.held, r.Pins, r.Next = held, test.pins, test.next
		held.Conn.Status = 0
		if test.open {
			held.Conn.Status = mysql.ServerStatusInTrans
		}
		got, err := r.Place(test.target, test.begins, test.autocommit, false)
		if err != nil {
			got = refused
			if e := (*mysql.SQLError)(nil); !errors.As(err, &e) || e.Code != kserror.TransactionNodes {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if got != test.want {
			t.Errorf("%s: %d, not %d (%v)", test.name, got, test.want, err)
		}
	}
	r.held, r.Next = backend.Pooled{}, Characteristics{}
	if got, err := r.Place(b, true, true, false); got != FromPool || err != nil {
		t.Errorf("nothing held: %d, %v", got, err)
	}
	held.Conn.Status = 0
	held.Put()
}

// A transaction reads from a second node and a third one: a transaction begins there, as SET TRANSACTION said, and ends with the client's.
func TestTransactionReadsFromFurtherNodes(t *testing.T) {
	r := newRig(t)
	r.Begin = "START TRANSACTION READ ONLY"
	r.Next.level = 4
	first, err := r.join(0, true, true)
	if err != nil || !first.Kept || !r.Holds(first.Pooled) || r.Begin != "" || r.Next.IsSet() || r.Current.Text() == "" {
		t.Fatalf("the first node: %+v, %v", first, err)
	}
	const isolation = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	r.expect("a: "+isolation, "a: START TRANSACTION READ ONLY")
	for k := 1; k < 3; k++ {
		l, err := r.join(k, true, true)
		if err != nil || !l.Kept || r.Holds(l.Pooled) || !r.Beside(l.Pooled) || r.MayHold(l.Pooled) {
			t.Fatalf("node %d: %+v, %v", k, l, err)
		}
		r.expect(l.Node+": "+isolation, l.Node+": "+SQLBegin)
		if r.Release(l.Pooled, true, true, r.exec) {
			t.Errorf("the connection to node %d goes", k)
		}
		if again, ok := r.On(l.Node); !ok || again.Pooled != l.Pooled || !again.Kept {
			t.Errorf("on node %d there is %+v, %v", k, again, ok)
		}
	}
	if list := r.Instances([]Lease{{Pooled: first.Pooled, Kept: true}, {Pooled: first.Pooled}}); len(list) != 4 {
		t.Errorf("%d connections are held", len(list))
	}
	if _, err := r.join(1, false, true); err == nil {
		t.Error("a second node changes rows in one transaction")
	}
	r.out(1, 1, 1)
	if err := r.Rollback(r.exec); err != nil {
		t.Fatal(err)
	}
	if r.release(first.Pooled) || r.HasOthers() || r.Holding() {
		t.Error("behind ROLLBACK something stays")
	}
	if len(r.sent) != 3 || r.sent[0] != "a: "+SQLRollback {
		t.Errorf("sent %q", r.sent)
	}
	r.out(0, 0, 0)
}

// Without a transaction, nothing joins; with autocommit off the first one that is borrowed begins it.
func TestJoinWithoutBegin(t *testing.T) {
	r := newRig(t)
	l, err := r.join(0, false, true)
	if err != nil || l.Kept || r.Holding() {
		t.Fatalf("without a transaction: %+v, %v", l, err)
	}
	GiveBack([]Lease{l})
	r.expect()
	if l, err = r.join(0, true, false); err != nil || !r.Holds(l.Pooled) {
		t.Fatalf("autocommit off: %+v, %v", l, err)
	}
	r.expect("a: " + SQLBegin)
	r.Current = Characteristics{Unknown: true}
	if _, err := r.join(1, true, false); err == nil {
		t.Error("a node joins whose characteristics nobody knows")
	}
	r.out(1, 0, 0)
	r.End(r.exec)
	r.out(0, 0, 0)
}

// A session with autocommit off that has only read on one node may change rows of another: the first one is read from, then.
func TestStepAside(t *testing.T) {
	r := newRig(t)
	r.Pin(PinAutocommit)
	p, _ := r.statement(0, "SELECT a FROM t")
	r.StepAside("a", nil)
	if !r.Holds(p) {
		t.Error("it steps aside for its own node")
	}
	r.Pin(PinSavepoint)
	if r.StepAside("b", nil); !r.Holds(p) {
		t.Error("it steps aside with a savepoint")
	}
	r.Unpin(PinSavepoint)
	if r.StepAside("b", nil); r.Holding() || !r.Beside(p) || r.Pins != 0 {
		t.Error("it does not step aside")
	}
	if r.ReadsInTransaction(false) {
		t.Error("no transaction is open there")
	}
	p.Conn.Status |= mysql.ServerStatusInTrans
	if !r.ReadsInTransaction(false) || r.ReadsInTransaction(true) {
		t.Error("one is open there, with autocommit off")
	}
	r.End(r.exec)
	r.out(0, 0, 0)
}

// A connection that breaks in a transaction leaves nothing of it behind, wherever it was.
func TestConnectionBreaksInTransaction(t *testing.T) {
	r := newRig(t)
	r.Begin = SQLBegin
	held, err := r.join(0, true, true)
	if err != nil {
		t.Fatal(err)
	}
	r.cutAt(SQLBegin)
	if _, err := r.join(1, true, true); !broke(err) || r.HasOthers() || !r.Holds(held.Pooled) {
		t.Errorf("it breaks at BEGIN: %v", err)
	}
	r.cutAt("")
	other, err := r.join(1, true, true)
	if err != nil {
		t.Fatal(err)
	}
	r.out(1, 1, 0)
	r.cutAt(SQLCommit)
	if err := r.Commit(r.exec); !broke(err) {
		t.Errorf("it breaks at COMMIT: %v", err)
	}
	r.Remove(held.Pooled)
	held.Taint()
	if r.Holding() || !r.Beside(other.Pooled) || r.InTransaction() {
		t.Error("what broke is held")
	}
	third, err := r.join(2, true, false)
	if err != nil || !r.Holds(third.Pooled) {
		t.Fatal(err)
	}
	fourth, err := r.join(0, true, false)
	if err != nil || !r.Beside(fourth.Pooled) {
		t.Fatal(err)
	}
	r.Remove(fourth.Pooled)
	fourth.Taint()
	if r.Beside(fourth.Pooled) || !r.Beside(other.Pooled) || !r.Holds(third.Pooled) {
		t.Error("what broke is read from, or another one is not")
	}
	r.Remove(third.Pooled)
	third.Taint()
	r.EndOthers(r.exec) // whose COMMIT breaks the other one, too
	if r.HasOthers() {
		t.Error("what broke is read from")
	}
	r.out(0, 0, 0)
}

// A server refuses to begin on a further node: the connection is closed, the transaction goes on.
func TestJoinIsRefused(t *testing.T) {
	r := newRig(t)
	if _, err := r.join(0, true, false); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.no[SQLBegin] = 1045
	r.mu.Unlock()
	_, err := r.join(1, true, false)
	if e := (*mysql.SQLError)(nil); !errors.As(err, &e) || e.Code != 1045 || r.HasOthers() {
		t.Errorf("refused: %v", err)
	}
	r.out(1, 0, 0)
	r.End(r.exec)
	r.out(0, 0, 0)
}

// broke reports whether an error says that a connection broke.
func broke(err error) bool {
	var c *mysql.ConnError
	return errors.As(err, &c)
}

// A session that ends rolls its transaction back, or has its connection reset where it has state.
func TestEnd(t *testing.T) {
	for _, test := range []struct {
		pins   Pins
		open   bool
		resets bool
	}{{0, true, false}, {OfTransaction, false, false}, {1 << PinTempTable, false, true}, {1<<PinXA | OfTransaction, true, true}} {
		r := newRig(t)
		p := r.get(0)
		if test.open {
			if err := p.Conn.Exec("START TRANSACTION"); err != nil {
				t.Fatal(err)
			}
		}
		r.Pins = test.pins
		if !r.release(p) {
			t.Fatal("it does not stay")
		}
		key := p.Key
		r.End(r.exec)
		if r.Holding() || r.Pins != 0 || r.LastOnHeld || (p.Key != key) != test.resets {
			t.Errorf("%v: pins %v, reset %v", test.pins, r.Pins, p.Key != key)
		}
		r.out(0, 0, 0)
		if again := r.get(0); again.Conn.Status.Has(mysql.ServerStatusInTrans) {
			t.Errorf("%v: a transaction is left to the next session", test.pins)
		} else {
			again.Put()
		}
	}
}
