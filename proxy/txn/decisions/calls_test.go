package decisions

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// callers are what a session may have set, each with the user who may. Whatever it is, the procedures do the same.
var callers = []struct {
	set  string
	root bool
	only mysqltest.Kind
}{
	{set: "SET sql_mode = DEFAULT"}, {set: "SET sql_mode = ''"}, {set: "SET sql_mode = 'ANSI'"}, {set: "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,IGNORE_SPACE,PIPES_AS_CONCAT'"},
	{set: "SET sql_mode = 'TRADITIONAL'"}, {set: "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'"}, {set: "SET sql_mode = 'HIGH_NOT_PRECEDENCE,REAL_AS_FLOAT'"},
	{set: "SET sql_mode = 'ORACLE'", only: mysqltest.MariaDB}, {set: "SET sql_mode = 'MSSQL'", only: mysqltest.MariaDB}, {set: "SET sql_mode = 'EMPTY_STRING_IS_NULL'", only: mysqltest.MariaDB},
	{set: "SET completion_type = CHAIN"}, {set: "SET completion_type = 'RELEASE'"}, {set: "SET autocommit = 0"}, {set: "SET autocommit = 0, completion_type = CHAIN, sql_mode = ''"},
	{set: "SET time_zone = '+13:00'"}, {set: "SET time_zone = '-12:00'"}, {set: "SET collation_connection = latin1_german2_ci"}, {set: "SET character_set_connection = utf16"},
	{set: "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci"}, {set: "SET NAMES gbk"}, {set: "SET character_set_results = NULL"}, {set: "SET sql_select_limit = 0"}, {set: "SET sql_safe_updates = 1"},
	{set: "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"}, {set: "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"}, {set: "SET unique_checks = 0, foreign_key_checks = 0"},
	{set: "SET sql_log_bin = 0", root: true}, {set: "SET binlog_format = 'STATEMENT'", root: true}, {set: "SET sql_warnings = 1, max_error_count = 0", root: true}, {set: "SET lc_messages = 'de_DE'"},
	{set: "SET character_set_results = utf16"}, {set: "SET div_precision_increment = 0"}, {set: "SET sql_auto_is_null = 1"}, {set: "SET default_storage_engine = MyISAM"}, {set: "SET max_sp_recursion_depth = 0"},
}

// onCallers runs a test on a connection of each of them.
func onCallers(t *testing.T, f func(t *testing.T, b *bench, c *mysqltest.RawClient)) {
	onServers(t, func(t *testing.T, b *bench) {
		made(t, b)
		for _, one := range callers {
			if one.only != "" && one.only != b.server.Kind {
				continue
			}
			t.Run(one.set, func(t *testing.T) {
				c := dial(t, b.server, "clients", password)
				if one.root {
					c = dial(t, b.server, mysqltest.User, mysqltest.Password)
				}
				must(t, b.root, "DELETE FROM ks_meta.dtx")
				must(t, b.root, "DELETE FROM shop.t")
				must(t, c, one.set)
				f(t, b, c)
			})
		}
	})
}

// there tells what another connection sees: the ids of shop.t, and the states in ks_meta.dtx.
func (b *bench) there(t *testing.T) string {
	t.Helper()
	r := must(t, b.root, "SELECT (SELECT COALESCE(GROUP_CONCAT(id ORDER BY id), '') FROM shop.t), (SELECT COALESCE(GROUP_CONCAT(gtrid, '=', state ORDER BY gtrid), '') FROM ks_meta.dtx)")
	return r.Rows[0][0].(string) + " " + r.Rows[0][1].(string)
}

