package driver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/proxy/txn/twophase"
)

// prepare leaves branches of a transaction over all nodes prepared on b and c, with the anchor out of reach, which has committed it or not.
func (r *rig) prepare(committed bool) (gtrid string) {
	r.t.Helper()
	x, loans := r.begin("a", "b", "c")
	f := cutBefore
	if committed {
		f = cutAfter
	}
	r.relays["a"].at("ks_meta.ks_decide", f, true)
	if o := r.commit(x, loans); o.End != twophase.Unknown {
		r.t.Fatalf("%+v", o)
	}
	r.driver.Wait()
	if n := len(r.must("XA RECOVER")); n != 2 {
		r.t.Fatalf("%d branches are prepared", n)
	}
	return x.GTRID()
}

// An operator ends the branches of a transaction whose anchor is lost, the same on all nodes, in a process that has never reached it.
func TestResolveWithoutAnchor(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		for _, commit := range []bool{true, false} {
			gtrid := r.prepare(false)
			d := r.process()
			looking := newResolving(d)
			looking.look(nil)
			looking.close()
			if list := d.InDoubt(); len(list) != 2 || list[0].GTRID != gtrid || !strings.Contains(list[0].WaitsFor, "node a") || d.Stats().InDoubt != 2 {
				t.Errorf("in doubt: %+v", list)
			}
			got, err := d.Resolve(Resolve{GTRID: gtrid, Commit: commit})
			want := "[{a no answer: whether it has a branch is not known} {b rolled back} {c rolled back}]"
			values := "0 1 1" // of the first one
			if commit {
				want = strings.ReplaceAll(want, "rolled back", "committed")
			}
			if err != nil || fmt.Sprint(got) != want || r.values() != values || len(r.must("XA RECOVER")) > 0 {
				t.Errorf("%v, %v; the nodes have %s", got, err, r.values())
			}
			if s := d.Stats(); s.OperatorCommits+s.OperatorRollbacks != 2 || (s.OperatorCommits == 2) != commit {
				t.Errorf("%+v", s)
			}
			r.relays["a"].reach(true)
		}
	})
}

// What the anchor says goes ahead of what an operator says, unless it is by force.
func TestResolveRefused(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		gtrid := r.prepare(true)
		r.relays["a"].reach(true)
		refused := func(o Resolve, reason string) {
			t.Helper()
			if got, err := r.other.Resolve(o); err == nil || !strings.Contains(err.Error(), reason) || len(r.must("XA RECOVER")) != 2 {
				t.Errorf("%s: %v, %v", o, got, err)
			}
		}
		refused(Resolve{GTRID: gtrid}, "has decided otherwise (a): FORCE")
		refused(Resolve{GTRID: "ks1"}, "not the name")
		refused(Resolve{GTRID: strings.Replace(gtrid, "ks1", "ksb", 1), Commit: true, Force: true}, "not the name")
		refused(Resolve{GTRID: gtrid[:len(gtrid)-1] + "x", Commit: true, Force: true}, "not the name")
		g, _ := twophase.ParseGTRID(gtrid)
		g.Sequence++
		refused(Resolve{GTRID: g.String(), Commit: true, Force: true}, "no branch of it is prepared")
		if got, err := r.other.Resolve(Resolve{GTRID: gtrid, Commit: true}); err != nil || fmt.Sprint(got) != "[{b committed} {c committed}]" || r.values() != "1 1 1" {
			t.Errorf("%v, %v; the nodes have %s", got, err, r.values())
		}

		gtrid = r.prepare(false)
		r.relays["a"].reach(true)
		refused(Resolve{GTRID: gtrid}, "answers and has no decision, so that proxies will end it by themselves (a): FORCE")
		refused(Resolve{GTRID: gtrid, Commit: true}, "has no decision")
		if got, err := r.other.Resolve(Resolve{GTRID: gtrid, Force: true}); err != nil || fmt.Sprint(got) != "[{b rolled back} {c rolled back}]" || r.values() != "1 1 1" || r.rows(gtrid) != "A1" {
			t.Errorf("%v, %v; the nodes have %s, the rows are %s", got, err, r.values(), r.rows(gtrid))
		}

		// By force against what the anchor says: the audit finds it.
		gtrid = r.prepare(true)
		r.relays["a"].reach(true)
		if got, err := r.other.Resolve(Resolve{GTRID: gtrid, Force: true}); err != nil || fmt.Sprint(got) != "[{b rolled back} {c rolled back}]" || r.values() != "2 1 1" {
			t.Errorf("%v, %v; the nodes have %s", got, err, r.values())
		}
		r.audited(func() bool { return r.other.Incidents.Open() > 0 })
		if list := r.other.Incidents.List(); list[0].Kind != twophase.IncidentLost || list[0].GTRID() != gtrid {
			t.Errorf("%+v", list)
		}
	})
}

// Branches in doubt are listed, with what they wait for.
func TestInDoubt(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		if x, loans := r.begin("a", "b"); r.commit(x, loans).End != twophase.Commit {
			t.Fatal("not committed")
		}
		looking := newResolving(r.other)
		defer looking.close()
		looking.look(nil)
		gtrid := r.prepare(false)
		looking.look(nil)
		list := r.other.InDoubt()
		if len(list) != 2 {
			t.Fatalf("%+v", list)
		}
		b := list[0]
		if b.Node != "b" && b.Node != "c" || b.GTRID != gtrid || b.Decides != "a" || b.Proxy != r.driver.Proxy() || b.Own || b.WaitsFor != "the decision of a" || !strings.HasPrefix(b.XID, "'"+gtrid+"','") ||
			time.Since(b.Began) > time.Minute {
			t.Errorf("%+v", b)
		}
		if s := r.other.Stats(); s.InDoubt != 2 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
		delete(r.nodes, "a")
		looking.look(nil)
		if list := r.other.InDoubt(); len(list) != 2 || list[0].WaitsFor != "the decision of id "+twophase.NodeIDOf("a").String() {
			t.Errorf("%+v", list)
		}
		if got, err := r.other.Resolve(Resolve{GTRID: gtrid}); err != nil || fmt.Sprint(got) != "[{b rolled back} {c rolled back}]" {
			t.Errorf("%v, %v", got, err)
		}
		looking.look(nil)
		if list := r.other.InDoubt(); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
}
