package twophase

import (
	"fmt"
	"strings"
	"testing"
)

// script is a transaction of the nodes 1, 2 and so on, of which those with a capital letter (A is 1) have been changed, and what its coordinator
// asks for.
type script struct {
	t *testing.T
	c *Coordinator
}

func newScript(t *testing.T, nodes string, strict bool) *script {
	var tx *Transaction
	for k, c := range nodes {
		n := NodeID(k + 1)
		if k == 0 {
			tx = Begin(GTRID{Anchor: n, Sequence: 1}, "s:1")
		} else {
			tx.Enlist(Branch{Node: n, Holder: Holder(fmt.Sprint("s:", n))})
		}
		if c < 'a' {
			tx.Change(n)
		}
	}
	return &script{t, NewCoordinator(tx, DefaultTiming(), Secret("k"), strict)}
}

func brief(list []Action) string {
	var words []string
	for _, a := range list {
		switch a.Do {
		case DoTimer:
		case DoReport:
			words = append(words, "report")
		default:
			words = append(words, fmt.Sprint(a.Do, " ", int(a.Node)))
		}
	}
	return strings.Join(words, ", ")
}

// expect compares what is asked for.
func (s *script) expect(got []Action, want string) {
	s.t.Helper()
	if b := brief(got); b != want {
		s.t.Errorf("asks for %q, want %q", b, want)
	}
}

func (s *script) ok(do Do, n NodeID) []Action {
	return s.c.Answered(Answer{Do: do, Node: n, Result: OK})
}

func (s *script) no(do Do, n NodeID, code uint16) []Action {
	return s.c.Answered(Answer{Do: do, Node: n, Result: Rejected, Code: code})
}

func (s *script) none(do Do, n NodeID) []Action {
	return s.c.Answered(Answer{Do: do, Node: n, Result: NoAnswer})
}

// ends checks the outcome.
func (s *script) ends(want string) {
	s.t.Helper()
	o, ok := s.c.Outcome()
	got := "nothing"
	if ok {
		got = [...]string{"", "commit", "rollback", "unknown"}[o.End]
		if o.Background > 0 {
			got += fmt.Sprint(" but ", o.Background)
		}
		if o.End != Commit {
			got += ": " + o.Cause.String()
		}
	}
	if got != want {
		s.t.Errorf("the client hears %q, want %q", got, want)
	}
}

// One node that was changed needs no decision.
func TestOnePhase(t *testing.T) {
	s := newScript(t, "Abc", false)
	s.expect(s.c.Commit(), "commit 1, one phase 2, one phase 3")
	s.expect(s.ok(DoOnePhase, 2), "release 2")
	s.expect(s.ok(DoCommit, 1), "release 1")
	s.ends("nothing") // the session may have a state on a connection that was only read from
	s.expect(s.no(DoOnePhase, 3, 1614), "close 3")
	if s.ends("commit"); !s.c.Over() {
		t.Error("it is not over")
	}

	s = newScript(t, "Ab", false)
	s.c.Commit()
	s.ok(DoCommit, 1)
	s.expect(s.c.Expired(TimerComplete), "")
	if s.ends("commit"); s.c.Over() {
		t.Error("nobody waits for node 2 any more")
	}
	s.expect(s.ok(DoOnePhase, 2), "release 2")

	s = newScript(t, "aB", false)
	s.expect(s.c.Commit(), "commit 1, one phase 2")
	s.expect(s.none(DoOnePhase, 2), "")
	s.expect(s.ok(DoCommit, 1), "release 1")
	s.ends("unknown: the connection to node 00000002 broke")

	s = newScript(t, "aB", true)
	s.expect(s.c.Commit(), "commit 1")
	s.expect(s.none(DoCommit, 1), "rollback branch 2")
	s.expect(s.ok(DoRollbackBranch, 2), "release 2")
	s.ends("rollback: the connection to node 00000001 broke")

	s = newScript(t, "aB", true)
	s.c.Commit()
	s.expect(s.ok(DoCommit, 1), "release 1, one phase 2")
	s.expect(s.no(DoOnePhase, 2, 1614), "rollback branch 2")
	s.expect(s.no(DoRollbackBranch, 2, 1397), "release 2")
	s.ends("rollback: node 00000002 answered with error 1614")
}

