package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// A definition runs on every physical table, with an outcome each: the client hears which are done, and the rest is kept to be resumed.
func TestDefinitions(t *testing.T) {
	on := func(node string, answer func(c *mysqltest.ScriptConn)) func(string, string, *mysqltest.ScriptConn) bool {
		return func(n, text string, c *mysqltest.ScriptConn) bool {
			if !strings.HasPrefix(text, "ALTER") || node != "" && n != node {
				return false
			}
			answer(c)
			return true
		}
	}
	for _, tt := range []struct {
		name       string
		answer     func(node, text string, c *mysqltest.ScriptConn) bool
		told       string
		unfinished int
		outcomes   string
	}{
		{"done", nil, "ok 0", 0, ""},
		{"one refuses", on("n2", func(c *mysqltest.ScriptConn) { c.Error(1118, "Row size too large") }), "error 9015", 1, "1 done, 1 failed"},
		{"both refuse", on("", func(c *mysqltest.ScriptConn) { c.Error(1118, "Row size too large") }), "error 1118", 0, ""},
		{"one is gone", on("n2", func(c *mysqltest.ScriptConn) { c.Conn.Close() }), "error 9015", 1, "1 done, 1 failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, got := shardedApart(t, tt.answer)
			sh := a.withShards()
			cs := &changes{client: a.client, effects: sh.effects, leases: sh.leases, routing: a.withRouting(), shards: sh}
			ds := &definitions{client: a.client, effects: sh.effects, leases: sh.leases, routing: a.withRouting(), shards: sh, changes: cs}
			forgotten := a.schema.Plans.forgotten.Load()
			q := a.says("ALTER TABLE t ADD c INT")
			p, r := a.planned(t, q)
			_, err := ds.eachShard(q, p, r)
			if told := a.hears(t, err); told != tt.told {
				t.Errorf("hears %s: %v", told, err)
			}
			list := got.taken()
			slices.Sort(list)
			if strings.Join(list, "; ") != "n1 ALTER TABLE t_0000 ADD c INT; n2 ALTER TABLE t_0001 ADD c INT" {
				t.Errorf("the servers got %v", list)
			}
			outcomes := ""
			for _, e := range a.shared.DDL.List("app", false) {
				outcomes += fmt.Sprintf("%d done, %d failed", e.Done, e.Failed)
			}
			if n := a.shared.DDL.Unfinished(); n != tt.unfinished || outcomes != tt.outcomes {
				t.Errorf("%d unfinished: %s", n, outcomes)
			}
			if a.inUse("n1")+a.inUse("n2") != 0 || a.entry.Published() {
				t.Errorf("%d and %d in use", a.inUse("n1"), a.inUse("n2"))
			}
			if a.schema.Plans.forgotten.Load() == forgotten {
				t.Error("the plans of before are still there")
			}
		})
	}
}

// A transaction ends with a definition, as on a server.
func TestDefinitionsEndTransactions(t *testing.T) {
	a, got := shardedApart(t, nil)
	sh := a.withShards()
	cs := &changes{client: a.client, effects: sh.effects, leases: sh.leases, routing: a.withRouting(), shards: sh}
	ds := &definitions{client: a.client, effects: sh.effects, leases: sh.leases, routing: a.withRouting(), shards: sh, changes: cs}
	a.txn.Begin = "BEGIN"
	_, err := sh.exchanges.forward(a.says("UPDATE other SET a = 1"))
	if told := a.hears(t, err); told != "ok 0" || !a.txn.Holding() {
		t.Fatal(told)
	}
	got.taken()
	q := a.says("ALTER TABLE t ADD c INT")
	p, r := a.planned(t, q)
	_, err = ds.eachShard(q, p, r)
	if told := a.hears(t, err); told != "ok 0" || a.txn.Holding() || a.txn.InTransaction() {
		t.Errorf("hears %s, holds %v", told, a.txn.Holding())
	}
	if list := got.taken(); len(list) != 3 || !strings.HasPrefix(list[0], "n1 COMMIT") {
		t.Errorf("the servers got %v", list)
	}
}

// A DROP TABLE that runs again takes tables that are gone for done.
func TestDropAgain(t *testing.T) {
	a, _ := shardedApart(t, nil)
	for text, want := range map[string]string{
		"DROP TABLE t": "DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS t": "", "ALTER TABLE t ADD c INT": "",
	} {
		q := a.says(text)
		p, _ := a.planned(t, q)
		if got := dropAgain(p.Statement, text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	if got := onceNamed("Unknown table 'd.t,d.t,d.t'", []mysql.TableName{{Schema: "d", Table: "t"}}); got != "Unknown table 'd.t'" {
		t.Error(got)
	}
}
