package txn

import (
	"testing"

	"kingshard/mysql"
)

// What becomes of BEGIN and SET TRANSACTION that a connection has been told.
func TestBegun(t *testing.T) {
	var set Characteristics
	set.access = 2
	none, unknown := Characteristics{}, Characteristics{Unknown: true}
	r := newRig(t)
	p := r.get(0)
	for _, test := range []struct {
		name               string
		begin              string
		next, current      Characteristics
		pinned, open       bool
		begins, autocommit bool
		wantNext, want     Characteristics
		wantPinned         bool
	}{
		{"SET TRANSACTION ahead of a statement", "", set, none, false, false, true, true, none, set, true},
		{"SET TRANSACTION and BEGIN", "BEGIN", set, none, false, false, true, true, none, set, false},
		{"SET TRANSACTION ahead of what begins none", "", set, none, false, false, false, true, set, none, false},
		{"BEGIN", "BEGIN", none, set, false, false, true, true, none, none, false},
		{"within the transaction", "", none, set, false, true, true, true, none, set, false},
		{"behind it", "", none, set, false, false, true, true, none, none, false},
		{"it may have been used up", "", none, set, true, false, true, true, none, unknown, true},
		{"autocommit off", "", none, set, true, false, true, false, none, set, true},
	} {
		r.Begin, r.Next, r.Current, r.Pins = test.begin, test.next, test.current, 0
		if test.pinned {
			r.Pins = 1 << PinNextTransaction
		}
		p.Conn.Status = 0
		if test.open {
			p.Conn.Status = mysql.ServerStatusInTrans
		}
		r.Begun(p, test.begins, test.autocommit)
		if r.Begin != "" || r.Next != test.wantNext || r.Current != test.want || r.Pins.Has(PinNextTransaction) != test.wantPinned {
			t.Errorf("%s: next %+v, current %+v, pins %v", test.name, r.Next, r.Current, r.Pins)
		}
	}
	if r.Next.access = 1; r.Next.IsSet() {
		r.Begin = SQLBegin
		if r.NextUsedUp(true); !r.Next.IsSet() {
			t.Error("used up though BEGIN comes first")
		}
		r.Begin = ""
		if r.NextUsedUp(false); !r.Next.IsSet() {
			t.Error("used up with autocommit off")
		}
		if r.NextUsedUp(true); r.Next.IsSet() {
			t.Error("not used up")
		}
	}
	p.Conn.Status = 0
	p.Put()
}

// What SET TRANSACTION said is over with a statement on a table, and is the session's again where its transaction ended unasked.
func TestCharacteristicsEnd(t *testing.T) {
	r := newRig(t)
	p := r.get(0)
	r.Pin(PinNextTransaction)
	r.Current.access = 2
	if r.UsesUpNext(p, false) || !r.UsesUpNext(p, true) || r.Pins != 0 || r.Current.IsSet() || r.UsesUpNext(p, true) {
		t.Error("a statement on a table uses it up, once")
	}
	r.Current.access = 2
	p.Conn.Status = mysql.ServerStatusInTrans
	if r.LeavesCurrent(p, false) {
		t.Error("left within the transaction")
	}
	p.Conn.Status = 0
	if !r.LeavesCurrent(p, false) || r.Next.access != 2 || r.Current.IsSet() {
		t.Error("not for the next one")
	}
	r.Current, r.Next = Characteristics{Unknown: true}, Characteristics{}
	if !r.LeavesCurrent(p, false) || r.Next.IsSet() {
		t.Error("what nobody knows is for the next one")
	}
	r.Pins = OfTransaction | 1<<PinXA
	p.Conn.Status = mysql.ServerStatusInTrans
	if r.Ended(p); r.Pins&OfTransaction == 0 {
		t.Error("ended though the server says it is open")
	}
	p.Conn.Status = 0
	if r.Ended(p); r.Pins != 1<<PinXA {
		t.Errorf("behind the end: %v", r.Pins)
	}
	r.Release(p, true, true, r.exec)
	p.Conn.XID = "'x'"
	if !r.OwnsXA("'x'") || r.OwnsXA("'y'") {
		t.Error("whose XA transaction it is")
	}
	r.End(r.exec)
	r.out(0, 0, 0)
}