func TestTwoPhases(t *testing.T) {
	s := newScript(t, "aBcD", false)
	s.expect(s.c.Commit(), "clock 1, prepare 2, one phase 3, prepare 4")
	s.expect(s.ok(DoPrepare, 2), "")
	s.expect(s.ok(DoOnePhase, 3), "release 3")
	s.expect(s.c.Answered(Answer{Do: DoClock, Node: 1, Result: OK, Text: "then"}), "")
	decide := s.ok(DoPrepare, 4)
	s.expect(decide, "decide 1")
	if decide[0].Deadline != "then" || decide[0].Row.Parts != "00000001,00000002,00000004" || !Secret("k").Genuine(decide[0].Row) {
		t.Errorf("the decision is %+v", decide[0])
	}
	s.ends("nothing")
	s.expect(s.ok(DoDecide, 1), "release 1, commit branch 2, commit branch 4")
	s.expect(s.ok(DoCommitBranch, 2), "release 2")
	s.expect(s.no(DoCommitBranch, 4, 1397), "close 4, read locked 4")
	s.expect(s.c.Expired(TimerComplete), "")
	s.ends("commit but 1")
	row := Secret("k").sign(Row{Key: "x", State: BranchRow})
	s.expect(s.c.Answered(Answer{Do: DoReadLocked, Node: 4, Result: OK, Row: &row}), "")
	if !s.c.Over() {
		t.Error("it is not over")
	}
}

// What goes wrong, and what comes of it.
func TestDecisionFails(t *testing.T) {
	begin := func() *script {
		s := newScript(t, "AB", false)
		s.c.Commit()
		s.ok(DoClock, 1)
		s.expect(s.ok(DoPrepare, 2), "decide 1")
		return s
	}
	key := Secret("k")
	row := func(state State) *Row { r := key.sign(Row{Key: "k", State: state}); return &r }
	read := func(r *Row) Answer { return Answer{Do: DoRead, Node: 1, Result: OK, Row: r} }

	for code, reason := range map[uint16]string{1062: "it was rolled back by a resolver, as it took too long", 1048: "it took too long"} {
		s := begin()
		s.expect(s.no(DoDecide, 1, code), "rollback 1, rollback branch 2")
		s.ok(DoRollback, 1)
		s.ok(DoRollbackBranch, 2)
		s.ends("rollback: " + reason)
	}

	s := begin() // an error may be of the COMMIT
	s.expect(s.no(DoDecide, 1, 1180), "rollback 1")
	s.expect(s.ok(DoRollback, 1), "release 1, fence 1")
	s.expect(s.no(DoFence, 1, 1062), "read 1")
	s.expect(s.c.Answered(read(row(Committed))), "commit branch 2")

	s = begin()
	s.expect(s.none(DoDecide, 1), "fence 1")
	s.expect(s.ok(DoFence, 1), "rollback branch 2")
	s.ok(DoRollbackBranch, 2)
	s.ends("rollback: the connection to node 00000001 broke")

	s = begin()
	s.expect(s.c.Expired(TimerDecideAnswer), "close 1, fence 1")
	s.expect(s.no(DoFence, 1, 1205), "")
	s.expect(s.c.Expired(TimerRetry), "fence 1")
	s.expect(s.c.Expired(TimerRetry), "")
	s.expect(s.c.Expired(TimerDecide), "close 2")
	s.ends("unknown: node 00000001 did not answer in time")
	s.expect(s.ok(DoFence, 1), "")

	s = begin()
	s.none(DoDecide, 1)
	s.no(DoFence, 1, 1062)
	forged := Row{Key: "k", State: Committed, MAC: "x"}
	s.expect(s.c.Answered(read(&forged)), "report, rollback branch 2")

	s = begin()
	s.none(DoDecide, 1)
	s.no(DoFence, 1, 1062)
	s.expect(s.c.Answered(read(nil)), "")
	s.expect(s.c.Expired(TimerRetry), "fence 1")
}

