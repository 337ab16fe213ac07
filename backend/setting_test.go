package backend

import (
	"reflect"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"kingshard/mysql"
)

func TestInternGivesOnePointerForOneState(t *testing.T) {
	a := Intern("db", mysql.ClientFoundRows, []Var{{"b", "2"}, {"a", "1"}})
	b := Intern("db", mysql.ClientFoundRows|mysql.ClientProtocol41, []Var{{"a", "1"}, {"b", "2"}})
	if a != b {
		t.Error("equal states are two settings")
	}
	for _, other := range []*Setting{
		Intern("db2", mysql.ClientFoundRows, a.Vars),
		Intern("db", 0, a.Vars),
		Intern("db", mysql.ClientFoundRows, []Var{{"a", "1"}}),
		Intern("db", mysql.ClientFoundRows, []Var{{"a", "1"}, {"b", "3"}}),
	} {
		if other == a {
			t.Errorf("%q and %q are one setting", other.key, a.key)
		}
	}
	text := []byte("kept")
	c := Intern(unsafe.String(&text[0], len(text)), 0, nil)
	copy(text, "lost")
	if c.DB != "kept" {
		t.Errorf("a setting's database changed with the text that it came from: %q", c.DB)
	}
	if v, ok := a.Value("b"); !ok || v != "2" {
		t.Errorf("b is %q, %v", v, ok)
	}
	runtime.KeepAlive(b)
}

func TestInternForgetsWhatNobodyHolds(t *testing.T) {
	known := func(key string) bool {
		interned.Lock()
		defer interned.Unlock()
		_, there := interned.byKey[key]
		return there
	}
	held := Intern("held", 0, nil)
	key := Intern("forgotten", 0, nil).key
	for n := 0; known(key); n++ {
		if n == 1000 {
			t.Fatal("a setting that nobody holds is kept for ever")
		}
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	if !known(held.key) || Intern("held", 0, nil) != held {
		t.Error("a setting that is held was forgotten")
	}
	runtime.KeepAlive(held)
}

func TestSettingDiff(t *testing.T) {
	mysql8 := parseVersion("8.4.0")
	maria := parseVersion("5.5.5-10.11.6-MariaDB-log")
	from := Intern("a", 0, []Var{{"autocommit", "1"}, {"sql_mode", "'ANSI'"}, {"@x", "5"}, {"transaction_isolation", "'SERIALIZABLE'"}})
	for _, c := range []struct {
		name       string
		have, want *Setting
		info       *Info
		sql        []string
	}{
		{"same", from, from, mysql8, nil},
		{"from fresh", nil, from, mysql8, []string{"SET autocommit=1,sql_mode='ANSI',transaction_isolation='SERIALIZABLE',session_track_state_change=1", "SET @x=5"}},
		{"from fresh, old name", nil, from, maria, []string{"SET autocommit=1,sql_mode='ANSI',tx_isolation='SERIALIZABLE',session_track_state_change=1", "SET @x=5"}},
		{"from what DEFAULT does not change", Intern("a", 0, []Var{{"foreign_key_checks", "0"}, {"unique_checks", "0"}}), Intern("a", 0, nil), mysql8,
			[]string{"SET foreign_key_checks=@@global.foreign_key_checks,unique_checks=@@global.unique_checks"}},
		{"to defaults", from, Intern("a", 0, []Var{{"autocommit", "1"}}), mysql8, []string{"SET sql_mode=DEFAULT,transaction_isolation=DEFAULT", "SET @x=NULL"}},
		{"names", from, Intern("a", 0, append([]Var{{"character_set_client", "'latin1'"}, {"character_set_results", "'latin1'"}, {"collation_connection", "'latin1_bin'"}}, from.Vars...)), mysql8,
			[]string{"SET NAMES 'latin1' COLLATE 'latin1_bin'"}},
		{"results as they are", from, Intern("a", 0, append([]Var{{"character_set_client", "'latin1'"}, {"character_set_results", "NULL"}, {"collation_connection", "'latin1_bin'"}}, from.Vars...)), mysql8,
			[]string{"SET character_set_client='latin1',character_set_results=NULL,collation_connection='latin1_bin'"}},
		{"one changed", from, Intern("b", 0, []Var{{"autocommit", "0"}, {"sql_mode", "'ANSI'"}, {"@x", "5"}, {"transaction_isolation", "'SERIALIZABLE'"}}), mysql8, []string{"SET autocommit=0"}},
	} {
		if got := c.have.diff(c.want, c.info); !reflect.DeepEqual(got, c.sql) {
			t.Errorf("%s: %q, want %q", c.name, got, c.sql)
		}
	}
}

// What a transaction goes by, and the database that only a new login takes away, are the connection's own.
func TestSettingBeside(t *testing.T) {
	current := Intern("a", 0, []Var{{"autocommit", "0"}, {"sql_mode", "''"}, {"transaction_isolation", "'SERIALIZABLE'"}})
	for _, c := range []struct {
		of, want *Setting
	}{
		{current, current},
		{nil, nil},
		{Intern("", 0, []Var{{"autocommit", "1"}, {"@x", "5"}, {"sql_log_bin", "0"}}), Intern("a", 0, []Var{{"autocommit", "0"}, {"@x", "5"}, {"transaction_isolation", "'SERIALIZABLE'"}})},
		{Intern("b", 0, []Var{{"sql_mode", "'ANSI'"}}), Intern("b", 0, []Var{{"autocommit", "0"}, {"sql_mode", "'ANSI'"}, {"transaction_isolation", "'SERIALIZABLE'"}})},
	} {
		if got := c.of.Beside(current); got != c.want {
			t.Errorf("%+v beside %+v: %+v, want %+v", c.of, current, got, c.want)
		}
	}
}

// A connection that alone has the values of user variables goes on having them.
func TestSettingWithUserVariables(t *testing.T) {
	of := Intern("a", 0, []Var{{"@x", "5"}, {"@y", "6"}, {"autocommit", "0"}})
	for _, c := range []struct{ s, of, want *Setting }{
		{Intern("b", mysql.ClientFoundRows, []Var{{"@x", "1"}, {"@z", "2"}, {"sql_mode", "''"}}), of, Intern("b", mysql.ClientFoundRows, []Var{{"@x", "5"}, {"@y", "6"}, {"sql_mode", "''"}})},
		{of, nil, Intern("a", 0, []Var{{"autocommit", "0"}})},
		{nil, of, Intern("", 0, []Var{{"@x", "5"}, {"@y", "6"}})},
		{of, of, of},
	} {
		if got := c.s.WithUserVariables(c.of); got != c.want {
			t.Errorf("%+v with those of %+v: %+v, want %+v", c.s, c.of, got, c.want)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for _, c := range []struct {
		text   string
		maria  bool
		number int
		reset  bool
	}{
		{"5.6.14-log", false, 50614, false},
		{"5.7.22", false, 50722, true},
		{"8.4.0", false, 80400, true},
		{"9.7.4-2", false, 90704, true},
		{"5.5.5-10.11.19-MariaDB-0+deb12u1-log", true, 101119, true},
		{"11.4.2-MariaDB", true, 110402, true},
		{"10.1.48-MariaDB", true, 100148, false},
		{"strange", false, 0, false},
	} {
		i := parseVersion(c.text)
		if i.MariaDB != c.maria || i.Number != c.number || i.ResetConnection != c.reset {
			t.Errorf("%s: %+v", c.text, i)
		}
	}
}
