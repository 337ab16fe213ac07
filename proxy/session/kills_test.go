package session

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// killsApart are three clients: two of a user, and an administrator's.
func killsApart(t *testing.T) (of func(a *apart) kills, one, other, root *apart, server *mysqltest.ScriptServer) {
	t.Helper()
	server = mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
		if string(payload) == "SELECT CAST((NULL) AS SIGNED)" {
			c.Rows([]string{"id"}, []any{nil})
			return
		}
		if strings.HasPrefix(string(payload), "SELECT") {
			c.Rows([]string{"id"}, []any{10002})
			return
		}
		c.OK()
	}})
	shared := newShared(t, partsConfig(server))
	of = func(a *apart) kills {
		ls := a.withLeases()
		return kills{a.client, ls, a.withRouting()}
	}
	return of, apartOf(t, "app", shared), apartOf(t, "app", shared), apartOf(t, "root", shared), server
}

// Who may end whose statement, or session: one's own user's, and with the right process anybody's.
func TestKills(t *testing.T) {
	for _, tt := range []struct {
		name   string
		by     func(one, other, root *apart) (killer, victim *apart)
		query  bool
		told   string
		killed bool // the victim is told to end something
	}{
		{"another session of the user", func(one, other, _ *apart) (*apart, *apart) { return one, other }, false, "ok 0", true},
		{"another statement of the user", func(one, other, _ *apart) (*apart, *apart) { return one, other }, true, "ok 0", true},
		{"another user's", func(one, _, root *apart) (*apart, *apart) { return one, root }, false, "error 1095", false},
		{"another user's, with the right", func(one, _, root *apart) (*apart, *apart) { return root, one }, false, "ok 0", true},
		{"itself", func(one, _, _ *apart) (*apart, *apart) { return one, one }, false, "error 1317 end killed", false},
		{"its own statement", func(one, _, _ *apart) (*apart, *apart) { return one, one }, true, "error 1317", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			of, one, other, root, _ := killsApart(t)
			killer, victim := tt.by(one, other, root)
			if victim != killer {
				victim.says("SELECT SLEEP(10)")
			}
			killer.says("KILL x")
			if got := killer.hears(t, of(killer).kill(uint64(victim.id), tt.query)); got != tt.told {
				t.Errorf("hears %s, want %s", got, tt.told)
			}
			if victim.entry.IsCancelled() != tt.killed || victim.far.gone() != (tt.killed && !tt.query) {
				t.Errorf("the statement is to end: %v, the session has ended: %v", victim.entry.IsCancelled(), victim.far.gone())
			}
		})
	}
	of, one, _, root, _ := killsApart(t)
	for _, id := range []uint64{0, 99, 1<<32 + 1, 1<<32 + uint64(root.id)} {
		one.says("KILL x")
		if got := one.hears(t, of(one).kill(id, false)); got != "error 1094" {
			t.Errorf("of %d: hears %s", id, got)
		}
	}
}

// KILL comes as a statement, with an expression that a server computes, and as a command.
func TestKillStatements(t *testing.T) {
	for _, tt := range []struct {
		text    string
		told    string
		killed  bool
		session bool // and not the statement only
		asked   string
	}{
		{"KILL 10002", "ok 0", true, true, ""},
		{"KILL CONNECTION 10002", "ok 0", true, true, ""},
		{"KILL QUERY 10002", "ok 0", true, false, ""},
		{"KILL QUERY 10001 + 1", "ok 0", true, false, "SELECT CAST((10001 + 1) AS SIGNED)"},
		{"KILL NULL", "error 1094", false, false, "SELECT CAST((NULL) AS SIGNED)"},
		{"KILL a b", "error 9006", false, false, ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			of, one, other, _, server := killsApart(t)
			if other.id != 10002 {
				t.Fatalf("id %d", other.id)
			}
			other.says("SELECT SLEEP(10)")
			if got := one.hears(t, of(one).killStatement(one.says(tt.text))); got != tt.told {
				t.Errorf("hears %s", got)
			}
			if other.entry.IsCancelled() != tt.killed || other.far.gone() != tt.session || queriesOf(server) != tt.asked || one.inUse("n1") != 0 {
				t.Errorf("killed %v, closed %v, the server was asked %q, %d in use", other.entry.IsCancelled(), other.far.gone(), queriesOf(server), one.inUse("n1"))
			}
		})
	}
	of, one, other, _, _ := killsApart(t)
	one.begin(mysql.ComProcessKill, "")
	if got := one.hears(t, of(one).comProcessKill(idOf(other.id))); got != "ok 0" || !other.far.gone() {
		t.Errorf("the command: hears %s", got)
	}
	one.begin(mysql.ComProcessKill, "")
	if got := one.hears(t, of(one).comProcessKill([]byte{1})); got != "error 1835" {
		t.Errorf("a short command: hears %s", got)
	}
}

// The process list has the clients of the user, or of all users.
func TestKillsProcesslist(t *testing.T) {
	_, one, other, root, _ := killsApart(t)
	long := "SELECT " + string(make([]byte, 200))
	other.says(long)
	for who, rows := range map[*apart]int{one: 2, root: 3} {
		for _, full := range []bool{false, true} {
			who.begin(mysql.ComQuery, "SHOW PROCESSLIST")
			who.writeProcesslist(full)
			_ = who.conn.Flush()
			packets := (&sink{kept: keptBytes{bytes: who.far.bytes}}).packets()
			who.far.bytes = nil
			if len(packets) != 1+8+rows+1 {
				t.Errorf("%s: %d packets", who.entry.Name(), len(packets))
			}
			longest := 0
			for _, p := range packets[9:] {
				longest = max(longest, len(p))
			}
			if (longest > 200) != full {
				t.Errorf("full %v: a row of %d bytes", full, longest)
			}
			who.finishCommand()
		}
	}
}
