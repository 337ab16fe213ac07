package session

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

// What the proxy's own OK packets say follows from what the client has set.
func TestClientStatus(t *testing.T) {
	const auto, inTrans, more = mysql.ServerStatusAutocommit, mysql.ServerStatusInTrans, mysql.ServerMoreResultsExists
	for _, tt := range []struct {
		name string
		set  func(c *client)
		want mysql.Status
	}{
		{"as after a login", func(*client) {}, auto},
		{"autocommit is off", func(c *client) { c.state.Autocommit = false }, 0},
		{"behind BEGIN", func(c *client) { c.txn.Begin = "BEGIN" }, auto | inTrans},
		{"in a transaction of the proxy's own", func(c *client) { c.txn.Begin, c.task().own = "BEGIN", true }, auto},
		{"with a task that owns no transaction", func(c *client) { c.txn.Begin = "BEGIN"; c.task() }, auto | inTrans},
		{"a further statement follows", func(c *client) { c.more = true }, auto | more},
		{"backslashes are plain", func(c *client) { c.state.Mode.NoBackslashEscapes = true }, auto | mysql.ServerStatusNoBackslashEscapes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newApart(t, "app")
			tt.set(a.client)
			if got := a.status(); got != tt.want {
				t.Errorf("%b, want %b", got, tt.want)
			}
			a.state.Diagnostics.RowCount = 7
			a.writeOK()
			if err := a.conn.Flush(); err != nil {
				t.Fatal(err)
			}
			var ok mysql.OKPacket
			if err := ok.Decode(a.far.bytes[4:], a.conn.Capabilities); err != nil || ok.Status != tt.want || a.state.Diagnostics.RowCount != 0 {
				t.Errorf("an OK with %b and ROW_COUNT() %d, %v", ok.Status, a.state.Diagnostics.RowCount, err)
			}
		})
	}
}

// A server's OK becomes the client's: a transaction that only reads elsewhere is one, and what follows in the text is announced.
func TestClientPatchesOK(t *testing.T) {
	server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: transactions})
	a := newApart(t, "app", server)
	const inTrans, more = mysql.ServerStatusInTrans, mysql.ServerMoreResultsExists
	ok := mysql.OKPacket{Status: mysql.ServerStatusAutocommit}
	a.patchOK(&ok)
	if ok.Status != mysql.ServerStatusAutocommit {
		t.Errorf("%b of what needs no change", ok.Status)
	}
	a.more = true
	ok = mysql.OKPacket{Status: inTrans}
	if a.patchOK(&ok); ok.Status != inTrans|more || a.state.ServerStatus != inTrans {
		t.Errorf("%b, and the server's %b", ok.Status, a.state.ServerStatus)
	}
	a.more = false
	// With autocommit off the transaction has begun on a node that was only read.
	a.state.Autocommit = false
	p := a.lend(t, "n1")
	a.txn.Pin(txn.PinAutocommit)
	a.txn.Keep(p)
	a.txn.Release(p, true, true, a.run)
	a.txn.StepAside("n2", nil)
	p.Conn.Status |= inTrans
	if ok = (mysql.OKPacket{}); !a.txn.HasOthers() || !a.txn.ReadsInTransaction(false) {
		t.Fatal("the connection is not beside")
	}
	if a.patchOK(&ok); ok.Status != inTrans {
		t.Errorf("%b, with a transaction on another node", ok.Status)
	}
}

// A command is shown as long as it runs, and nothing of it is kept.
func TestClientCommand(t *testing.T) {
	a := newApart(t, "app")
	a.passed = true
	if !a.begin(mysql.ComQuery, "SELECT 1") || a.passed {
		t.Fatal("it did not begin anew")
	}
	if row := a.entry.Row(); row.Command != "Query" || row.Info != "SELECT 1" {
		t.Errorf("shows %+v", row)
	}
	a.task().query.text = "SELECT 1"
	a.state.SetDB("d")
	a.writeOK()
	if end := a.conclude(mysql.ComQuery, nil); end != nil || a.tasked != nil || a.told(t) != "ok 0" {
		t.Errorf("ends with %v, keeps a task: %v", end, a.tasked != nil)
	}
	if row := a.entry.Row(); row.Command != "Sleep" || row.Info != "" || row.DB != "d" {
		t.Errorf("shows %+v", row)
	}
	if n := a.shared.Stats.Totals().Commands; len(n) == 0 {
		t.Error("nothing was counted")
	}

	// A proxy that shuts down waits for transactions.
	a.shared.Draining.Store(true)
	for begin, want := range map[string]string{"": "drained", "BEGIN": ""} {
		a.begin(mysql.ComQuery, "SELECT 1")
		a.txn.Begin = begin
		end := a.conclude(mysql.ComQuery, nil)
		if (end != nil) != (want != "") || end != nil && end.reason != process.EndDrained {
			t.Errorf("behind %q: %v", begin, end)
		}
	}
	a.txn.Begin = ""
	a.shared.Draining.Store(false)
	a.begin(mysql.ComQuery, "SELECT 1")
	if end := a.conclude(mysql.ComQuery, errQuit); end != errQuit {
		t.Errorf("another end: %v", end)
	}

	// One that somebody has closed runs nothing any more; what it was to hear is not sent.
	a.entry.Interrupt(true)
	if a.begin(mysql.ComQuery, "SELECT 2") {
		t.Error("a statement of a session that was killed began")
	}
	a.writeOK()
	if end := a.conclude(mysql.ComQuery, nil); end == nil || end.reason != process.EndClientGone {
		t.Errorf("ends with %v", end)
	}
}

