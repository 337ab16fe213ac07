package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// settingServer knows the database shop and tells the value of sql_mode and sql_select_limit; it refuses what is set to 'bad'.
func settingServer(t *testing.T) *mysqltest.ScriptServer {
	t.Helper()
	return mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		text := string(payload)
		switch {
		case cmd == mysql.ComInitDB && text != "shop":
			c.Error(mysql.ERBadDB, "Unknown database '%s'", text)
		case strings.Contains(text, "'bad'"):
			c.Error(mysql.ERWrongValueForVar, "no")
		case strings.HasPrefix(text, "SELECT @@session."):
			names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "SELECT "), " LIMIT 1"), ",")
			values := make([]any, len(names))
			for k, name := range names {
				values[k] = map[string]string{"@@session.sql_mode": "ANSI_QUOTES", "@@session.autocommit": "0"}[name]
				if values[k] == "" {
					values[k] = "7"
				}
			}
			c.Rows(names, values)
		default:
			transactions(c, cmd, payload)
		}
	}})
}

func settingsApart(t *testing.T) (*apart, settings, *mysqltest.ScriptServer) {
	t.Helper()
	server := settingServer(t)
	a := newApart(t, "app", server)
	xs := a.withExchanges()
	return a, settings{a.client, xs.leases, xs.routing, xs}, server
}

// What SET sets is judged by a server, kept, and brought to every other connection; what cannot be kept keeps the connection.
func TestSettingsSet(t *testing.T) {
	for _, tt := range []struct {
		text  string
		told  string
		name  string // of a variable that is kept
		value string
		pins  txn.Pins
	}{
		{"SET sql_select_limit = 3 + 4", "ok 0", "sql_select_limit", "7", 0},
		{"SET sql_mode = 'ANSI_QUOTES'", "ok 0", "sql_mode", "'ANSI_QUOTES'", 0},
		{"SET sql_mode = 'bad'", "error 1231", "sql_mode", "''", 0},
		{"SET sql_select_limit = 1, sql_mode = 'bad'", "error 1231", "", "", 1 << txn.PinVariable},
		{"SET @a = 5", "ok 0", "", "", 0},
		{"SET @a = (SELECT MAX(a) FROM t)", "ok 0", "", "", 1 << txn.PinUserVariable},
		{"SET @a = 'bad'", "error 1231", "", "", 0},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a, se, server := settingsApart(t)
			err := se.set(a.says(tt.text))
			if got := a.hears(t, err); got != tt.told || a.txn.Pins != tt.pins || a.txn.Holding() != (tt.pins != 0) {
				t.Errorf("hears %s, pins %v, holds: %v", got, a.txn.Pins, a.txn.Holding())
			}
			if tt.name == "" {
				return
			}
			if got := a.state.Value(tt.name); got != tt.value {
				t.Errorf("%s is %q, want %q", tt.name, got, tt.value)
			}
			if tt.told != "ok 0" {
				return
			}
			// Another connection is told.
			first := a.lend(t, "n1")
			defer first.Put()
			server.Forget()
			second, err := a.nodes["n1"].Primary.Get(backend.Intern("", 0, nil), time.Now().Add(5*time.Second), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer second.Taint()
			if err := second.Apply(a.state.Setting()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(server.Queries(), "; "); !strings.Contains(got, tt.name+"="+tt.value) {
				t.Errorf("another connection is told %s", got)
			}
		})
	}
}

// SET sql_mode decides how the next text is read, SET autocommit what a statement begins.
func TestSettingsModes(t *testing.T) {
	a, se, _ := settingsApart(t)
	if got := a.hears(t, se.set(a.says("SET sql_mode = 'ANSI_QUOTES'"))); got != "ok 0" || !a.mode().ANSIQuotes {
		t.Errorf("hears %s; %+v", got, a.mode())
	}
	if got := a.hears(t, se.set(a.says("SET autocommit = 0"))); got != "ok 0" || a.state.Autocommit || a.status().Has(mysql.ServerStatusAutocommit) {
		t.Errorf("hears %s; autocommit is on: %v", got, a.state.Autocommit)
	}
}

// SET TRANSACTION is kept for the statement that begins the next transaction, and refused within one.
func TestSettingsSetTransaction(t *testing.T) {
	a, se, server := settingsApart(t)
	const text = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
	if got := a.hears(t, se.set(a.says(text))); got != "ok 0" || !a.txn.Next.IsSet() || len(server.Commands()) != 0 {
		t.Fatalf("hears %s, kept: %v, the server got %s", got, a.txn.Next.IsSet(), queriesOf(server))
	}
	a.txn.Begin = "BEGIN"
	if got := a.hears(t, se.set(a.says(text))); got != "error 1568" {
		t.Errorf("behind BEGIN it hears %s", got)
	}
	_, err := se.exchanges.forward(a.says("UPDATE t SET a = 1"))
	if got := a.hears(t, err); got != "ok 0" || a.txn.Next.IsSet() {
		t.Errorf("hears %s, still to come: %v", got, a.txn.Next.IsSet())
	}
	if got := queriesOf(server); !strings.HasSuffix(got, text+"; BEGIN; UPDATE t SET a = 1") {
		t.Errorf("the server got %s", got)
	}
}