// clock is the server's, as the coordinator asks for it.
func clock(t *testing.T, c *mysqltest.RawClient) time.Time {
	t.Helper()
	now, err := time.Parse(clockFormat, must(t, c, clockQuery+" FROM DUAL").Rows[0][0].(string))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// A decision commits what the caller changed, and leaves no transaction; one that is too late, or that another was ahead of, leaves the transaction open
// and nothing committed.
func TestDecide(t *testing.T) {
	onCallers(t, func(t *testing.T, b *bench, c *mysqltest.RawClient) {
		now := clock(t, b.root)
		decide := func(gtrid string, in time.Duration) string {
			return decideCall(gtrid, "0001,0002", "uuid:1,uuid:2", now.Add(in))
		}
		sees := func(want string) {
			t.Helper()
			if got := b.there(t); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		must(t, c, "START TRANSACTION")
		must(t, c, "INSERT INTO shop.t VALUES (1)")
		r := must(t, c, decide("a", time.Minute))
		for r.Next != nil {
			r = r.Next
		}
		if r.OK == nil || r.OK.Status.Has(mysql.ServerStatusInTrans) {
			t.Errorf("the answer: %+v", r)
		}
		sees("1 a=C")
		must(t, c, "ROLLBACK AND NO CHAIN NO RELEASE")
		sees("1 a=C")

		for _, one := range []struct {
			sql  string
			code uint16
		}{
			{decide("a", time.Minute), mysql.ERDupEntry}, {decide("b", 0), erBadNull}, {decide("b", -time.Hour), erBadNull}, {decide("b", -24*time.Hour), erBadNull},
			{strings.Replace(decide("b", time.Minute), "'b'", "NULL", 1), erBadNull}, {decide(strings.Repeat("b", gtridMax+1), time.Minute), erDataTooLong},
			{decideCall("b", strings.Repeat("1", partsMax+1), "", now.Add(time.Minute)), erDataTooLong}, {decideCall("b", "1", strings.Repeat("1", connsMax+1), now.Add(time.Minute)), erDataTooLong},
			{"CALL ks_meta.ks_decide('b', '1', '1', NULL, 'm')", erBadNull},
		} {
			must(t, c, "START TRANSACTION")
			must(t, c, "INSERT INTO shop.t VALUES (2)")
			r, err := c.Query(one.sql)
			if err != nil || r.Err == nil || r.Err.Code != one.code || !notCommitted(r.Err) {
				t.Errorf("%.80s: %+v, %v", one.sql, r, err)
			}
			sees("1 a=C")
			must(t, c, "INSERT INTO shop.t VALUES (3)")
			sees("1 a=C") // the transaction is still open
			must(t, c, "ROLLBACK AND NO CHAIN NO RELEASE")
			sees("1 a=C")
			must(t, c, "START TRANSACTION")
			if r, err := c.Query(one.sql); err != nil || r.Err == nil {
				t.Errorf("%.80s: %v, %v", one.sql, r, err)
			}
			must(t, c, "INSERT INTO shop.t VALUES (4)")
			must(t, c, "COMMIT AND NO CHAIN NO RELEASE") // and has nothing of the decision
			sees("1,4 a=C")
			must(t, b.root, "DELETE FROM shop.t WHERE id = 4")
		}
		must(t, c, "START TRANSACTION") // and the connection is as before
		must(t, c, "INSERT INTO shop.t VALUES (5)")
		must(t, c, decide("c", time.Minute))
		sees("1,5 a=C,c=C")
	})
}

// A decision in a transaction of XA, in one that only reads, and through a prepared statement.
func TestDecideElsewhere(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		made(t, b)
		c := dial(t, b.server, "clients", password)
		decide := func(gtrid string) string { return decideCall(gtrid, "1", "1", clock(t, b.root).Add(time.Minute)) }
		fails := func(sql string, code uint16) {
			t.Helper()
			r, err := c.Query(sql)
			if err != nil || r.Err == nil || r.Err.Code != code || !notCommitted(r.Err) {
				t.Errorf("%s: %v, %v, want %d", sql, r.Err, err, code)
			}
		}
		must(t, c, "XA START 'x'")
		must(t, c, "INSERT INTO shop.t VALUES (1)")
		fails(decide("a"), erXAERRmfail)
		must(t, c, "XA END 'x'")
		must(t, c, "XA ROLLBACK 'x'")
		must(t, c, "START TRANSACTION READ ONLY")
		fails(decide("a"), erReadOnlyTrx)
		must(t, c, "ROLLBACK AND NO CHAIN NO RELEASE")
		if got := b.there(t); got != " " {
			t.Errorf("%q is there", got)
		}
		must(t, c, "PREPARE s FROM "+"\""+decide("b")+"\"")
		must(t, c, "START TRANSACTION")
		must(t, c, "INSERT INTO shop.t VALUES (1)")
		must(t, c, "EXECUTE s")
		if got := b.there(t); got != "1 b=C" {
			t.Errorf("%q is there", got)
		}
		conn, err := nodesAt(t, true, b.server)[0].Primary.OwnUntil(soon())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := fmt.Sprint(must(t, b.root, "SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx").Rows); got != fmt.Sprintf("[[b C 1 1:%d %s]]", c.Greeting.ConnectionID, mac) {
			t.Errorf("%s is there", got)
		}
		if err := conn.Exec(fenceInsert("c")); err != nil {
			t.Error(err)
		}
		fails(decide("c"), mysql.ERDupEntry)
		if got := b.there(t); got != "1 b=C,c=A" {
			t.Errorf("%q is there", got)
		}
		var told *mysql.SQLError
		if err := conn.Exec(fenceInsert("b")); !errors.As(err, &told) || told.Code != mysql.ERDupEntry {
			t.Errorf("a fence behind the decision: %v", err)
		}
	})
}

