package sqltext

import (
	"slices"
	"testing"
)

func TestParseSet(t *testing.T) {
	type as = []Assignment
	lit := func(s Scope, name, value string) Assignment {
		return Assignment{Scope: s, Name: name, Value: value, Literal: true}
	}
	expr := func(s Scope, name, value string) Assignment { return Assignment{Scope: s, Name: name, Value: value} }
	for _, c := range []struct {
		sql  string
		want as
	}{
		{"set autocommit=0", as{lit(Session, "autocommit", "0")}},
		{"SET AutoCommit := ON;", as{lit(Session, "autocommit", "ON")}},
		{"set\tautocommit\n=\r1", as{lit(Session, "autocommit", "1")}},
		{"set session sql_mode='ANSI'", as{lit(Session, "sql_mode", "'ANSI'")}},
		{"set local sql_mode = ansi", as{lit(Session, "sql_mode", "ansi")}},
		{"set `sql_mode` = `ansi`", as{lit(Session, "sql_mode", "`ansi`")}},
		{"set @@sql_mode = \"\"", as{lit(Session, "sql_mode", `""`)}},
		{"set @@session.`Sql_Mode` = default", as{lit(Session, "sql_mode", "default")}},
		{"set @@LOCAL.a = -1", as{lit(Session, "a", "-1")}},
		{"set @@session . a = 1, @@global/* x */.\n`b` = 2, @@a .c = 3, @@`d` . e = 4", as{lit(Session, "a", "1"), lit(Global, "b", "2"), lit(Session, "a.c", "3"), lit(Session, "d.e", "4")}},
		{"set @@session # x\n . tx_isolation = 'SERIALIZABLE'", as{lit(Session, "tx_isolation", "'SERIALIZABLE'")}},
		{"set a = + 1.5e3", as{lit(Session, "a", "+ 1.5e3")}},
		{"set a = 0x1f, b = b'1', c = null, d = true", as{lit(Session, "a", "0x1f"), lit(Session, "b", "b'1'"), lit(Session, "c", "null"), lit(Session, "d", "true")}},
		{"set global a = 1", as{lit(Global, "a", "1")}},
		{"set persist a = 1, persist_only b = 2", as{lit(Persist, "a", "1"), lit(PersistOnly, "b", "2")}},
		{"set @@global.a = 1, @@persist.b = 2, @@persist_only.c = 3", as{lit(Global, "a", "1"), lit(Persist, "b", "2"), lit(PersistOnly, "c", "3")}},
		{"set global a = 1, b = 2, session c = 3, d = 4", as{lit(Global, "a", "1"), lit(Global, "b", "2"), lit(Session, "c", "3"), lit(Session, "d", "4")}},
		{"set @@global.a = 1, b = 2", as{lit(Global, "a", "1"), lit(Session, "b", "2")}},
		{"set global a = 1, @@b = 2, @c = 3, d = 4", as{lit(Global, "a", "1"), lit(Session, "b", "2"), lit(User, "c", "3"), lit(Global, "d", "4")}},
		{"set global hot.key_buffer_size = 1", as{lit(Global, "hot.key_buffer_size", "1")}},
		{"set @@global.validate_password.length = 8", as{lit(Global, "validate_password.length", "8")}},
		{"set @a = 1, @`B c` := 'x', @'d' = -5", as{lit(User, "a", "1"), lit(User, "b c", "'x'"), lit(User, "d", "-5")}},
		{"set @a = b", as{expr(User, "a", "b")}},
		{"set @a = on", as{expr(User, "a", "on")}},
		{"set @a = null", as{lit(User, "a", "null")}},
		{"set @a = @b := 5", as{expr(User, "a", "@b := 5")}},
		{"set @a = @@b, c = @d", as{expr(User, "a", "@@b"), expr(Session, "c", "@d")}},
		{"set a = concat(@@sql_mode, ',x'), b = 1", as{expr(Session, "a", "concat(@@sql_mode, ',x')"), lit(Session, "b", "1")}},
		{"set a = (select max(x), 1 from t)", as{expr(Session, "a", "(select max(x), 1 from t)")}},
		{"set a = 'x' 'y'", as{expr(Session, "a", "'x' 'y'")}},
		{"set a = N'x', b = _utf8mb4'y'", as{expr(Session, "a", "N'x'"), expr(Session, "b", "_utf8mb4'y'")}},
		{"set a = 1 + 1, b = -@x, c = - -1", as{expr(Session, "a", "1 + 1"), expr(Session, "b", "-@x"), expr(Session, "c", "- -1")}},
		{"set timestamp = current_timestamp, a = now()", as{expr(Session, "timestamp", "current_timestamp"), expr(Session, "a", "now()")}},
		{"set a = ?", as{expr(Session, "a", "?")}},
		{"set a = 1 /* c */, /* d */ b = /* e */ 2 -- f", as{lit(Session, "a", "1"), lit(Session, "b", "2")}},
		{"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;", as{expr(User, "old_sql_mode", "@@SQL_MODE"), lit(Session, "sql_mode", "'NO_AUTO_VALUE_ON_ZERO'")}},

		{"set names utf8mb4", as{{Scope: Names, Name: "utf8mb4"}}},
		{"SET NAMES 'UTF8' COLLATE 'utf8_BIN';", as{{Scope: Names, Name: "utf8", Collate: "utf8_bin"}}},
		{"set names \"latin1\"", as{{Scope: Names, Name: "latin1"}}},
		{"set names binary", as{{Scope: Names, Name: "binary"}}},
		{"set names default", as{{Scope: Names, Name: "default"}}},
		{"set names utf8mb4, @@session.a = 1", as{{Scope: Names, Name: "utf8mb4"}, lit(Session, "a", "1")}},
		{"set a = 1, names utf8mb4 collate utf8mb4_bin", as{lit(Session, "a", "1"), {Scope: Names, Name: "utf8mb4", Collate: "utf8mb4_bin"}}},
		{"set character set utf8", as{{Scope: CharacterSet, Name: "utf8"}}},
		{"set charset 'UTF8'", as{{Scope: CharacterSet, Name: "utf8"}}},
		{"set char set default", as{{Scope: CharacterSet, Name: "default"}}},

		{"set transaction isolation level read committed", as{lit(NextTransaction, "transaction_isolation", "'READ-COMMITTED'")}},
		{"set session transaction isolation level repeatable read, read only", as{lit(Session, "transaction_isolation", "'REPEATABLE-READ'"), lit(Session, "transaction_read_only", "1")}},
		{"set local transaction read write", as{lit(Session, "transaction_read_only", "0")}},
		{"set global transaction isolation level serializable", as{lit(Global, "transaction_isolation", "'SERIALIZABLE'")}},
		{"set transaction read only, isolation level read uncommitted", as{lit(NextTransaction, "transaction_read_only", "1"), lit(NextTransaction, "transaction_isolation", "'READ-UNCOMMITTED'")}},
		{"set @@tx_isolation = 'SERIALIZABLE'", as{lit(NextTransaction, "tx_isolation", "'SERIALIZABLE'")}},
		{"set @@transaction_read_only = 1", as{lit(NextTransaction, "transaction_read_only", "1")}},
		{"set transaction_isolation = 'SERIALIZABLE'", as{lit(Session, "transaction_isolation", "'SERIALIZABLE'")}},
		{"set @@session.tx_isolation = 'SERIALIZABLE'", as{lit(Session, "tx_isolation", "'SERIALIZABLE'")}},

		{"set password = 'secret'", as{{Scope: Password}}},
		{"set password for 'u'@'h' = password('secret')", as{{Scope: Password}}},
		{"set password to random", as{{Scope: Password}}},
		{"set role none", as{{Scope: Role, Name: "role", Value: "none"}}},
		{"set role all except a, b", as{{Scope: Role, Name: "role", Value: "all except a, b"}}},
		{"set default role a to 'u'@'h'", as{{Scope: Role, Name: "default role", Value: "a to 'u'@'h'"}}},
		{"set resource group g for 5", as{{Scope: ResourceGroup, Name: "resource group", Value: "g for 5"}}},
	} {
		if got, ok := ParseSet(c.sql, mysql84); !ok || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v\n got %+v\nwant %+v", c.sql, ok, got, c.want)
		}
	}
}

