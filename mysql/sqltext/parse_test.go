package sqltext

import (
	"reflect"
	"testing"
)

func TestParseTransaction(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want Transaction
	}{
		{"begin", Transaction{Class: Begin}},
		{"BEGIN WORK;", Transaction{Class: Begin}},
		{"start transaction", Transaction{Class: Begin}},
		{"start transaction read only", Transaction{Class: Begin, ReadOnly: true}},
		{"start transaction read write", Transaction{Class: Begin, ReadWrite: true}},
		{"start/**/transaction with consistent snapshot , read only", Transaction{Class: Begin, ConsistentSnapshot: true, ReadOnly: true}},
		{"commit", Transaction{Class: Commit}},
		{"commit work and chain", Transaction{Class: Commit, Chain: true}},
		{"commit and no chain no release", Transaction{Class: Commit}},
		{"rollback", Transaction{Class: Rollback}},
		{"rollback work release", Transaction{Class: Rollback, Release: true}},
		{"rollback and no chain release", Transaction{Class: Rollback, Release: true}},
		{"savepoint a", Transaction{Class: Savepoint, Name: "a"}},
		{"savepoint `a``b`", Transaction{Class: Savepoint, Name: "a`b"}},
		{"rollback to a", Transaction{Class: RollbackTo, Name: "a"}},
		{"rollback work to savepoint `A`", Transaction{Class: RollbackTo, Name: "A"}},
		{"rollback to savepoint", Transaction{Class: RollbackTo, Name: "savepoint"}},
		{"release savepoint a -- c", Transaction{Class: ReleaseSavepoint, Name: "a"}},
		{"/*!40101 commit */", Transaction{Class: Commit}},
	} {
		if got, ok := ParseTransaction(c.sql, mysql84); !ok || got != c.want {
			t.Errorf("%q: %+v %v", c.sql, got, ok)
		}
	}
	for _, sql := range []string{
		"", "begin x", "begin; select 1", "begin not atomic", "start", "start transaction read", "start transaction ,",
		"start transaction read only, read write", "start transaction read only,", "commit x", "commit and", "commit and chain release",
		"commit no chain", "rollback to", "rollback to 'a'", "rollback to a b", "savepoint", "savepoint 1", "savepoint 'a'",
		"release a", "release savepoint", "commit /*", "commit 'a", "/*!40101 commit; */",
	} {
		if got, ok := ParseTransaction(sql, mysql84); ok {
			t.Errorf("%q: understood as %+v", sql, got)
		}
	}
}

func TestParseKill(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want KillStmt
		ok   bool
	}{
		{"kill 5", KillStmt{ID: 5}, true},
		{"KILL CONNECTION 18446744073709551615;", KillStmt{ID: 1<<64 - 1}, true},
		{"kill query 7", KillStmt{Query: true, ID: 7}, true},
		{"kill hard query 7", KillStmt{Query: true, ID: 7}, true},
		{"kill soft 7", KillStmt{ID: 7}, true},
		{"kill 18446744073709551616", KillStmt{Expr: "18446744073709551616"}, true},
		{"kill query id 7", KillStmt{}, false},
		{"kill user 'a'", KillStmt{}, false},
		{"kill -1", KillStmt{Expr: "-1"}, true},
		{"kill 1.5", KillStmt{Expr: "1.5"}, true},
		{"kill 0x10", KillStmt{Expr: "0x10"}, true},
		{"kill '5'", KillStmt{Expr: "'5'"}, true},
		{"kill @x", KillStmt{Expr: "@x"}, true},
		{"kill 1 + 1", KillStmt{Expr: "1 + 1"}, true},
		{"kill connection_id()", KillStmt{Expr: "connection_id()"}, true},
		{"kill query (@x) /* c */ + 1 -- d", KillStmt{Query: true, Expr: "(@x) /* c */ + 1"}, true},
		{"kill @x := 5", KillStmt{}, false},
		{"kill sleep(5)", KillStmt{}, false},
		{"kill (select 5)", KillStmt{}, false},
		{"kill 5), (6", KillStmt{}, false},
		{"kill 5, 6", KillStmt{}, false},
		{"kill @@global.x", KillStmt{}, false},
		{"kill", KillStmt{}, false},
		{"kill 1; kill 2", KillStmt{}, false},
	} {
		if got, ok := ParseKill(c.sql, maria); ok != c.ok || got != c.want {
			t.Errorf("%q: %+v %v", c.sql, got, ok)
		}
	}
	if _, ok := ParseKill("kill soft 7", mysql84); ok {
		t.Error("KILL SOFT is MariaDB's")
	}
}

