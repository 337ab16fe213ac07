package state

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// drawVars gives variables of a session.
func drawVars(t *rapid.T) []backend.Var {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) backend.Var {
		return backend.Var{Name: rapid.StringN(1, 20, 80).Draw(t, "name"), Value: rapid.String().Draw(t, "value")}
	}), 0, 5).Draw(t, "vars")
}

func drawMode(t *rapid.T) sqltext.Mode {
	return sqltext.Mode{
		ANSIQuotes: rapid.Bool().Draw(t, "a"), NoBackslashEscapes: rapid.Bool().Draw(t, "b"), PipesAsConcat: rapid.Bool().Draw(t, "c"),
		HighNotPrecedence: rapid.Bool().Draw(t, "d"), IgnoreSpace: rapid.Bool().Draw(t, "e"), MariaDB: rapid.Bool().Draw(t, "f"),
		ServerVersion: int32(rapid.Uint32().Draw(t, "version")), Charset: sqltext.Charset(rapid.IntRange(0, int(sqltext.GB18030)).Draw(t, "charset")),
	}
}

// drawDescription gives a session's description; bytes in it need be no valid text of any character set.
func drawDescription(t *rapid.T) *Description {
	raw := func(name string) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, name)) }
	c := &Description{
		ID: rapid.Uint32Range(1, 1<<32-1).Draw(t, "id"), AdminOnly: rapid.Bool().Draw(t, "admin"), User: raw("user"), Client: raw("client"),
		Started: rapid.Int64().Draw(t, "started"), Since: rapid.Int64().Draw(t, "since"), Salt: []byte(raw("salt")),
		Capabilities: mysql.Capability(rapid.Uint32().Draw(t, "caps")), DB: raw("db"), Autocommit: rapid.Bool().Draw(t, "autocommit"),
		Resolved: rapid.Bool().Draw(t, "resolved"), Strict: rapid.Bool().Draw(t, "strict"), Flags: mysql.Capability(rapid.Uint32().Draw(t, "flags")),
		Collation: rapid.Uint16().Draw(t, "collation"), Mode: drawMode(t), Vars: drawVars(t),
		NextTransaction: rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "next"), RowCount: rapid.Int64().Draw(t, "rows"),
		FoundRows: rapid.Uint64().Draw(t, "found"), LastInsertID: rapid.Uint64().Draw(t, "last"), WarningCount: rapid.Uint32().Draw(t, "warnings"),
		ErrorCount: rapid.Uint32().Draw(t, "errors"), NextStmtID: rapid.Uint32().Draw(t, "next stmt"), LastStmtID: rapid.Uint32().Draw(t, "last stmt"),
	}
	if rapid.Bool().Draw(t, "changed") {
		c.GTIDs = "n=" + raw("gtids")
	}
	for range rapid.IntRange(0, 3).Draw(t, "kept warnings") {
		c.Warnings = append(c.Warnings, Warning{Level: raw("level"), Code: rapid.Uint16().Draw(t, "code"), Message: raw("message"), Row: int(rapid.Uint32().Draw(t, "row"))})
	}
	for k := range rapid.IntRange(0, 4).Draw(t, "stmts") {
		st := StmtDescription{
			ID: uint32(k) + 1, Text: raw("text"), Source: raw("source"), Given: raw("given"), Params: rapid.Uint16Range(0, 300).Draw(t, "params"),
			Sharded: rapid.Bool().Draw(t, "sharded"), DB: raw("stmt db"), Mode: drawMode(t), Current: rapid.Bool().Draw(t, "current"),
		}
		st.Types = bytes.Repeat([]byte{3, 0}, rapid.IntRange(0, 300).Draw(t, "types"))
		if rapid.Bool().Draw(t, "ran") {
			st.Kinds = bytes.Repeat([]byte{1}, int(st.Params))
		}
		if !st.Current {
			st.SettingDB, st.SettingFlags, st.SettingVars = raw("setting db"), mysql.Capability(rapid.Uint32().Draw(t, "setting flags")), drawVars(t)
		}
		c.Stmts = append(c.Stmts, st)
	}
	return c
}

// A description says all of a session, and a part of one is none.
func TestDescriptionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawDescription(t)
		b := c.Append(nil)
		var got Description
		if err := got.Decode(b); err != nil {
			t.Fatal(err)
		}
		if again := got.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%+v became %+v", c, got)
		}
		if got.User != c.User || got.LastInsertID != c.LastInsertID || len(got.Stmts) != len(c.Stmts) || len(got.Vars) != len(c.Vars) || got.Mode != c.Mode {
			t.Fatalf("%+v became %+v", c, got)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if err := new(Description).Decode(b[:cut]); err == nil {
			t.Fatalf("%d of %d bytes are taken", cut, len(b))
		}
		if err := new(Description).Decode(append(b, 0)); err == nil {
			t.Fatal("a byte too many is taken")
		}
	})
}

// Every field of a State is described: a new one must be added to Description, or here, with its reason.
func TestStateIsDescribed(t *testing.T) {
	elsewhere := map[string]string{
		"setting": "made of the others", "HeldVariable": "such a session stays", "ServerStatus": "of the command under way", "followed": "of the command under way",
		"presumed": "told by the variables", "presumedMode": "the value stays behind", "boundWaits": "of a transaction that is open: such a session stays",
	}
	as := map[string][]string{
		"InsertID": {"LastInsertID"}, "Found": {"FoundRows"}, "Diagnostics": {"RowCount", "Warnings", "WarningCount", "ErrorCount"},
	}
	description := reflect.TypeFor[Description]()
	for k := range reflect.TypeFor[State]().NumField() {
		field := reflect.TypeFor[State]().Field(k).Name
		names := as[field]
		if names == nil {
			names = []string{field}
		}
		for _, name := range names {
			if _, ok := description.FieldByNameFunc(func(other string) bool { return strings.EqualFold(other, name) }); !ok && elsewhere[field] == "" {
				t.Errorf("%s does not move to another process", field)
			}
		}
	}
	if n := reflect.TypeFor[Diagnostics]().NumField(); n != len(as["Diagnostics"]) {
		t.Errorf("Diagnostics has %d fields, %d are described", n, len(as["Diagnostics"]))
	}
}

// What a state describes is what it is restored from.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDescription(t)
		st := Restore(d)
		got := *d
		st.Describe(&got)
		if !bytes.Equal(got.Append(nil), d.Append(nil)) {
			t.Fatalf("%+v became %+v", d, got)
		}
		var empty Description
		fresh := New(8, mysql.ClientFoundRows)
		fresh.Describe(&empty)
		if empty.Collation != 8 || empty.Flags != mysql.ClientFoundRows || !empty.Autocommit || len(empty.Vars) != 1 {
			t.Fatalf("%+v", empty)
		}
	})
}