// BEGIN goes to a server with the first statement behind it only, and COMMIT goes to none without a transaction there.
func TestSettingsTransaction(t *testing.T) {
	for _, tt := range []struct {
		text    string
		begin   string // before
		handled bool
		told    string
		after   string
	}{
		{"BEGIN", "", true, "ok 0", "BEGIN"},
		{"START TRANSACTION READ ONLY", "", true, "ok 0", "START TRANSACTION READ ONLY"},
		{"START TRANSACTION WITH CONSISTENT SNAPSHOT", "", false, "", ""},
		{"COMMIT", "BEGIN", true, "ok 0", ""},
		{"ROLLBACK", "", true, "ok 0", ""},
		{"COMMIT AND CHAIN", "", true, "ok 0", txn.SQLBegin},
		{"COMMIT RELEASE", "BEGIN", true, "ok 0 end quit", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a, se, server := settingsApart(t)
			a.txn.Begin = tt.begin
			handled, err := se.transaction(a.says(tt.text))
			if got := a.hears(t, err); got != tt.told || handled != tt.handled || a.txn.Begin != tt.after || len(server.Commands()) != 0 {
				t.Errorf("handled %v, hears %s, to begin %q, the server got %s", handled, got, a.txn.Begin, queriesOf(server))
			}
		})
	}
	// On a server it ends there.
	a, se, server := settingsApart(t)
	a.txn.Begin = "BEGIN"
	_, err := se.exchanges.forward(a.says("UPDATE t SET a = 1"))
	a.hears(t, err)
	if handled, err := se.transaction(a.says("COMMIT")); handled || err != nil {
		t.Errorf("handled: %v, %v", handled, err)
	}
	_, err = se.transaction(a.says("ROLLBACK RELEASE"))
	if got := a.hears(t, err); got != "ok 0 end quit" || !strings.HasSuffix(queriesOf(server), txn.SQLRollback) {
		t.Errorf("hears %s, the server got %s", got, queriesOf(server))
	}
}

// A database is the current one when a server has said that there is one.
func TestSettingsUse(t *testing.T) {
	a, se, _ := settingsApart(t)
	for _, tt := range []struct{ db, told, after string }{
		{"shop", "", "shop"}, {"nowhere", "error 1049", "shop"}, {"", "error 1046", "shop"},
	} {
		a.says("USE x")
		if got := a.hears(t, se.useDB(tt.db)); got != tt.told || a.state.DB() != tt.after || a.inUse("n1") != 0 {
			t.Errorf("%q: hears %s, in %q, %d in use", tt.db, got, a.state.DB(), a.inUse("n1"))
		}
	}
	// In a transaction the connection goes there.
	a.txn.Begin = "BEGIN"
	_, err := se.exchanges.forward(a.says("UPDATE t SET a = 1"))
	a.hears(t, err)
	a.says("USE nowhere")
	if got := a.hears(t, se.useDB("nowhere")); got != "error 1049" || !a.txn.Holding() || a.state.DB() != "shop" {
		t.Errorf("in a transaction: hears %s, holds %v, in %q", got, a.txn.Holding(), a.state.DB())
	}
}

// SHOW WARNINGS is answered from what the session knows; a form that it cannot read is refused.
func TestSettingsShow(t *testing.T) {
	a, se, server := settingsApart(t)
	a.begin(mysql.ComQuery, "")
	a.hears(t, mysql.NewSQLError(mysql.ERNoDB, "No database selected"))
	for _, tt := range []struct {
		text    string
		handled bool
		told    string
	}{
		{"SHOW WARNINGS", true, "Error 1046 No database selected"},
		{"SHOW ERRORS", true, "Error 1046 No database selected"},
		{"SHOW COUNT(*) ERRORS", true, "1"},
		{"SHOW WARNINGS LIMIT 1, 1", true, ""},
		{"SHOW WARNINGS LIMIT 1, 1, 1", true, "error 9006"},
	} {
		q := a.says(tt.text)
		if tt.handled && q.info.Class != sqltext.ShowWarnings && q.info.Class != sqltext.ShowErrors {
			t.Fatalf("%s is a %v", tt.text, q.info.Class)
		}
		handled, err := se.show(q)
		if err := a.settleQuietly(err); handled != tt.handled || a.told(t)+err != tt.told || len(server.Commands()) != 0 {
			t.Errorf("%s: handled %v, %s", tt.text, handled, err)
		}
	}
}

// settleQuietly words an error, and leaves the diagnostics as they are.
func (a *apart) settleQuietly(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("error %d", sqlCode(err))
}

// The state of a session is anew behind a login, and as the servers are by default.
func TestSettingsInitState(t *testing.T) {
	a, se, _ := settingsApart(t)
	a.state.SetDB("shop")
	a.txn.Begin, a.textStmts = "BEGIN", map[string]textStmt{"p": {}}
	se.initState(utf8mb4General)
	if a.state.DB() != "" || a.txn.Begin != "" || a.textStmts != nil || !a.state.Resolved() || !a.state.Autocommit {
		t.Errorf("in %q, to begin %q, prepared %v, resolved %v", a.state.DB(), a.txn.Begin, a.textStmts, a.state.Resolved())
	}
	a.schema = &Schema{} // of the admin port
	if se.initState(utf8mb4General); a.state.Resolved() {
		t.Error("the admin port asks a server")
	}
}