func TestParseShowGrants(t *testing.T) {
	for _, c := range []struct {
		sql, account string
		self         bool
		user, host   string
		ok           bool
	}{
		{"show grants", "", false, "", "", true},
		{"SHOW GRANTS FOR CURRENT_USER", "CURRENT_USER", true, "", "", true},
		{"show grants for current_user ( ) using r", "current_user ( )", true, "", "", true},
		{"show grants for a", "a", false, "a", "%", true},
		{"show grants for 'a'@'h' using r", "'a'@'h'", false, "a", "h", true},
		{"show grants for `a`@`h`", "`a`@`h`", false, "a", "h", true},
		{"show grants for a@10.0.0.1", "a@10.0.0.1", false, "a", "10.0.0.1", true},
		{"show grants for ?", "", false, "", "", true},
		{"show tables", "", false, "", "", false},
	} {
		g, ok := ParseShowGrants(c.sql, mysql84)
		if account := c.sql[g.Account.Pos:g.Account.End]; ok != c.ok || account != c.account || g.Self != c.self || g.User != c.user || g.Host != c.host {
			t.Errorf("%q: %q %+v %v", c.sql, account, g, ok)
		}
	}
}

func TestParseUse(t *testing.T) {
	for _, c := range []struct {
		sql, db string
		ok      bool
	}{
		{"use db", "db", true},
		{"USE `My Db`;", "My Db", true},
		{"use 1db", "1db", true},
		{"use\tdb -- c", "db", true},
		{"use", "", false},
		{"use ``", "", false},
		{"use 'db'", "", false},
		{"use a b", "", false},
		{"use a.b", "", false},
		{"use my-db", "", false},
		{"use a; use b", "", false},
		{`use "db"`, "", false},
	} {
		if db, ok := ParseUse(c.sql, mysql84); ok != c.ok || db != c.db {
			t.Errorf("%q: %q %v", c.sql, db, ok)
		}
	}
	if db, ok := ParseUse(`use "a""b"`, Mode{ANSIQuotes: true}); !ok || db != `a"b` {
		t.Errorf("ANSI_QUOTES: %q %v", db, ok)
	}
}

func TestParsePrepared(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want ExecuteStmt
		ok   bool
	}{
		{"execute s", ExecuteStmt{Name: "s"}, true},
		{"execute S using @A, @`b c`;", ExecuteStmt{Name: "s", Using: []string{"@A", "@`b c`"}}, true},
		{"execute s using", ExecuteStmt{}, false},
		{"execute s using @a,", ExecuteStmt{}, false},
		{"execute s using ,@a", ExecuteStmt{}, false},
		{"execute s using @a; x", ExecuteStmt{}, false},
		{"execute s @a", ExecuteStmt{}, false},
		{"execute immediate 'x'", ExecuteStmt{}, false},
		{"execute", ExecuteStmt{}, false},
	} {
		for _, m := range []Mode{maria, mysql84} {
			if c.sql == "execute immediate 'x'" && m == mysql84 {
				continue // of a statement of that name, and no server reads it
			}
			if got, ok := ParseExecute(c.sql, m); ok != c.ok || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q: %+v %v", c.sql, got, ok)
			}
		}
	}
	const values = " using 1, concat('a,b', @x) /* , */, NULL;"
	want := []string{"1", "concat('a,b', @x)", "NULL"}
	if got, ok := ParseExecute("execute s"+values, maria); !ok || !reflect.DeepEqual(got.Using, want) {
		t.Errorf("%q %v", got, ok)
	}
	if got, ok := ParseExecuteImmediate("execute immediate convert('select ?' using utf8)"+values, maria); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%q %v", got, ok)
	}
	for _, sql := range []string{"execute s" + values, "execute s using @a @b", "execute s using (@a)"} {
		if got, ok := ParseExecute(sql, mysql84); ok {
			t.Errorf("MySQL, %q: %+v", sql, got)
		}
	}
	if _, ok := ParseExecuteImmediate("execute immediate 'select 1'", mysql84); ok {
		t.Error("MySQL has EXECUTE IMMEDIATE")
	}
	for _, c := range []struct {
		sql, name string
		ok        bool
	}{
		{"deallocate prepare s", "s", true},
		{"drop prepare `S`;", "s", true},
		{"drop table s", "", false},
		{"deallocate s", "", false},
		{"deallocate prepare s t", "", false},
	} {
		if name, ok := ParseDeallocate(c.sql, mysql84); ok != c.ok || name != c.name {
			t.Errorf("%q: %q %v", c.sql, name, ok)
		}
	}
}

