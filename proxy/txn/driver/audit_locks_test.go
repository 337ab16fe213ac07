package driver

import (
	"fmt"
	"testing"
	"time"

	"kingshard/proxy/txn/twophase"
)

// What audits change they find by its key: the row of a branch that is prepared meanwhile, which is locked, keeps nobody from the others, however many rows there are.
func TestAuditsWaitForNoPreparedBranch(t *testing.T) {
	onServers(t, func(t *testing.T, r *rig) {
		x, loans := r.begin("a", "b") // makes the table
		r.commit(x, loans)
		b := twophase.NodeIDOf("b")
		key := func(k int) string {
			return twophase.GTRID{Anchor: twophase.NodeIDOf("a"), Proxy: 1, Start: 1, Sequence: uint64(k)}.BranchKey(b)
		}
		for rows := range 4 {
			for k := range 1 + 3*rows {
				r.must(fmt.Sprintf("INSERT IGNORE INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('%s', 'B', '', '', '')", key(k)))
			}
			r.must("XA START 'open'")
			r.must(fmt.Sprintf("INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('%s', 'B', '', '', '')", key(1000)))
			r.must("XA END 'open'")
			r.must("XA PREPARE 'open'")
			admin, err := administer(r.nodes["b"], time.Now().Add(adminTimeout))
			if err != nil {
				t.Fatal(err)
			}
			var batch []twophase.Action
			for k := range 1 + 2*rows {
				batch = append(batch, twophase.Action{Do: twophase.DoDelete, Node: b, Row: twophase.Row{Key: key(k), State: twophase.BranchRow}})
			}
			if len(batch) > 1 {
				if err := admin.conn.Exec(twophase.Statement(batch[1:])); err != nil {
					t.Errorf("%d rows: %v", rows, err)
				}
			}
			if answer := admin.do(batch[0], time.Now().Add(adminTimeout)); answer.Result != twophase.OK {
				t.Errorf("%d rows: %+v", rows, answer)
			}
			admin.conn.Close()
			r.must("XA ROLLBACK 'open'")
		}
		r.must("DELETE FROM ks_meta.dtx WHERE gtrid LIKE 'ksb%'")
	})
}
