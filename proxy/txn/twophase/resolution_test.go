package twophase

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// told is what an operator has decided of a transaction with branches on the nodes 2 and 3, whose anchor is node 1, and what the nodes answer: script
// has "anchor" for the anchor's row and errors, and the code of the error, by Do and node.
type told struct {
	commit, force, old bool
	anchor             []Answer // one behind the other
	branches           map[string]Answer
}

// resolve returns what was asked for, in order, and what came of it.
func (c told) resolve(t *testing.T) (asked, outcome string) {
	t.Helper()
	key := Secret("k")
	g := GTRID{Anchor: 1, Proxy: 9, Start: 1000, Sequence: 1}
	wall := int64(1000)
	if c.old {
		wall += int64(DefaultTiming().Retention/time.Second) + 1
	}
	o := NewResolution(g, c.commit, c.force, DefaultTiming(), wall)
	for n := NodeID(2); n <= 3; n++ {
		list := []Prepared{{FormatID: 1, GTRIDLength: gtridLen, BQUALLength: nodeLen, Data: g.String() + n.String()}}
		list = append(list, Prepared{FormatID: 1, GTRIDLength: gtridLen, BQUALLength: nodeLen, Data: GTRID{Anchor: 1, Sequence: 2}.String() + n.String()})
		if !o.Listed(n, list) || o.Listed(n, list[1:]) {
			t.Errorf("node %d has the branch", n)
		}
	}
	var all []string
	anchor := c.anchor
	for todo := o.Begin(key); len(todo) > 0; todo = todo[1:] {
		a := todo[0]
		all = append(all, brief(todo[:1]))
		if a.Do == DoReport {
			continue
		}
		answer := Answer{Result: OK}
		if a.Node == 1 {
			answer, anchor = anchor[0], anchor[1:]
		} else if given, is := c.branches[brief(todo[:1])]; is {
			answer = given
			delete(c.branches, brief(todo[:1]))
		} else if a.Do == DoPeek {
			row := key.sign(Row{Key: a.Row.Key, State: BranchRow, Parts: "00000001,00000002,00000003", Conns: "00000001=s:7," + a.Node.String() + "=u:8"})
			answer.Row = &row
		}
		if answer.Code != 0 {
			answer.Result = Rejected
		}
		if a.Do == DoFence && (a.Row.Conns != "00000001=s:7" || !key.Genuine(a.Row)) {
			t.Errorf("the fence is %+v", a.Row)
		}
		answer.Do, answer.Node, answer.Key = a.Do, a.Node, a.Row.Key
		todo = append(todo[:1:1], append(todo[1:], o.Answered(answer)...)...)
	}
	if refusal, _ := o.Refused(); refusal != 0 {
		return strings.Join(all, ", "), refusal.String()
	}
	var ends []string
	for _, b := range o.Branches() {
		ends = append(ends, fmt.Sprintf("%d %s", b.Node, b))
	}
	return strings.Join(all, ", "), strings.Join(ends, ", ")
}