func TestParseShow(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want ShowStmt
		ok   bool
	}{
		{"show warnings", ShowStmt{Warnings, false, -1, -1}, true},
		{"SHOW ERRORS;", ShowStmt{Errors, false, -1, -1}, true},
		{"show warnings limit 5", ShowStmt{Warnings, false, 5, -1}, true},
		{"show warnings limit 2, 5", ShowStmt{Warnings, false, 5, 2}, true},
		{"show errors limit 5 offset 2", ShowStmt{Errors, false, 5, 2}, true},
		{"show count(*) warnings", ShowStmt{CountWarnings, false, -1, -1}, true},
		{"show count( * ) errors", ShowStmt{CountErrors, false, -1, -1}, true},
		{"show processlist", ShowStmt{Processlist, false, -1, -1}, true},
		{"show full/**/processlist", ShowStmt{Processlist, true, -1, -1}, true},
		{"show full warnings", ShowStmt{}, false},
		{"show count(1) errors", ShowStmt{}, false},
		{"show warnings limit ?", ShowStmt{}, false},
		{"show warnings limit", ShowStmt{}, false},
		{"show warnings limit 1,", ShowStmt{}, false},
		{"show processlist limit 1", ShowStmt{}, false},
		{"show tables", ShowStmt{}, false},
		{"show warnings; show errors", ShowStmt{}, false},
	} {
		if got, ok := ParseShow(c.sql, mysql84); ok != c.ok || got != c.want {
			t.Errorf("%q: %+v %v", c.sql, got, ok)
		}
	}
}

func TestUnquote(t *testing.T) {
	plain := Mode{NoBackslashEscapes: true}
	for _, c := range []struct {
		m       Mode
		s, want string
		ok      bool
	}{
		{mysql84, `''`, "", true},
		{mysql84, `'a'`, "a", true},
		{mysql84, `"a'b"`, "a'b", true},
		{mysql84, `'a''b'`, "a'b", true},
		{mysql84, `'\0\'\"\b\n\r\t\Z\\\%\_\x'`, "\x00'\"\b\n\r\t\x1a\\\\%\\_x", true},
		{mysql84, "'a\\\\'", "a\\", true},
		{mysql84, "`a``b`", "a`b", true},
		{mysql84, "`a\\n`", "a\\n", true},
		{plain, `'a\n''b'`, `a\n'b`, true},
		{Mode{ANSIQuotes: true}, `"a\n""b"`, `a\n"b`, true},
		{Mode{Charset: GBK}, "'\xbf\x5cn'", "\xbf\x5cn", true},
		{mysql84, "'\xbf\x5cn'", "\xbf\n", true},
		{mysql84, `a`, "", false},
		{mysql84, ``, "", false},
		{mysql84, `'`, "", false},
		{mysql84, `'a`, "", false},
		{mysql84, `'a'b`, "", false},
		{mysql84, `'a' `, "", false},
		{mysql84, ` 'a'`, "", false},
		{mysql84, `N'a'`, "", false},
	} {
		if got, ok := Unquote(c.s, c.m); ok != c.ok || got != c.want {
			t.Errorf("%+v %q: %q %v", c.m, c.s, got, ok)
		}
	}
}
