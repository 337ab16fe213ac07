package driver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/proxy/txn/twophase"
)

// What is changed on several nodes is on all of them or on none, whatever happens to a connection at any action, and who asks hears so; another process
// ends what was left.
func TestCommit(t *testing.T) {
	const clock, insert, prepare, decide, commit = "UTC_TIMESTAMP(6) + INTERVAL", "ks_meta.ks_branch", "XA PREPARE", "ks_meta.ks_decide", "XA COMMIT"
	kept, not, unknown := twophase.Commit, twophase.Rollback, twophase.Unknown
	for _, c := range []struct {
		node, at string
		fault    fault
		then     bool // the node is out of reach from then on, until the client has heard
		end      twophase.End
		reason   twophase.Reason
		later    int  // branches that are committed behind the answer
		keeps    bool // that all nodes have the change at the end
	}{
		{"", "", 0, false, kept, 0, 0, true},
		{"a", clock, cutBefore, false, not, twophase.Vanished, 0, false},
		{"a", clock, cutAfter, true, not, twophase.Vanished, 0, false},
		{"a", clock, silence, false, not, twophase.TimedOut, 0, false},
		{"b", insert, cutBefore, false, not, twophase.Vanished, 0, false},
		{"b", insert, cutAfter, false, not, twophase.Vanished, 0, false},
		{"b", insert, silence, false, not, twophase.TimedOut, 0, false},
		{"c", prepare, cutBefore, false, not, twophase.Vanished, 0, false},
		{"c", prepare, cutAfter, true, not, twophase.Vanished, 0, false},
		{"c", prepare, silence, false, not, twophase.TimedOut, 0, false},
		{"a", decide, cutBefore, false, not, twophase.Vanished, 0, false},
		{"a", decide, cutAfter, false, kept, 0, 0, true},
		{"a", decide, silence, false, kept, 0, 0, true},
		{"a", decide, cutBefore, true, unknown, twophase.Vanished, 0, false},
		{"a", decide, cutAfter, true, unknown, twophase.Vanished, 0, true},
		{"b", commit, cutBefore, false, kept, 0, 1, true},
		{"b", commit, cutAfter, true, kept, 0, 1, true},
		{"b", commit, silence, false, kept, 0, 1, true},
	} {
		t.Run(fmt.Sprintf("%s %s %d %v", c.node, c.at, c.fault, c.then), func(t *testing.T) {
			onServers(t, func(t *testing.T, r *rig) {
				x, loans := r.begin("a", "b", "c")
				if c.at != "" {
					r.relays[c.node].at(c.at, c.fault, c.then)
				}
				o := r.commit(x, loans)
				if o.End != c.end || o.Cause.Reason != c.reason || o.Background != c.later {
					t.Errorf("%+v", o)
				}
				if c.at != "" {
					r.relays[c.node].reach(true)
				}
				r.settle()
				values, rows := "0 0 0", ""
				if c.keeps {
					values, rows = "1 1 1", "C1, B2"
				}
				if got := r.values(); got != values {
					t.Errorf("the nodes have %s, not %s", got, values)
				}
				if got := r.rows(x.GTRID()); c.keeps && got != rows || !c.keeps && strings.ContainsAny(got, "BCD") {
					t.Errorf("the rows are %q", got)
				}
				if list := append(r.driver.Ongoing(), r.other.Ongoing()...); len(list) > 0 {
					t.Errorf("%+v goes on", list)
				}
				if list := append(r.driver.Incidents.List(), r.other.Incidents.List()...); len(list) > 0 {
					t.Errorf("%+v", list)
				}
				if x, loans := r.begin("a", "b"); r.commit(x, loans).End != twophase.Commit { // all goes on
					t.Error("the next one is not committed")
				}
				r.settle()
			})
		})
	}
}

