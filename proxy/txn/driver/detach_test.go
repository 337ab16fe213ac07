package driver

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// A branch that is rolled back behind the KILL of the connection that has prepared it keeps no locks.
func TestRollbackBehindKill(t *testing.T) {
	n, dial := ownNode(t)
	run := func(c *mysqltest.RawClient, sql string) *mysqltest.RawResult {
		r, err := c.Query(sql)
		if err == nil && r.Err != nil {
			err = r.Err
		}
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		return r
	}
	const workers, each = 16, 60
	root := dial()
	run(root, "CREATE TABLE test.t (id INT PRIMARY KEY, v INT)")
	for id := range workers * each {
		run(root, fmt.Sprintf("INSERT INTO test.t VALUES (%d, 0)", id))
	}
	var working sync.WaitGroup
	for w := range workers {
		admin, err := administer(n, time.Now().Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		defer admin.conn.Close()
		working.Go(func() {
			for id := w * each; id < (w+1)*each; id++ {
				holder, xid := dial(), twophase.XID{GTRID: twophase.GTRID{Anchor: 7, Start: 1, Sequence: uint64(id)}, Node: twophase.NodeIDOf("a")}
				for _, sql := range []string{"XA START " + xid.String(), fmt.Sprintf("UPDATE test.t SET v = 1 WHERE id = %d", id), "XA END " + xid.String(), "XA PREPARE " + xid.String()} {
					run(holder, sql)
				}
				conns := twophase.Holder(fmt.Sprintf("%s:%v", admin.server, run(holder, "SELECT CONNECTION_ID()").Rows[0][0]))
				if a := admin.do(twophase.Action{Do: twophase.DoKill, Holder: conns, XID: xid}, time.Now().Add(time.Minute)); a.Result != twophase.OK {
					t.Errorf("%d: KILL: %+v", id, a)
				}
				mysqltest.WaitFor(t, "the branch to be rolled back", func() bool { // a slow server may take longer
					return admin.do(twophase.Action{Do: twophase.DoRollbackBranch, XID: xid}, time.Now().Add(time.Minute)).Result == twophase.OK
				})
			}
		})
	}
	working.Wait()
	run(root, "SET SESSION innodb_lock_wait_timeout = 1")
	if r := run(root, "SELECT id FROM test.t WHERE v = 0 FOR UPDATE"); r != nil && len(r.Rows) != workers*each {
		t.Errorf("%d rows", len(r.Rows))
	}
}
