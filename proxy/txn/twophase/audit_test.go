package twophase

import (
	"testing"
	"time"
)

func TestAuditor(t *testing.T) {
	key := Secret("k")
	g := GTRID{Anchor: 1, Sequence: 1}
	row := func(state State) []Row {
		return []Row{key.sign(Row{Key: g.String(), State: state, Parts: "00000001,00000002,00000003", Conns: "00000001=s:7"})}
	}
	branch := key.sign(Row{Key: g.BranchKey(2), State: BranchRow})
	u := NewAuditor(DefaultTiming(), key)
	list := func(state State, second int) []Action {
		return u.Listed(1, row(state), true, time.Duration(second)*time.Second)
	}
	answer := func(a Answer, second int) []Action {
		if a.Result == 0 {
			a.Result = OK
		}
		return u.Answered(g, a, time.Duration(second)*time.Second)
	}
	expect := func(got []Action, want string) {
		t.Helper()
		if b := brief(got); b != want {
			t.Errorf("asks for %q, want %q", b, want)
		}
	}
	expect(list(Committed, 0), "")
	expect(list(Committed, 11), "read locked 2, read locked 3")
	answer(Answer{Do: DoReadLocked, Node: 2, Row: &branch}, 11)
	expect(answer(Answer{Do: DoReadLocked, Node: 3, Result: Rejected, Code: 1205}, 11), "") // it is prepared
	expect(list(Committed, 14), "read locked 2, read locked 3")
	answer(Answer{Do: DoReadLocked, Node: 2, Row: &branch}, 14)
	expect(answer(Answer{Do: DoReadLocked, Node: 3, Row: &branch}, 14), "")
	expect(list(Committed, 17), "") // they rest
	expect(list(Committed, 25), "mark 1")
	expect(answer(Answer{Do: DoMark, Node: 1}, 25), "")
	expect(list(Done, 28), "delete 2, delete 3")
	answer(Answer{Do: DoDelete, Node: 2}, 28)
	expect(answer(Answer{Do: DoDelete, Node: 3, Result: NoAnswer}, 28), "")
	expect(list(Done, 31), "delete 2, delete 3")
	answer(Answer{Do: DoDelete, Node: 2}, 31)
	expect(answer(Answer{Do: DoDelete, Node: 3}, 31), "finish 1")
	expect(answer(Answer{Do: DoFinish, Node: 1}, 31), "")
	u.Listed(1, nil, true, 34*time.Second)
	if len(u.rows) != 0 {
		t.Errorf("%d rows are remembered", len(u.rows))
	}

	// A branch's row that is missing is looked for twice, as another auditor may have deleted it.
	list(Committed, 100)
	list(Committed, 111)
	answer(Answer{Do: DoReadLocked, Node: 2}, 111)
	expect(answer(Answer{Do: DoReadLocked, Node: 3, Row: &branch}, 111), "read 1")
	done := row(Done)[0]
	expect(answer(Answer{Do: DoRead, Node: 1, Row: &done}, 111), "")
	list(Committed, 114)
	answer(Answer{Do: DoReadLocked, Node: 2}, 114)
	answer(Answer{Do: DoReadLocked, Node: 3, Row: &branch}, 114)
	committed := row(Committed)[0]
	lost := answer(Answer{Do: DoRead, Node: 1, Row: &committed}, 114)
	if expect(lost, "report"); lost[0].Incident != (Incident{Kind: IncidentLost, XID: XID{g, 2}}) {
		t.Errorf("%+v", lost[0].Incident)
	}
	expect(list(Committed, 200), "")

	// Aborted is needed while the anchor's connection lives.
	u = NewAuditor(DefaultTiming(), key)
	list(Aborted, 0)
	expect(list(Aborted, 500), "")
	find := list(Aborted, 601)
	if expect(find, "find 1"); find[0].Holder != "s:7" {
		t.Errorf("%s is looked for", find[0].Holder)
	}
	expect(answer(Answer{Do: DoFind, Node: 1, Found: true}, 601), "")
	expect(list(Aborted, 604), "")
	expect(list(Aborted, 1300), "find 1")
	expect(answer(Answer{Do: DoFind, Node: 1}, 1300), "delete 1")

	u = NewAuditor(DefaultTiming(), key)
	forged := []Row{{Key: g.String(), State: Committed, Parts: "00000001,00000002", MAC: "x"}}
	expect(u.Listed(1, forged, true, 0), "report")
	expect(u.Listed(1, forged, true, time.Hour), "")
}

func TestTiming(t *testing.T) {
	if err := DefaultTiming().Validate(); err != nil {
		t.Error(err)
	}
	for k, change := range []func(*Timing){
		func(x *Timing) { x.DecideAnswer = x.Decide }, func(x *Timing) { x.Decide = 2 * x.Settle }, func(x *Timing) { x.Spread = x.Settle },
		func(x *Timing) { x.FenceKeep = x.Decide }, func(x *Timing) { x.Retention = 0 },
	} {
		timing := DefaultTiming()
		change(&timing)
		if timing.Validate() == nil {
			t.Errorf("change %d was taken", k)
		}
	}
}
