package state

import (
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// Equal states have one setting, which is made once: no statement allocates for it.
func TestSettingIsInterned(t *testing.T) {
	a, b := resolved(mysql84), resolved(mysql84)
	a.SetDB("d")
	a.Set("time_zone", "'+01:00'")
	b.Set("time_zone", "'+01:00'")
	b.SetDB("d")
	setting := a.Setting()
	if b.Setting() != setting {
		t.Error("equal states have two settings")
	}
	if setting.DB != "d" || setting != a.SettingIn("d") || a.SettingIn("e").DB != "e" || a.DB() != "d" {
		t.Errorf("%+v", setting)
	}
	if n := testing.AllocsPerRun(100, func() {
		if a.Setting() != setting {
			t.Fatal("another setting")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if a.Set("time_zone", "'+01:00'"); a.Setting() != setting {
		t.Error("what is set once more changes the setting")
	}
	if a.Unset("time_zone"); a.Setting() == setting || a.Value("time_zone") != "" {
		t.Error("a variable is forgotten, and the setting stays")
	}
	if v, ok := setting.Value("time_zone"); !ok || v != "'+01:00'" {
		t.Error("the setting that others have has changed")
	}
	if b.Set("autocommit", "0"); b.Setting() == setting {
		t.Error("a variable has another value, and the setting stays")
	}
	if v, _ := setting.Value("autocommit"); v != "1" {
		t.Error("the setting that others have has changed")
	}
}

// The texts of a state are its own: those it was given are of a buffer that is used again.
func TestTextsAreCopied(t *testing.T) {
	st := resolved(mysql84)
	buffer := []byte("xyz")
	text := string(buffer)
	st.SetDB(text[:1])
	st.Set(text[1:2], text[2:])
	if st.DB() != "x" || st.Value("y") != "z" {
		t.Errorf("%q %q", st.DB(), st.Value("y"))
	}
}

// The handshake's collation becomes what SET NAMES would set, once, and the server's own where it is not known. Every server is to have the
// default node's sql_mode.
func TestResolve(t *testing.T) {
	for id, want := range map[uint16]string{8: "latin1 latin1_swedish_ci", 28: "gbk gbk_chinese_ci", 255: "utf8mb4 utf8mb4_0900_ai_ci", 9999: "utf8mb4 utf8mb4_0900_ai_ci"} {
		st := New(id, mysql.ClientFoundRows|mysql.ClientSSL)
		if st.Resolved() {
			t.Error("resolved without a server")
		}
		st.Resolve(&mysql84)
		charset, collation, _ := strings.Cut(want, " ")
		if !st.Resolved() || st.Collation() != id || st.Value("character_set_client") != "'"+charset+"'" || st.Value("character_set_results") != "'"+charset+"'" ||
			st.Value("collation_connection") != "'"+collation+"'" || st.Value("sql_mode") != "'STRICT_TRANS_TABLES'" || st.Value("autocommit") != "1" {
			t.Errorf("%d: %+v", id, st)
		}
		if st.Setting().Flags != mysql.ClientFoundRows {
			t.Errorf("flags %v", st.Setting().Flags)
		}
		if st.Resolve(&maria1011); st.Mode.MariaDB {
			t.Error("resolved once more")
		}
	}
}

// sql_mode, the character set and the version say how texts are read.
func TestReadMode(t *testing.T) {
	for _, c := range []struct {
		sqlMode, charset string
		info             backend.Info
		want             sqltext.Mode
		strict           bool
	}{
		{"", "utf8mb4", mysql84, sqltext.Mode{ServerVersion: 80400}, false},
		{"STRICT_ALL_TABLES", "gbk", mysql84, sqltext.Mode{ServerVersion: 80400, Charset: sqltext.GBK}, true},
		{"traditional,ansi_quotes", "latin1", mysql84, sqltext.Mode{ServerVersion: 80400, Charset: sqltext.SingleByte, ANSIQuotes: true}, true},
		{"ANSI", "cp932", mysql84, sqltext.Mode{ServerVersion: 80400, Charset: sqltext.SJIS, ANSIQuotes: true, PipesAsConcat: true, IgnoreSpace: true}, false},
		{"ORACLE", "big5", maria1011, sqltext.Mode{MariaDB: true, ServerVersion: 101100, Charset: sqltext.Big5, ANSIQuotes: true, PipesAsConcat: true, IgnoreSpace: true}, false},
		{"NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,PIPES_AS_CONCAT,IGNORE_SPACE,STRICT_TRANS_TABLES", "gb18030", maria1011, sqltext.Mode{MariaDB: true, ServerVersion: 101100,
			Charset: sqltext.GB18030, NoBackslashEscapes: true, HighNotPrecedence: true, PipesAsConcat: true, IgnoreSpace: true}, true},
		{"NOT_ANSI_QUOTES,MYSQL40", "ucs2", maria1011, sqltext.Mode{MariaDB: true, ServerVersion: 101100, HighNotPrecedence: true}, false},
	} {
		st := New(255, 0)
		st.Set("sql_mode", "'"+c.sqlMode+"'")
		st.Set("character_set_client", "'"+c.charset+"'")
		if st.ReadMode(&c.info); st.Mode != c.want || st.Strict != c.strict {
			t.Errorf("%s, %s: %+v, strict %v", c.sqlMode, c.charset, st.Mode, st.Strict)
		}
	}
	var st State
	if st.ReadMode(&mysql84); !st.Strict {
		t.Error("the server's own sql_mode does not count where none is set")
	}
}

// Each variable's value is as a server tells it, or makes it.
func TestValues(t *testing.T) {
	st := New(255, 0)
	for text, want := range map[string]uint32{"": 0, "30": 30, "'7'": 7, "-1": 0, "99999999999": 1<<32 - 1, "x": 0} {
		if st.Set("wait_timeout", text); st.WaitTimeout() != want {
			t.Errorf("wait_timeout %q is %d", text, st.WaitTimeout())
		}
	}
	for text, want := range map[string]bool{"": false, "0": false, "1": true} {
		if st.Set("sql_auto_is_null", text); st.FindsByNull() != want {
			t.Errorf("sql_auto_is_null %q is %v", text, st.FindsByNull())
		}
	}
	for text, want := range map[string]string{"": "''", "a b_%": "'a b_%'", "a'b": "_utf8mb4 x'612762'", `a\`: "_utf8mb4 x'615c'", "é": "_utf8mb4 x'c3a9'", "`": "_utf8mb4 x'60'"} {
		if got := Quote(text); got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
	}
}

// What another node's server tells stands in for the default node's until that is known, but for what the client has set since.
func TestPresume(t *testing.T) {
	const latin1 = 8
	other := mysql84
	other.SQLMode = "ANSI_QUOTES"
	for name, c := range map[string]struct {
		set  func(st *State)
		want string
	}{
		"nothing":                       {func(*State) {}, "'STRICT_TRANS_TABLES'"},
		"another":                       {func(st *State) { st.Set("sql_mode", "'NO_BACKSLASH_ESCAPES'") }, "'NO_BACKSLASH_ESCAPES'"},
		"the same":                      {func(st *State) { st.Set("sql_mode", "'ANSI_QUOTES'") }, "'ANSI_QUOTES'"},
		"the default":                   {func(st *State) { st.Unset("sql_mode") }, "'STRICT_TRANS_TABLES'"},
		"nothing, in another process":   {func(st *State) { throughDescription(st) }, "'STRICT_TRANS_TABLES'"},
		"something, in another process": {func(st *State) { st.Set("sql_mode", "'ANSI'"); throughDescription(st) }, "'ANSI'"},
	} {
		st := New(latin1, 0)
		st.Presume(&other)
		if st.Resolved() || !st.Presumed() || !st.Mode.ANSIQuotes || st.Value("sql_mode") != "'ANSI_QUOTES'" || st.Value("character_set_client") != "'latin1'" {
			t.Errorf("%s: %+v", name, st)
		}
		st.Set("character_set_client", "'gbk'")
		c.set(&st)
		if st.Resolve(&mysql84); !st.Resolved() || st.Value("sql_mode") != c.want || st.Value("character_set_client") != "'gbk'" {
			t.Errorf("%s: %+v, want sql_mode %s", name, st, c.want)
		}
	}
}

// throughDescription has the state be that which another process makes of its description.
func throughDescription(st *State) {
	var d Description
	st.Describe(&d)
	*st = Restore(&d)
}