// What a part returns becomes an error that the client hears, the end of the session, or nothing.
func TestClientSettle(t *testing.T) {
	lost := &endError{process.EndBackendLost, io.EOF}
	for _, tt := range []struct {
		name   string
		err    error
		told   string
		reason string
	}{
		{"done", nil, "", ""},
		{"an error for the client", mysql.NewSQLError(mysql.ERNoDB, "No database selected"), "error 1046", ""},
		{"a wrapped one", fmt.Errorf("somewhere: %w", mysql.NewSQLError(mysql.ERNoDB, "No database selected")), "error 1046", ""},
		{"an end", lost, "", "backend_lost"},
		{"a wrapped one", fmt.Errorf("somewhere: %w", lost), "", "backend_lost"},
		{"quit", errQuit, "", "quit"},
		{"the client is gone", &mysql.ConnError{Side: mysql.ClientSide, Op: "write", Err: io.EOF}, "", "client_gone"},
		{"nonsense of the client's", errors.New("nonsense"), "", "protocol"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newApart(t, "app")
			a.begin(mysql.ComQuery, "SELECT 1")
			a.txn.LastOnHeld = true
			end := a.settle(tt.err)
			reason := ""
			if end != nil {
				reason = end.reason.String()
			}
			if got := a.told(t); got != tt.told || reason != tt.reason {
				t.Errorf("hears %q and ends by %q, want %q and %q", got, reason, tt.told, tt.reason)
			}
			heard := tt.told != ""
			if a.txn.LastOnHeld == heard || (a.state.Diagnostics.ErrorCount > 0) != heard || (a.observed.ErrorCode != 0) != heard {
				t.Errorf("diagnostics on a server: %v, errors %d, code %d", a.txn.LastOnHeld, a.state.Diagnostics.ErrorCount, a.observed.ErrorCode)
			}
		})
	}
}

// The proxy's own rows come in the protocol of the command, in the form that the client asked for at its login.
func TestClientWriteTable(t *testing.T) {
	names, types := []string{"n", "s"}, []mysql.ColumnType{mysql.TypeLongLong, mysql.TypeVarString}
	rows := [][]string{{"258", "abc"}, {nullText, ""}}
	for _, tt := range []struct {
		name    string
		command mysql.Command
		caps    mysql.Capability
		first   string   // packet
		rows    []string // packets
		packets int
	}{
		{"text", mysql.ComQuery, mysql.ClientDeprecateEOF, "\x02", []string{"\x03258\x03abc", "\xfb\x00"}, 6},
		{"text with EOF", mysql.ComQuery, 0, "\x02", []string{"\x03258\x03abc", "\xfb\x00"}, 7},
		{"text, metadata optional", mysql.ComQuery, mysql.ClientDeprecateEOF | mysql.ClientOptionalResultsetMetadata, "\x02\x01", []string{"\x03258\x03abc", "\xfb\x00"}, 6},
		{"binary", mysql.ComStmtExecute, mysql.ClientDeprecateEOF, "\x02", []string{"\x00\x00\x02\x01\x00\x00\x00\x00\x00\x00\x03abc", "\x00\x04\x00"}, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newApart(t, "app")
			a.conn.Capabilities = mysql.ClientProtocol41 | mysql.ClientTransactions | tt.caps
			a.begin(tt.command, "")
			a.writeRows(names, types, rows)
			if err := a.conn.Flush(); err != nil {
				t.Fatal(err)
			}
			packets := (&sink{kept: keptBytes{bytes: a.far.bytes}}).packets()
			if len(packets) != tt.packets || string(packets[0]) != tt.first {
				t.Fatalf("%d packets, the first is %q", len(packets), packets[0])
			}
			for k, want := range tt.rows {
				if got := string(packets[len(packets)-3+k]); got != want {
					t.Errorf("row %d is %q, want %q", k, got, want)
				}
			}
			for k, null := range []bool{true, false} {
				var def mysql.ColumnDefinition41
				if err := def.Decode(packets[1+k]); err != nil || def.Name != names[k] || def.Type != types[k] || (def.Flags&mysql.NotNullFlag == 0) != null {
					t.Errorf("column %d is %+v, %v", k, def, err)
				}
			}
			var end mysql.OKPacket
			if err := end.DecodeEnd(packets[len(packets)-1], a.conn.Capabilities); err != nil || end.Status != mysql.ServerStatusAutocommit {
				t.Errorf("it ends with %+v, %v", end, err)
			}
		})
	}
}