// A branch that is refused rolls all back, and says whose error it was; the connections are the caller's again.
func TestRefused(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		x, loans := r.begin("a", "b", "c")
		g, _ := twophase.ParseGTRID(x.GTRID())
		b := twophase.NodeIDOf("b")
		r.must("INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('" + g.BranchKey(b) + "', 'B', '', '', '')")
		if o := r.commit(x, loans); o.End != twophase.Rollback || o.Cause != (twophase.Cause{Reason: twophase.Refused, Node: b, Code: 1062}) {
			t.Errorf("%+v", o)
		}
		for _, p := range loans {
			if !x.Usable(p) {
				t.Errorf("the connection to %s is lost", p.Instance.Node)
			}
		}
		if got := r.values(); got != "0 0 0" {
			t.Error(got)
		}
		r.settle()
	})
}

// A transaction that takes too long is decided by another process, and hears so.
func TestFenced(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		x, loans := r.begin("a", "b")
		g, _ := twophase.ParseGTRID(x.GTRID())
		r.must("INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('" + g.String() + "', 'A', '', '', '')")
		if o := r.commit(x, loans); o.End != twophase.Rollback || o.Cause.Reason != twophase.Fenced {
			t.Errorf("%+v", o)
		}
		r.settle()
		x, loans = r.begin("a", "b")
		r.driver.timing.Deadline = -time.Second // the anchor's clock says that it is too late
		if o := r.commit(x, loans); o.End != twophase.Rollback || o.Cause.Reason != twophase.Late {
			t.Errorf("%+v", o)
		}
		if got := r.values(); got != "0 0 0" {
			t.Error(got)
		}
		r.settle()
	})
}

// What is being committed is listed with its nodes and how far it is, and how long it takes is counted by phase.
func TestOngoing(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		x, loans := r.begin("a", "c")
		r.relays["a"].at("ks_meta.ks_decide", silence, false)
		done := make(chan twophase.Outcome)
		go func() { done <- r.commit(x, loans) }()
		seen := false
		for o := (twophase.Outcome{}); o.End == 0; {
			select {
			case o = <-done:
			case <-time.After(time.Millisecond):
				for _, one := range r.driver.Ongoing() {
					if one.Phase == "deciding" {
						seen = true
						if one.GTRID != x.GTRID() || strings.Join(one.Nodes, " ") != "a c" || len(one.Connections) != 2 || r.driver.Stats().Ongoing != 1 {
							t.Errorf("%+v", one)
						}
					}
				}
			}
		}
		r.settle()
		if s := r.driver.Stats(); !seen || s.Ongoing != 0 || s.Phases["deciding"] < 500*time.Millisecond || s.Phases["preparing"] == 0 || s.Phases["deciding"] > time.Minute {
			t.Errorf("seen: %v, %+v", seen, s)
		}
	})
}

// Where one answer is all that is to come, as between two nodes, it is waited for no longer either.
func TestCommitOfTwo(t *testing.T) {
	for _, c := range []struct {
		node, at string
		fault    fault
		end      twophase.End
		reason   twophase.Reason
		later    int
	}{
		{"b", "XA PREPARE", silence, twophase.Rollback, twophase.TimedOut, 0},
		{"b", "XA PREPARE", cutAfter, twophase.Rollback, twophase.Vanished, 0},
		{"a", "ks_meta.ks_decide", silence, twophase.Commit, 0, 0},
		{"a", "ks_meta.ks_decide", cutBefore, twophase.Rollback, twophase.Vanished, 0},
		{"b", "XA COMMIT", silence, twophase.Commit, 0, 1},
		{"b", "XA COMMIT", cutAfter, twophase.Commit, 0, 1},
	} {
		t.Run(fmt.Sprintf("%s %s %d", c.node, c.at, c.fault), func(t *testing.T) {
			onServers(t, func(t *testing.T, r *rig) {
				x, loans := r.begin("a", "b")
				r.commit(x, loans)
				x, loans = r.begin("a", "b")
				r.relays[c.node].at(c.at, c.fault, false)
				began := time.Now()
				if o := r.commit(x, loans); o.End != c.end || o.Cause.Reason != c.reason || o.Background != c.later {
					t.Errorf("%+v", o)
				}
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("it took %v", took)
				}
				r.settle()
				want := "1 1 0"
				if c.end == twophase.Commit {
					want = "2 2 0"
				}
				if got := r.values(); got != want {
					t.Errorf("the nodes have %s, not %s", got, want)
				}
			})
		})
	}
}
