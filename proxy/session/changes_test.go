package session

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn"
)

func changesOn(a *apart) *changes {
	sh := a.withShards()
	return &changes{client: a.client, effects: sh.effects, leases: sh.leases, routing: a.withRouting(), shards: sh}
}

// A change of two nodes is all of it or nothing: each node changes its rows in turn, and is told to keep them when all have.
func TestChanges(t *testing.T) {
	const begin, commit, rollback = txn.SQLBegin, txn.SQLCommit, txn.SQLRollback
	const first, second = "UPDATE t_0000 SET a = 1", "UPDATE t_0001 SET a = 1"
	affected := func(c *mysqltest.ScriptConn, n uint64) bool {
		c.OKPacket(mysql.OKPacket{AffectedRows: n, Info: []byte("Rows matched: 5  Changed: 1  Warnings: 0")})
		return true
	}
	for _, tt := range []struct {
		name   string
		answer func(node, text string, c *mysqltest.ScriptConn) bool
		told   string
		got    []string // behind what begins it, on both nodes at a time
		half   string   // the record of a change that is not whole
	}{
		{"both", nil, "ok 7", []string{"n1 " + first, "n2 " + second, "n1 " + commit, "n2 " + commit}, ""},
		{"the second node refuses", func(node, text string, c *mysqltest.ScriptConn) bool {
			if node == "n2" && strings.HasPrefix(text, "UPDATE") {
				c.Error(1205, "Lock wait timeout")
				return true
			}
			return false
		}, "error 1205", []string{"n1 " + first, "n2 " + second, "n1 " + rollback, "n2 " + rollback}, ""},
		{"the first node refuses", func(node, text string, c *mysqltest.ScriptConn) bool {
			if node == "n1" && strings.HasPrefix(text, "UPDATE") {
				c.Error(erNoSuchTable, "no")
				return true
			}
			return false
		}, "error 1146", []string{"n1 " + first, "n1 " + rollback, "n2 " + rollback}, ""},
		{"the second node is gone", func(node, text string, c *mysqltest.ScriptConn) bool {
			if node == "n2" && strings.HasPrefix(text, "UPDATE") {
				c.Conn.Close()
				return true
			}
			return false
		}, "error 9018", []string{"n1 " + first, "n2 " + second}, ""},
		{"the first node does not keep it", func(node, text string, c *mysqltest.ScriptConn) bool {
			if node == "n1" && text == commit {
				c.Error(1180, "Got error during COMMIT")
				return true
			}
			return false
		}, "error 1180", []string{"n1 " + first, "n2 " + second, "n1 " + commit, "n1 " + rollback, "n2 " + rollback}, ""},
		{"the second node does not keep it", func(node, text string, c *mysqltest.ScriptConn) bool {
			if node == "n2" && text == commit {
				c.Error(1180, "Got error during COMMIT")
				return true
			}
			return false
		}, "error 9003", []string{"n1 " + first, "n2 " + second, "n1 " + commit, "n2 " + commit}, "n1 n2"},
		{"the first node is gone with its COMMIT", func(node, text string, c *mysqltest.ScriptConn) bool {
			if node == "n1" && text == commit {
				c.Conn.Close()
				return true
			}
			return false
		}, "error 9003", []string{"n1 " + first, "n2 " + second, "n1 " + commit}, "n1 n2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, got := shardedApart(t, func(node, text string, c *mysqltest.ScriptConn) bool {
				if tt.answer != nil && tt.answer(node, text, c) {
					return true
				}
				return strings.HasPrefix(text, "UPDATE") && affected(c, map[string]uint64{"n1": 3, "n2": 4}[node])
			})
			cs := changesOn(a)
			q := a.says("UPDATE t SET a = 1")
			p, r := a.planned(t, q)
			failed, err := cs.writeMany(q, p, r, nil)
			if told := a.hears(t, err); told != tt.told || failed != strings.HasPrefix(told, "error") {
				t.Errorf("hears %s, failed %v", told, failed)
			}
			list := got.taken()
			if len(list) < 2 || list[0] == list[1] || !strings.HasSuffix(list[0], begin) || !strings.HasSuffix(list[1], begin) || strings.Join(list[2:], "; ") != strings.Join(tt.got, "; ") {
				t.Errorf("the servers got\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(tt.got, "\n"))
			}
			if a.inUse("n1")+a.inUse("n2") != 0 || a.entry.Published() {
				t.Errorf("%d and %d in use", a.inUse("n1"), a.inUse("n2"))
			}
			half := ""
			for _, r := range a.shared.HalfDone.List() {
				for _, n := range r.Nodes {
					half = strings.TrimSpace(half + " " + n.Name)
				}
			}
			if half != tt.half {
				t.Errorf("half done: %q", half)
			}
			if tt.name == "both" && a.state.Diagnostics.RowCount != 7 {
				t.Errorf("ROW_COUNT() is %d", a.state.Diagnostics.RowCount)
			}
		})
	}
}

// A transaction of the client's is on one node, so that a change of two is none of its.
func TestChangesInTransactions(t *testing.T) {
	a, got := shardedApart(t, nil)
	cs := changesOn(a)
	a.txn.Begin = "BEGIN"
	q := a.says("UPDATE t SET a = 1")
	p, r := a.planned(t, q)
	_, err := cs.writeMany(q, p, r, nil)
	if told := a.hears(t, err); told != "error 9004" || len(got.taken()) != 0 {
		t.Errorf("hears %s", told)
	}
}

// What SET TRANSACTION said is for all nodes of the change.
func TestChangesNextTransaction(t *testing.T) {
	a, got := shardedApart(t, nil)
	cs := changesOn(a)
	xs := cs.shards.exchanges
	se := settings{a.client, xs.leases, xs.routing, xs}
	const next = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	if told := a.hears(t, se.set(a.says(next))); told != "ok 0" {
		t.Fatal(told)
	}
	q := a.says("UPDATE t SET a = 1")
	p, r := a.planned(t, q)
	_, err := cs.writeMany(q, p, r, nil)
	if told := a.hears(t, err); told != "ok 0" || a.txn.Next.IsSet() {
		t.Errorf("hears %s, still to come: %v", told, a.txn.Next.IsSet())
	}
	said := 0
	for _, text := range got.taken() {
		if strings.HasSuffix(text, next) {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%d nodes were told", said)
	}
}

// The sums of what two nodes did.
func TestAddChange(t *testing.T) {
	var total mysql.OKPacket
	addChange(&total, mysql.OKPacket{AffectedRows: 1, Warnings: 65000, LastInsertID: 9, Info: []byte("Rows matched: 5  Changed: 1  Warnings: 2")})
	addChange(&total, mysql.OKPacket{AffectedRows: 2, Warnings: 1000, LastInsertID: 4, Info: []byte("Rows matched: 6  Changed: 2  Warnings: 1")})
	addChange(&total, mysql.OKPacket{})
	if total.AffectedRows != 3 || total.Warnings != 65535 || total.LastInsertID != 4 {
		t.Errorf("%+v", total)
	}
	if got := addInfo("Records: 2  Duplicates: 1  Warnings: 0", "Records: 3  Duplicates: 0  Warnings: 4"); got != "Records: 5  Duplicates: 1  Warnings: 4" {
		t.Error(got)
	}
}