func TestResolution(t *testing.T) {
	key := Secret("k")
	g := GTRID{Anchor: 1, Proxy: 9, Start: 1000, Sequence: 1}
	row := func(state State) Answer {
		r := key.sign(Row{Key: g.String(), State: state, Parts: "00000001,00000002,00000003"})
		return Answer{Result: OK, Row: &r}
	}
	branchRow := key.sign(Row{Key: g.BranchKey(2), State: BranchRow})
	lost, none := Answer{Result: NoAnswer}, Answer{Result: OK}
	const peeks = "peek 2, peek 3, read 1"
	const commits, rollbacks = ", commit branch 2, commit branch 3", ", rollback branch 2, rollback branch 3"
	const committed, rolledBack = "2 committed, 3 committed", "2 rolled back, 3 rolled back"
	for name, c := range map[string]struct {
		told
		asked, outcome string
	}{
		"lost anchor, commit":                {told{commit: true, anchor: []Answer{lost}}, peeks + commits, committed},
		"lost anchor, rollback":              {told{anchor: []Answer{lost}}, peeks + rollbacks, rolledBack},
		"decided so":                         {told{commit: true, anchor: []Answer{row(Committed)}}, peeks + commits, committed},
		"done":                               {told{commit: true, anchor: []Answer{row(Done)}}, peeks + commits, committed},
		"decided otherwise":                  {told{anchor: []Answer{row(Committed)}}, peeks, RefusedOtherwise.String()},
		"aborted":                            {told{commit: true, anchor: []Answer{row(Aborted)}}, peeks, RefusedOtherwise.String()},
		"decided otherwise, forced":          {told{force: true, anchor: []Answer{row(Committed)}}, peeks + rollbacks, rolledBack},
		"undecided":                          {told{anchor: []Answer{none}}, peeks, RefusedUndecided.String()},
		"undecided, forced":                  {told{force: true, anchor: []Answer{none, none}}, peeks + ", fence 1" + rollbacks, rolledBack},
		"undecided, forced to commit":        {told{commit: true, force: true, anchor: []Answer{none}}, peeks + commits, committed},
		"decided ahead of the fence":         {told{force: true, anchor: []Answer{none, {Code: errDuplicate}, row(Committed)}}, peeks + ", fence 1, read 1", RefusedMeanwhile.String()},
		"fenced by another":                  {told{force: true, anchor: []Answer{none, {Code: errDuplicate}, row(Aborted)}}, peeks + ", fence 1, read 1" + rollbacks, rolledBack},
		"the fence is not answered":          {told{force: true, anchor: []Answer{none, lost}}, peeks + ", fence 1", RefusedUnread.String()},
		"the fence waits for a decision":     {told{force: true, anchor: []Answer{none, {Code: errLockWait}}}, peeks + ", fence 1", RefusedUnread.String()},
		"what was in the way is not read":    {told{force: true, anchor: []Answer{none, {Code: errDuplicate}, lost}}, peeks + ", fence 1, read 1", RefusedUnread.String()},
		"old, commit":                        {told{commit: true, old: true, anchor: []Answer{none}}, peeks + commits, committed},
		"old, rollback":                      {told{old: true, anchor: []Answer{none, none}}, peeks + ", fence 1" + rollbacks, rolledBack},
		"old, decided":                       {told{old: true, anchor: []Answer{row(Committed)}}, peeks, RefusedOtherwise.String()},
		"the anchor's row cannot be read":    {told{anchor: []Answer{{Code: 1146}}}, peeks, RefusedUnread.String()},
		"it cannot be read, and it is force": {told{force: true, anchor: []Answer{{Code: 1146}}}, peeks + rollbacks, rolledBack},
		"a resolver was first": {told{commit: true, anchor: []Answer{lost}, branches: map[string]Answer{"commit branch 2": {Code: errUnknownXID}, "read locked 2": {Result: OK, Row: &branchRow}}},
			peeks + commits + ", read locked 2", committed},
		"somebody has ended it otherwise": {told{commit: true, anchor: []Answer{lost}, branches: map[string]Answer{"commit branch 2": {Code: errUnknownXID}}},
			peeks + commits + ", read locked 2", "2 gone: somebody else has ended it otherwise, 3 committed"},
		"it was committed against the operator": {told{anchor: []Answer{lost}, branches: map[string]Answer{"rollback branch 2": {Code: errUnknownXID}, "read locked 2": {Result: OK, Row: &branchRow}}},
			peeks + rollbacks + ", read locked 2, report", "2 gone: somebody else has ended it otherwise, 3 rolled back"},
		"a connection holds it": {told{anchor: []Answer{lost}, branches: map[string]Answer{"rollback branch 2": {Code: errUnknownXID}, "read locked 2": {Code: errLockWait}}},
			peeks + rollbacks + ", read locked 2, kill 2, rollback branch 2", rolledBack},
		"a node is gone": {told{anchor: []Answer{lost}, branches: map[string]Answer{"rollback branch 3": lost}}, peeks + rollbacks, "2 rolled back, 3 no answer"},
		"an error":       {told{commit: true, anchor: []Answer{lost}, branches: map[string]Answer{"commit branch 3": {Code: 1402}}}, peeks + commits, "2 committed, 3 error 1402"},
	} {
		t.Run(name, func(t *testing.T) {
			if asked, outcome := c.resolve(t); asked != c.asked || outcome != c.outcome {
				t.Errorf("asked for %q: %q\nwant %q: %q", asked, outcome, c.asked, c.outcome)
			}
		})
	}
	o := NewResolution(g, true, true, DefaultTiming(), 1000)
	o.Listed(2, nil)
	if todo := o.Begin(key); len(todo) != 0 {
		t.Errorf("asks for %q", brief(todo))
	}
	if refusal, _ := o.Refused(); refusal != RefusedNothing {
		t.Errorf("%v", refusal)
	}
}

// What a resolver waits for is told, until the branch is ended.
func TestDoubts(t *testing.T) {
	d := newDoubt(t)
	expect := func(second int, want string) {
		t.Helper()
		got := ""
		for _, one := range d.r.Doubts(time.Duration(second) * time.Second) {
			got += fmt.Sprint(one.XID.Node, " ", one.Seen, " ", one.Waits)
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	d.list(1, 0)
	expect(1, fmt.Sprint("00000002 1s ", WaitCoordinator))
	d.list(1, 4)
	d.answer(Answer{Do: DoPeek, Node: 2, Result: NoAnswer})
	expect(4, fmt.Sprint("00000002 4s ", WaitBranch))
	d.list(1, 6)
	d.answer(Answer{Do: DoPeek, Node: 2, Row: d.row(BranchRow, d.x.BranchKey(2))})
	d.answer(Answer{Do: DoFence, Node: 1, Result: NoAnswer})
	expect(6, fmt.Sprint("00000002 6s ", WaitAnchor))
	d.list(1, 8)
	d.answer(Answer{Do: DoPeek, Node: 2})
	d.answer(Answer{Do: DoFence, Node: 1})
	d.answer(Answer{Do: DoRollbackBranch, Node: 2, Code: 1397})
	d.answer(Answer{Do: DoReadLocked, Node: 2, Code: 1205})
	expect(8, fmt.Sprint("00000002 8s ", WaitHolder))
	d.list(1, 10)
	d.answer(Answer{Do: DoPeek, Node: 2})
	d.answer(Answer{Do: DoFence, Node: 1})
	d.answer(Answer{Do: DoRollbackBranch, Node: 2})
	expect(10, "")
	d = newDoubt(t)
	d.list(1, 4000)
	d.list(1, 4005)
	d.answer(Answer{Do: DoPeek, Node: 2})
	d.answer(Answer{Do: DoRead, Node: 1})
	expect(4005, fmt.Sprint("00000002 5s ", WaitOperator))
}
