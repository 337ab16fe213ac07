package driver

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// audited has the other process audit until something is so.
func (r *rig) audited(is func() bool) {
	r.t.Helper()
	looking := newResolving(r.other)
	defer looking.close()
	looking.look(nil)
	mysqltest.WaitFor(r.t, "the audit", func() bool {
		for _, n := range r.other.sorted() {
			looking.audit(n)
		}
		return is()
	})
}

// Rows of transactions that all nodes have go away, by a few statements for many.
func TestAuditIsBatched(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		const transactions = 60
		for range transactions {
			if x, loans := r.begin("a", "b", "c"); r.commit(x, loans).End != twophase.Commit {
				t.Fatal("not committed")
			}
		}
		r.driver.Wait()
		updates := func() int {
			n, err := strconv.Atoi(strings.TrimPrefix(r.must("SHOW GLOBAL STATUS LIKE 'Com_update'")[0], "Com_update"))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := updates()
		r.audited(func() bool {
			return fmt.Sprint(r.must("SELECT COUNT(*) FROM ks_meta.dtx WHERE state <> 'D' OR done_ts IS NULL")) == "[0]"
		})
		n := updates() - before
		t.Logf("%d statements mark %d transactions and finish them", n, transactions)
		if n > transactions/5 { // it would be two for each
			t.Error("they are sent one by one")
		}
		if got := fmt.Sprint(r.must("SELECT COUNT(*), MIN(state) FROM ks_meta.dtx")); got != fmt.Sprintf("[%d D]", transactions) && got != fmt.Sprintf("[%dD]", transactions) {
			t.Errorf("the rows are %s", got)
		}
		if n := r.other.Incidents.Open(); n > 0 {
			t.Errorf("%+v", r.other.Incidents.List())
		}
	})
}

// A branch that a server has lost, one whose anchor has lost the decision, and one that was committed against it, are incidents; others are not.
func TestAuditFinds(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		var gtrids []string
		for range 4 {
			x, loans := r.begin("a", "b", "c")
			if r.commit(x, loans).End != twophase.Commit {
				t.Fatal("not committed")
			}
			gtrids = append(gtrids, x.GTRID())
		}
		r.driver.Wait()
		g, _ := twophase.ParseGTRID(gtrids[1])
		r.must("DELETE FROM ks_meta.dtx WHERE gtrid = '" + g.BranchKey(twophase.NodeIDOf("c")) + "'")
		r.must("DELETE FROM ks_meta.dtx WHERE gtrid = '" + gtrids[2] + "'")
		r.must("UPDATE ks_meta.dtx SET state = 'A' WHERE gtrid = '" + gtrids[3] + "'")
		r.must("UPDATE ks_meta.dtx SET ts = ts - INTERVAL 2 MINUTE")
		looking := newResolving(r.other)
		defer looking.close()
		looking.look(nil) // the first one seeks
		found := func() string {
			kinds := map[string]string{}
			for _, i := range r.other.Incidents.List() {
				kinds[i.GTRID()] += i.Kind.Name() + " " + r.other.NodeName(i.XID.Node) + ", "
			}
			return strings.Join([]string{kinds[gtrids[0]], kinds[gtrids[1]], kinds[gtrids[2]], kinds[gtrids[3]]}, "; ")
		}
		if got := found(); got != "; ; undecided b, undecided c, ; half b, half c, " && got != "; ; undecided b, undecided c, ; forged , half b, half c, " {
			t.Errorf("%s", got)
		}
		r.audited(func() bool { return strings.Contains(found(), "lost c") })
		open := r.other.Incidents.Open()
		if !r.other.Incidents.Forget(r.other.Incidents.List()[0].ID) || r.other.Incidents.Forget(0) || r.other.Incidents.Open() != open-1 {
			t.Error("an incident is not closed")
		}
		looking.sought = time.Time{}
		looking.look(nil)
		if r.other.Incidents.Open() != open-1 {
			t.Errorf("what was closed is there again: %s", found())
		}
		r.other.Incidents.ForgetAll()
		if r.other.Incidents.Open() != 0 || r.other.Incidents.Total() != uint64(open) {
			t.Error("incidents are not closed")
		}
	})
}

// Run ends by itself what a process that died has left, and stops when it is told to.
func TestRun(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		for _, committed := range []bool{true, false} {
			stop, over := make(chan struct{}), make(chan struct{})
			gtrid := r.prepare(committed)
			go func() {
				r.other.Run(stop, func() Wanted { return WantedAlways })
				close(over)
			}()
			r.relays["a"].reach(true)
			r.other.Wake()
			mysqltest.WaitFor(t, "nothing is prepared", func() bool { return len(r.must("XA RECOVER")) == 0 })
			close(stop)
			<-over
			if got := r.values(); got != "1 1 1" {
				t.Errorf("%s: the nodes have %s", gtrid, got)
			}
		}
		if s := r.other.Stats(); s.ResolvedCommits != 2 || s.ResolvedRollbacks != 2 || s.Fenced != 1 {
			t.Errorf("%+v", s)
		}
	})
}