// MariaDB lists passwords and roles among variables.
func TestParseSetOfMariaDB(t *testing.T) {
	for sql, want := range map[string][]Assignment{
		"set @a = 1, password = password('x'), role none, default role r for u, sql_mode = ''": {
			{Scope: User, Name: "a", Value: "1", Literal: true}, {Scope: Password}, {Scope: Role, Name: "role", Value: "none"},
			{Scope: Role, Name: "default role", Value: "r for u"}, {Scope: Session, Name: "sql_mode", Value: "''", Literal: true},
		},
		"set role none, autocommit = 0":                 {{Scope: Role, Name: "role", Value: "none"}, {Scope: Session, Name: "autocommit", Value: "0", Literal: true}},
		"set password for current_user() = 'x', @a = 1": {{Scope: Password}, {Scope: User, Name: "a", Value: "1", Literal: true}},
	} {
		if got, ok := ParseSet(sql, maria); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %v\n got %+v\nwant %+v", sql, ok, got, want)
		}
	}
	for _, sql := range []string{"set @a = 1, password", "set role", "set role = 1, role", "set @a = 1, default role"} {
		if got, ok := ParseSet(sql, maria); ok {
			t.Errorf("%q: understood as %+v", sql, got)
		}
	}
}

func TestParseSetRefuses(t *testing.T) {
	for _, sql := range []string{
		"", "set", "set ;", "set a", "set a =", "set a = ,", "set a = 1,", "set a = 1 2, ", "set = 1", "set 'a' = 1", "set 1 = 1",
		"set a == 1", "set a = (1", "set a = 1)", "set a = 1; set b = 2", "set a = 'x", "set a = 1 /*", "set global", "set global = 1",
		"set global session a = 1", "set global.a = 1", "set @@global = 1", "set @@a.b.c = 1", "set @ = 1", "set @`` = 1",
		"set session names utf8", "set names", "set names = 'x'", "set names utf8 collate", "set names 5", "set names 'default'",
		"set names default collate x", "set character utf8", "set charset = utf8", "set char = 1", "set a = 1, password = 'x'",
		"set a = 1, transaction read only", "set transaction", "set transaction read", "set transaction isolation level",
		"set transaction isolation level read", "set transaction read only, read write",
		"set transaction read only, isolation level serializable, read only", "set transaction read only, a = 1",
		"set persist transaction read only", "set password", "set role", "set role = 'x'", "set default role", "set resource group",
		"set a = 1 /*!50000 + 1 */", "set a = /*!50000 1 + */ 1", "set a = /*!99999 1 */", "set a = /*!50000 1; */", "select 1",
		"set a = \x00", "set default = 1", "set a. = 1",
	} {
		if got, ok := ParseSet(sql, mysql84); ok {
			t.Errorf("%q: understood as %+v", sql, got)
		}
	}
	if _, ok := ParseSet("set statement a = 1 for select 1", maria); ok {
		t.Error("SET STATEMENT is no SET")
	}
}

func TestScopeNames(t *testing.T) {
	for s, want := range map[Scope]string{Session: "session", PersistOnly: "persist_only", ResourceGroup: "resource group", 99: "scope(?)"} {
		if got := s.String(); got != want {
			t.Errorf("%d: %q", s, got)
		}
	}
	if got := Other.String() + Empty.String() + Class(200).String(); got != "OtherEmptyClass(?)" {
		t.Error(got)
	}
	if len(classNames) != int(Other)+1 {
		t.Error("classNames has not a name for each class")
	}
}