// A fence waits for a decision that is under way, and the other way round: one of the two is written.
func TestDecideOrFence(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		made(t, b)
		c := dial(t, b.server, "clients", password)
		must(t, b.root, "START TRANSACTION")
		must(t, b.root, fenceInsert("a"))
		must(t, c, "START TRANSACTION")
		must(t, c, "INSERT INTO shop.t VALUES (1)")
		waited := make(chan uint16)
		go func() {
			r, err := c.Query(decideCall("a", "1", "1", time.Now().Add(time.Minute)))
			if err != nil || r.Err == nil {
				waited <- 0
				return
			}
			waited <- r.Err.Code
		}()
		select {
		case code := <-waited:
			t.Errorf("it did not wait: %d", code)
		case <-time.After(200 * time.Millisecond):
			must(t, b.root, "COMMIT")
			if code := <-waited; code != mysql.ERDupEntry {
				t.Errorf("behind the fence: %d", code)
			}
		}
		must(t, c, "ROLLBACK AND NO CHAIN NO RELEASE")
		if got := b.there(t); got != " a=A" {
			t.Errorf("%q is there", got)
		}
	})
}

// A branch's row is part of its transaction, also of one of XA.
func TestBranch(t *testing.T) {
	onCallers(t, func(t *testing.T, b *bench, c *mysqltest.RawClient) {
		must(t, c, "XA START 'g','b',1")
		must(t, c, "INSERT INTO shop.t VALUES (1)")
		must(t, c, branchCall("a"))
		if got := b.there(t); got != " " {
			t.Errorf("%q is there before it is prepared", got)
		}
		must(t, c, "XA END 'g','b',1")
		must(t, c, "XA PREPARE 'g','b',1")
		if got := b.there(t); got != " " {
			t.Errorf("%q is there before it is committed", got)
		}
		must(t, c, "XA COMMIT 'g','b',1")
		if got := b.there(t); got != "1 a=B" {
			t.Errorf("%q is there", got)
		}
		must(t, c, "XA START 'g','c',1")
		must(t, c, "INSERT INTO shop.t VALUES (2)")
		if code := refused(t, c, branchCall("a")); code != mysql.ERDupEntry {
			t.Errorf("a second row: %d", code)
		}
		if code := refused(t, c, branchCall(strings.Repeat("x", gtridMax+1))); code != erDataTooLong {
			t.Errorf("a long name: %d", code)
		}
		must(t, c, "XA END 'g','c',1")
		must(t, c, "XA ROLLBACK 'g','c',1")
		if got := b.there(t); got != "1 a=B" {
			t.Errorf("%q is there", got)
		}
		if got := fmt.Sprint(must(t, b.root, "SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx").Rows); got != fmt.Sprintf("[[a B 1,2 1=uuid:1,2=uuid:%d %s]]", c.Greeting.ConnectionID, mac) {
			t.Errorf("%s is there", got)
		}
	})
}

// MariaDB writes the row and prepares the branch by one statement, whatever the session has set; an error in it ends it.
func TestBranchCompound(t *testing.T) {
	onCallers(t, func(t *testing.T, b *bench, c *mysqltest.RawClient) {
		if b.server.Kind != mysqltest.MariaDB {
			return // the others have no compound statements outside of procedures
		}
		compound := func(xid string) string {
			return "BEGIN NOT ATOMIC " + branchCall("a") + "; XA END " + xid + "; XA PREPARE " + xid + "; END"
		}
		must(t, c, "XA START 'g','b',1")
		must(t, c, "INSERT INTO shop.t VALUES (1)")
		if r := must(t, c, compound("'g','b',1")); r.OK == nil || r.Next != nil {
			t.Errorf("the answer: %+v", r)
		}
		if got := b.there(t); got != " " {
			t.Errorf("%q is there before it is committed", got)
		}
		must(t, c, "XA COMMIT 'g','b',1")
		must(t, c, "XA START 'g','c',1")
		must(t, c, "INSERT INTO shop.t VALUES (2)")
		if code := refused(t, c, compound("'g','c',1")); code != mysql.ERDupEntry {
			t.Errorf("a second row: %d", code)
		}
		must(t, c, "INSERT INTO shop.t VALUES (3)") // the branch goes on
		must(t, c, "XA END 'g','c',1")
		must(t, c, "XA ROLLBACK 'g','c',1")
		if got := b.there(t); got != "1 a=B" {
			t.Errorf("%q is there", got)
		}
	})
}

