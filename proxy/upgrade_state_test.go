package proxy_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// stateQuestions are what a client with state asks before and after a move: the answers must be the same.
var stateQuestions = []string{
	"SELECT CONNECTION_ID()", "SELECT USER()", "SELECT DATABASE()", "SELECT LAST_INSERT_ID()", "SELECT @@sql_mode", "SELECT @@time_zone",
	"SELECT @@character_set_client, @@character_set_results, @@collation_connection", "SELECT @n, @s", "SELECT @@autocommit",
	`SELECT "v", HEX('é')`, "SELECT COUNT(*) FROM moved_rows", "SELECT @@transaction_isolation", "SELECT @@unique_checks",
}

// A client's state is the same in the next process, and in the one after: what it set, prepared, inserted last, and whom it
// logged in as.
func TestUpgradeKeepsState(t *testing.T) {
	binary := buildBinary(t)
	for _, lane := range []string{"false", "true"} {
		onBothAtOnce(t, func(t *testing.T, server *mysqltest.RealServer) {
			socket := filepath.Join(t.TempDir(), "s")
			d := startDaemon(t, binary, oneNode(server.Addr, 8, "fast_lane: "+lane, "socket: "+socket, "admin_addr: 127.0.0.1:0"))
			c := dial(t, d.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			questions := stateQuestions
			if server.Kind == mysqltest.MariaDB {
				questions = slices.Replace(slices.Clone(questions), len(questions)-2, len(questions)-1, "SELECT @@tx_isolation")
			}
			for _, text := range []string{
				"CREATE TABLE moved_rows (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20))", "SET NAMES latin1", "SET sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES'",
				"SET time_zone = '+03:00', unique_checks = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET @n = 42, @s = 'text'",
				"INSERT INTO moved_rows (v) VALUES ('a'), ('b')", "INSERT INTO moved_rows (v) VALUES ('c')",
			} {
				must(t, c, text)
			}
			st := prepare(t, c, "SELECT ?, v FROM moved_rows WHERE id = ?")
			first := execute(t, c, st, true)
			local := dial(t, socket, rootClient())
			must(t, local, "USE "+database)
			var want []string
			for _, q := range questions {
				want = append(want, answerText(c, q))
			}
			wantLocal := value(t, local, "SELECT CONNECTION_ID(), USER(), DATABASE()")
			for round := range 3 {
				d.upgrade()
				d.came(2)
				for k, q := range questions {
					if got := answerText(c, q); got != want[k] {
						t.Errorf("round %d: %s: %s, want %s", round, q, got, want[k])
					}
				}
				if got := value(t, local, "SELECT CONNECTION_ID(), USER(), DATABASE()"); got != wantLocal {
					t.Errorf("round %d: over the unix socket: %s, want %s", round, got, wantLocal)
				}
				// The parameters' types were sent before the first execution only.
				if got := execute(t, c, st, false); got != first {
					t.Errorf("round %d: the prepared statement gives %s, want %s", round, got, first)
				}
				next := dial(t, socket, rootClient()) // the file of the socket is still there
				if got, old := number(t, next, "SELECT CONNECTION_ID()"), number(t, c, "SELECT CONNECTION_ID()"); got <= old {
					t.Errorf("round %d: a new client has the id %d after %d", round, got, old)
				}
				next.Close()
			}
			// A new id is not that of an old statement.
			if again := prepare(t, c, "SELECT 1"); again == st {
				t.Errorf("statement id %d given twice", st)
			}
			// It can keep a connection to itself, as before.
			must(t, c, "CREATE TEMPORARY TABLE moved_alone (id INT)")
			must(t, c, "INSERT INTO moved_alone VALUES (1), (2)")
			if n := number(t, c, "SELECT COUNT(*) FROM moved_alone"); n != 2 {
				t.Errorf("%d rows in the temporary table", n)
			}
			// It can log in again by the greeting of a process that is gone.
			if err := c.ChangeUser("ks", "ks", database); err != nil {
				t.Errorf("COM_CHANGE_USER: %v", err)
			}
			if got := value(t, c, "SELECT USER(), @n"); !strings.HasPrefix(got, "ks@") || !strings.HasSuffix(got, ",NULL") {
				t.Errorf("as another user: %s", got)
			}
			d.onlyLast()
		})
	}
}

// What cannot move goes on where it is, and moves when it can: transactions, temporary tables, locks, a half-sent parameter.
func TestUpgradeLeavesWhatCannotMove(t *testing.T) {
	binary := buildBinary(t)
	onBothAtOnce(t, func(t *testing.T, server *mysqltest.RealServer) {
		d := startDaemon(t, binary, oneNode(server.Addr, 16))
		root := mysqltest.ClientConfig{User: "root", Password: "root", DB: database}
		idle := dial(t, d.addr, root)
		must(t, idle, "CREATE TABLE stay_rows (id INT PRIMARY KEY)")
		type bound struct {
			c                 *mysqltest.RawClient
			ask, want, letsGo string
		}
		var all []*bound
		for _, one := range []struct {
			begin             []string
			ask, want, letsGo string
		}{
			{[]string{"BEGIN", "INSERT INTO stay_rows VALUES (1)"}, "SELECT COUNT(*) FROM stay_rows WHERE id = 1", "1", "COMMIT"},
			{[]string{"START TRANSACTION"}, "SELECT COUNT(*) FROM stay_rows WHERE id = 99", "0", "ROLLBACK"},
			{[]string{"CREATE TEMPORARY TABLE own (a INT)", "INSERT INTO own VALUES (5)"}, "SELECT a FROM own", "5", ""},
			{[]string{"SELECT GET_LOCK('upgrade', 1)"}, "SELECT IS_USED_LOCK('upgrade') IS NOT NULL", "1", ""},
			{[]string{"SET @v = (SELECT 7)"}, "SELECT @v", "7", ""},
		} {
			b := &bound{dial(t, d.addr, root), one.ask, one.want, one.letsGo}
			for _, text := range one.begin {
				must(t, b.c, text)
			}
			all = append(all, b)
		}
		long := dial(t, d.addr, root)
		st := prepare(t, long, "SELECT CONCAT(?, 'x'), 1 + ?")
		if err := long.Send(mysql.ComStmtSendLongData, string(mysql.AppendUint32(nil, st))+"\x00\x00long"); err != nil {
			t.Fatal(err)
		}
		must(t, long, "SELECT 1") // so that it has come
		d.upgrade()
		d.came(1)
		first := d.pids[0]
		for _, b := range all {
			for range 2 {
				if got := value(t, b.c, b.ask); got != b.want {
					t.Errorf("%s: %s, want %s", b.ask, got, b.want)
				}
			}
		}
		must(t, idle, "SELECT 1")
		if n := d.metric("kingshard_sessions_taken_over_total"); n != 1 {
			t.Errorf("%d sessions moved, want the idle one", n)
		}
		moved := 2
		args := "\x00\x01\xfe\x00\x08\x00" + "\x02\x00\x00\x00\x00\x00\x00\x00"
		r, err := long.Command(mysql.ComStmtExecute, string(mysql.AppendUint32(nil, st))+"\x00\x01\x00\x00\x00"+args)
		if err != nil || len(r) < 4 || !strings.Contains(string(slices.Concat(r...)), "longx") {
			t.Errorf("an execution with a long parameter: %q, %v", r, err)
		}
		for _, b := range all {
			if b.letsGo != "" {
				must(t, b.c, b.letsGo)
				moved++
			}
		}
		d.came(moved)
		for _, b := range all {
			if b.letsGo == "" {
				if got := value(t, b.c, b.ask); got != b.want {
					t.Errorf("%s: %s, want %s", b.ask, got, b.want)
				}
				b.c.Close()
			}
		}
		mysqltest.WaitFor(t, "the old process to end", func() bool { return !alive(first) })
		for _, b := range all {
			if b.letsGo != "" {
				if got := value(t, b.c, "SELECT 'here'"); got != "here" {
					t.Errorf("after %s: %s", b.letsGo, got)
				}
			}
		}
	})
}

// A new process that does not start, or that refuses, changes nothing, and the reason is told.
func TestUpgradeRefused(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	server := startScript(t, "n")
	text := oneNode(server.Addr, 4)
	d := startDaemon(t, binary, text)
	admin := dial(t, d.addr, rootClient())
	c := dial(t, d.addr, rootClient())
	script := func(body string) func() {
		return func() {
			if err := os.WriteFile(d.binary+".new", []byte(body), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(d.binary+".new", d.binary); err != nil {
				t.Fatal(err)
			}
		}
	}
	web := "prometheus_addr: 127.0.0.1:0\n"
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, one := range []struct {
		name string
		make func()
		says string
	}{
		{"a faulty configuration", func() { d.configure(text + web + "no_such_key: 1\n") }, "is not valid"},
		{"an address that another program has", func() { d.configure(text + web + "web_addr: " + taken.Addr().String() + "\n") }, "address already in use"},
		{"a program that ends", script("#!/bin/sh\nexit 3\n"), "exit status 3"},
		{"a program that ends well", script("#!/bin/sh\nexit 0\n"), "ended before it took over"},
		{"a program that speaks another language", script("#!/bin/sh\necho nonsense >&3\n"), "malformed frame"},
		{"no program", script("no program\n"), "exec format error"},
		{"no file", func() { _ = os.Remove(d.binary) }, "no such file"},
	} {
		one.make()
		r, err := admin.Query("KS UPGRADE")
		if err != nil || r.Err == nil || !strings.Contains(r.Err.Message, "upgrade refused, this process goes on") || !strings.Contains(r.Err.Message, one.says) {
			t.Fatalf("%s: %v, %v; want %q", one.name, r, err, one.says)
		}
		must(t, c, "SELECT 1")
		must(t, dial(t, d.addr, rootClient()), "SELECT 1")
		events := must(t, admin, "SHOW KS EVENTS WHERE what = 'upgrade'").Rows
		if last := fmt.Sprint(events[len(events)-1]); !strings.Contains(last, one.says) {
			t.Errorf("%s: the last event is %s", one.name, last)
		}
		d.configure(text + web)
		d.install(binary)
	}
	if got := value(t, admin, "KS UPGRADE"); !strings.Contains(got, "process ") {
		t.Errorf("KS UPGRADE: %s", got)
	}
	d.upgraded()
	d.came(2)
	d.onlyLast()
	must(t, c, "SELECT 1")
	events := fmt.Sprint(must(t, admin, "SHOW KS EVENTS").Rows)
	for _, want := range []string{"has handed over", "upgrade done", "sessions came from process"} {
		if !strings.Contains(events, want) {
			t.Errorf("no %q among the events: %s", want, events)
		}
	}
}

// Sessions that moved are listed and can be killed by their ids.
func TestUpgradeThenKill(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	server := startScript(t, "n")
	for _, lane := range []string{"false", "true"} {
		d := startDaemon(t, binary, oneNode(server.Addr, 4, "fast_lane: "+lane))
		c, victim, busy := dial(t, d.addr, rootClient()), dial(t, d.addr, rootClient()), dial(t, d.addr, rootClient())
		d.upgrade()
		d.came(3)
		list := fmt.Sprint(must(t, c, "SHOW PROCESSLIST").Rows)
		sessions := fmt.Sprint(must(t, c, "SHOW KS SESSIONS").Rows)
		for _, one := range []*mysqltest.RawClient{c, victim, busy} {
			if id := fmt.Sprint(one.Greeting.ConnectionID); !strings.Contains(list, id) || !strings.Contains(sessions, id) {
				t.Errorf("%s is not listed: %s, %s", id, list, sessions)
			}
		}
		must(t, c, fmt.Sprintf("KILL %d", victim.Greeting.ConnectionID))
		if _, err := victim.Read(); err == nil {
			t.Error("the victim goes on")
		}
		must(t, busy, "SELECT 1")
		fails(t, c, fmt.Sprintf("KILL %d", victim.Greeting.ConnectionID), mysql.ERNoSuchThread)
	}
}

// prepare prepares a statement and gives its id.
func prepare(t *testing.T, c *mysqltest.RawClient, text string) uint32 {
	t.Helper()
	r, err := c.Command(mysql.ComStmtPrepare, text)
	if err != nil {
		t.Fatal(err)
	}
	var ok mysql.StmtPrepareOK
	if err := ok.Decode(r[0], c.Conn.Capabilities); err != nil {
		t.Fatalf("%s: %v: %q", text, err, r[0])
	}
	return ok.StatementID
}

// execute runs a statement of two numbers and shows its rows.
func execute(t *testing.T, c *mysqltest.RawClient, id uint32, types bool) string {
	t.Helper()
	body := string(mysql.AppendUint32(nil, id)) + "\x00\x01\x00\x00\x00" + "\x00"
	if types {
		body += "\x01\x08\x00\x08\x00"
	} else {
		body += "\x00"
	}
	packets, err := c.Command(mysql.ComStmtExecute, body+"\x09\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00")
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Decode(packets, true)
	if err != nil || r.Err != nil {
		t.Fatalf("%v, %v", err, r)
	}
	return fmt.Sprintf("%q", r.Rows)
}

// answerText is the answer to a query, or the error.
func answerText(c *mysqltest.RawClient, text string) string {
	r, err := c.Query(text)
	switch {
	case err != nil:
		return err.Error()
	case r.Err != nil:
		return r.Err.Error()
	}
	return fmt.Sprintf("%q %v", r.Rows, r.Names())
}