func TestPrepareFails(t *testing.T) {
	s := newScript(t, "ABC", false)
	s.c.Commit()
	s.expect(s.no(DoPrepare, 2, 1114), "rollback branch 2")
	s.expect(s.c.Answered(Answer{Do: DoClock, Node: 1, Result: OK}), "rollback 1")
	s.expect(s.ok(DoPrepare, 3), "rollback branch 3")
	s.ok(DoRollbackBranch, 2)
	s.ok(DoRollback, 1)
	s.ends("nothing")
	s.expect(s.c.Expired(TimerComplete), "close 3")
	s.ends("rollback: node 00000002 answered with error 1114")

	s = newScript(t, "ABC", false)
	s.c.Commit()
	s.ok(DoClock, 1)
	s.ok(DoPrepare, 2)
	s.expect(s.c.Expired(TimerPrepare), "close 3, rollback 1, rollback branch 2")

	s = newScript(t, strings.Repeat("A", BranchesMax+1), false)
	s.c.Commit()
	if s.c.cause.Reason != TooMany {
		t.Errorf("%d nodes: %v", BranchesMax+1, s.c.cause)
	}
}

// An anchor whose time is known is not asked for it.
func TestKnownDeadline(t *testing.T) {
	tx := Begin(GTRID{Anchor: 1, Sequence: 1}, "s:1")
	tx.Enlist(Branch{Node: 2, Holder: "s:2"})
	tx.Change(1)
	tx.Change(2)
	tx.Deadline = "2026-11-26 11:00:00.000000"
	s := &script{t, NewCoordinator(tx, DefaultTiming(), Secret("k"), false)}
	s.expect(s.c.Commit(), "prepare 2")
	decide := s.ok(DoPrepare, 2)
	s.expect(decide, "decide 1")
	if decide[0].Deadline != tx.Deadline {
		t.Errorf("it is to be decided by %q", decide[0].Deadline)
	}
}

// A branch that stays with its connection is prepared behind its row: in one statement where the server takes one.
func TestPrepareHolding(t *testing.T) {
	tx := Begin(GTRID{Anchor: 1, Sequence: 1}, "s:1")
	tx.Enlist(Branch{Node: 2, Holder: "s:2"})
	tx.Enlist(Branch{Node: 3, Holder: "s:3", Holds: true})
	tx.Enlist(Branch{Node: 4, Holder: "s:4", Holds: true, Compounds: true})
	for n := range NodeID(4) {
		tx.Change(n + 1)
	}
	got := ""
	for _, a := range NewCoordinator(tx, DefaultTiming(), Secret("k"), false).Commit() {
		if a.Do == DoPrepare {
			got += fmt.Sprintf("%d: stepwise %t, compound %t, %d; ", a.Node, a.Stepwise, a.Compound, len(a.Statements()))
		}
	}
	if want := "2: stepwise false, compound false, 3; 3: stepwise true, compound false, 3; 4: stepwise false, compound true, 1; "; got != want {
		t.Error(got)
	}
}

// Behind an error that has rolled back a branch nothing is committed.
func TestDoomed(t *testing.T) {
	for code, dooms := range map[uint16]bool{1213: true, 1614: true, 1205: false, 1062: false, 1020: true} {
		tx := Begin(GTRID{Anchor: 1}, "s:1")
		tx.Enlist(Branch{Node: 2, Holder: "s:2"})
		tx.Change(2)
		tx.Failed(2, code)
		if _, doomed := tx.Doomed(); doomed != dooms {
			t.Errorf("%d: doomed %t", code, doomed)
		}
		c := NewCoordinator(tx, DefaultTiming(), Secret("k"), false)
		want := "commit 1, one phase 2"
		if dooms {
			want = "rollback 1, rollback branch 2"
		}
		if got := brief(c.Commit()); got != want {
			t.Errorf("%d: %s", code, got)
		}
	}
	tx := Begin(GTRID{Anchor: 1}, "s:1")
	if tx.BeginsWith(1) != "START TRANSACTION" || !strings.HasPrefix(tx.BeginsWith(2), "XA START 'ks1") {
		t.Errorf("it begins with %s and %s", tx.BeginsWith(1), tx.BeginsWith(2))
	}
}
