package twophase

import (
	"fmt"
	"testing"
	"time"
)

// doubt is a branch on node 2 whose anchor is node 1, began at second 1000, and was found prepared.
type doubt struct {
	t *testing.T
	r *Resolver
	x XID
}

func newDoubt(t *testing.T) *doubt {
	x := XID{GTRID{Anchor: 1, Proxy: 9, Start: 1000, Sequence: 1}, 2}
	return &doubt{t, NewResolver(DefaultTiming(), Secret("k")), x}
}

// list is what XA RECOVER says on node 2 at the second given.
func (d *doubt) list(formatID int64, second int) []Action {
	row := Prepared{FormatID: formatID, GTRIDLength: gtridLen, BQUALLength: nodeLen, Data: d.x.GTRID.String() + d.x.Node.String()}
	return d.r.Listed(2, []Prepared{row}, time.Duration(second)*time.Second, 1000+int64(second))
}

func (d *doubt) expect(got []Action, want string) {
	d.t.Helper()
	if b := brief(got); b != want {
		d.t.Errorf("asks for %q, want %q", b, want)
	}
}

func (d *doubt) answer(a Answer) []Action {
	if a.Result == 0 {
		a.Result = OK
		if a.Code != 0 {
			a.Result = Rejected
		}
	}
	return d.r.Answered(d.x, a)
}

func (d *doubt) row(state State, key string) *Row {
	row := Secret("k").sign(Row{Key: key, State: state, Parts: "00000001,00000002", Conns: "00000001=s:7,00000002=u:8"})
	return &row
}

// The next look is due when a branch that was found has waited for long enough, and none is when it has.
func TestResolverIsDue(t *testing.T) {
	d := newDoubt(t)
	due := func(second int) string {
		after, is := d.r.Due(time.Duration(second) * time.Second)
		return fmt.Sprint(after, is)
	}
	for _, step := range []struct {
		second int
		listed bool
		want   string
	}{{0, false, "0s false"}, {1, true, "3s true"}, {3, true, "1s true"}, {4, true, "0s false"}, {6, true, "0s false"}} {
		if step.listed {
			d.list(1, step.second)
		}
		if got := due(step.second); got != step.want {
			t.Errorf("after %d s: due in %s, want %s", step.second, got, step.want)
		}
	}
	gone := newDoubt(t)
	gone.list(1, 0)
	gone.r.Listed(2, nil, time.Second, 1001)
	if _, is := gone.r.Due(time.Second); is {
		t.Error("a branch that is not listed any more is due")
	}
}

func TestResolver(t *testing.T) {
	d := newDoubt(t)
	own := d.row(BranchRow, d.x.BranchKey(2))
	d.expect(d.list(1, 0), "")
	d.expect(d.list(1, 2), "")
	d.expect(d.list(1, 4), "peek 2")
	d.expect(d.list(1, 5), "") // it is under way
	fence := d.answer(Answer{Do: DoPeek, Node: 2, Row: own})
	d.expect(fence, "fence 1")
	if row := fence[0].Row; row.State != Aborted || row.Conns != "00000001=s:7" || !Secret("k").Genuine(row) {
		t.Errorf("the fence is %+v", row)
	}
	d.expect(d.answer(Answer{Do: DoFence, Node: 1, Code: 1062}), "read 1")
	d.expect(d.answer(Answer{Do: DoRead, Node: 1, Row: d.row(Committed, d.x.GTRID.String())}), "commit branch 2")
	d.expect(d.answer(Answer{Do: DoCommitBranch, Node: 2, Code: 1397}), "read locked 2")
	kill := d.answer(Answer{Do: DoReadLocked, Node: 2, Code: 1205})
	d.expect(kill, "kill 2")
	if kill[0].Holder != "u:8" {
		t.Errorf("%s is killed", kill[0].Holder)
	}
	d.expect(d.answer(Answer{Do: DoKill, Node: 2}), "commit branch 2")
	d.expect(d.answer(Answer{Do: DoCommitBranch, Node: 2}), "")
	if n, _ := d.r.InDoubt(6 * time.Second); n != 1 {
		t.Errorf("%d in doubt", n)
	}
	d.r.Listed(2, nil, 7*time.Second, 1007)
	if n, _ := d.r.InDoubt(7 * time.Second); n != 0 {
		t.Errorf("%d in doubt", n)
	}
}

// An answer that says neither yes nor no decides nothing.
func TestResolverNeverGuesses(t *testing.T) {
	d := newDoubt(t)
	d.list(1, 0)
	own := Answer{Do: DoPeek, Node: 2, Row: d.row(BranchRow, d.x.BranchKey(2))}
	for second, answers := range [][]Answer{
		{{Do: DoPeek, Node: 2, Result: NoAnswer}},
		{own, {Do: DoFence, Node: 1, Result: NoAnswer}},
		{own, {Do: DoFence, Node: 1, Code: 1205}},
		{own, {Do: DoFence, Node: 1, Code: 1062}, {Do: DoRead, Node: 1, Result: NoAnswer}},
		{own, {Do: DoFence, Node: 1, Code: 1062}, {Do: DoRead, Node: 1}},
		{own, {Do: DoFence, Node: 1}, {Do: DoRollbackBranch, Node: 2, Code: 1205}},
		{own, {Do: DoFence, Node: 1}, {Do: DoRollbackBranch, Node: 2, Code: 1397}, {Do: DoReadLocked, Node: 2}},
	} {
		d.expect(d.list(1, 10+second), "peek 2")
		for k, a := range answers {
			if list := d.answer(a); k == len(answers)-1 {
				d.expect(list, "")
			}
		}
	}
}

func TestResolverIncidents(t *testing.T) {
	d := newDoubt(t)
	d.expect(d.list(7, 0), "report")
	d.expect(d.list(7, 1), "")

	d = newDoubt(t)
	d.list(1, 4000)
	d.expect(d.list(1, 4005), "peek 2")
	d.expect(d.answer(Answer{Do: DoPeek, Node: 2}), "read 1") // it is too old for a fence
	old := d.answer(Answer{Do: DoRead, Node: 1})
	if d.expect(old, "report"); old[0].Incident.Kind != IncidentOld {
		t.Errorf("%v", old[0].Incident.Kind)
	}
	d.list(1, 4010)
	d.answer(Answer{Do: DoPeek, Node: 2})
	d.expect(d.answer(Answer{Do: DoRead, Node: 1}), "")

	d = newDoubt(t)
	d.list(1, 0)
	d.list(1, 5)
	d.answer(Answer{Do: DoPeek, Node: 2})
	d.answer(Answer{Do: DoFence, Node: 1, Code: 1062})
	d.expect(d.answer(Answer{Do: DoRead, Node: 1, Row: &Row{Key: d.x.GTRID.String(), State: Committed, MAC: "x"}}), "rollback branch 2, report")
	d.answer(Answer{Do: DoRollbackBranch, Node: 2, Code: 1397})
	half := d.answer(Answer{Do: DoReadLocked, Node: 2, Row: d.row(BranchRow, d.x.BranchKey(2))})
	if d.expect(half, "report"); half[0].Incident.Kind != IncidentHalf {
		t.Errorf("%v", half[0].Incident.Kind)
	}
}