// A session whose clock SET timestamp stops can decide nothing: no deadline would hold there.
func TestStoppedClock(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		made(t, b)
		c := dial(t, b.server, "clients", password)
		now := time.Now()
		for _, at := range []time.Duration{-24 * time.Hour, -10 * time.Second, 10 * time.Second, 24 * time.Hour} {
			must(t, c, fmt.Sprintf("SET timestamp = %d", now.Add(at).Unix()))
			for _, sql := range []string{branchCall("a"), decideCall("a", "", "", now.Add(48*time.Hour)), decideCall("a", "", "", now.Add(time.Minute))} {
				if code := refused(t, c, sql); code != erBadNull {
					t.Errorf("%s %v from now: %d", sql, at, code)
				}
			}
		}
		must(t, c, "SET timestamp = DEFAULT")
		must(t, c, branchCall("a"))
		must(t, c, decideCall("b", "", "", now.Add(time.Minute)))
	})
}

// A KILL may come behind the COMMIT of a decision: such an error does not tell that nothing was committed.
func TestKilledDecision(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		made(t, b)
		c := dial(t, b.server, "clients", password)
		id := must(t, c, "SELECT CONNECTION_ID()").Rows[0][0].(string)
		rounds, committed, rolledBack := 0, 0, 0
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); rounds++ {
			gtrid := fmt.Sprintf("k%d", rounds)
			must(t, c, "START TRANSACTION")
			must(t, c, fmt.Sprintf("INSERT INTO shop.t VALUES (%d)", rounds))
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				time.Sleep(time.Duration(rounds%40) * 10 * time.Microsecond)
				_, _ = b.root.Query("KILL QUERY " + id)
			}()
			r, err := c.Query(decideCall(gtrid, "", "", time.Now().Add(time.Minute)))
			if err != nil {
				t.Fatal(err)
			}
			<-killed
			_, _ = c.Query("DO 0") // which the KILL may hit
			must(t, c, "ROLLBACK AND NO CHAIN NO RELEASE")
			got := must(t, b.root, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM shop.t WHERE id = %d), (SELECT COUNT(*) FROM ks_meta.dtx WHERE gtrid = '%s')", rounds, gtrid)).Rows[0]
			switch {
			case got[0] != got[1]:
				t.Fatalf("rows %v, decisions %v", got[0], got[1])
			case r.Err == nil && got[0] != "1":
				t.Fatal("it was said to be committed, and is not")
			case r.Err == nil:
			case notCommitted(r.Err):
				t.Fatalf("a KILL is %v", r.Err)
			case got[0] == "1":
				committed++
			default:
				rolledBack++
			}
		}
		t.Logf("%d decisions, of those with an error %d were committed and %d were not", rounds, committed, rolledBack)
	})
}

// What one connection was seen to call is of no use to another one.
func TestCallOfAnother(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		made(t, b)
		c := dial(t, b.server, "clients", password)
		seen := strings.NewReplacer("CONNECTION_ID()", fmt.Sprint(b.root.Greeting.ConnectionID))
		for _, sql := range []string{
			branchCall("a"), decideCall("a", "1", "1=uuid", time.Now().Add(time.Minute)),
		} {
			if code := refused(t, c, seen.Replace(sql)); code != erBadNull {
				t.Errorf("%s: error %d", sql, code)
			}
		}
		for _, conns := range []string{"''", "NULL", "'7'", "CONNECTION_ID()", "CONCAT(':', CONNECTION_ID(), ' ')", "CONCAT(':', CONNECTION_ID(), '0')"} {
			if code := refused(t, c, "CALL ks_meta.ks_branch('a', '1', "+conns+", 'm')"); code != erBadNull {
				t.Errorf("%s: error %d", conns, code)
			}
		}
		if got := b.there(t); got != " " {
			t.Errorf("%q is there", got)
		}
	})
}
