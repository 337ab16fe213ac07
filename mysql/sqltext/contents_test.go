package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

// names writes Contents in short: class and text of each statement, with a mark for what is carried out later, for expressions and for
// what SET STATEMENT sets.
func (c *Contents) names() string {
	var b strings.Builder
	for _, in := range c.Inner {
		mark := ""
		if in.Later {
			mark += "~"
		}
		if in.Expressions {
			mark += "()"
		}
		if in.Assigned {
			mark += "="
		}
		fmt.Fprintf(&b, "%s%v:%s|", mark, in.Info.Class, strings.Join(strings.Fields(in.Text), " "))
	}
	for _, d := range c.Dynamic {
		b.WriteString("dynamic")
		if d.Direct {
			b.WriteString("!")
		}
		if d.Later {
			b.WriteString("~")
		}
		b.WriteString("|")
	}
	if c.Unread {
		b.WriteString("unread|")
	}
	return strings.TrimSuffix(b.String(), "|")
}

func TestContents(t *testing.T) {
	for _, c := range []struct {
		m         Mode
		sql, want string
	}{
		{maria, "select 1", ""},
		{maria, "set statement a = 1, b = (select 1 for update) for kill 5;", "=Set:SET a = 1, b = (select 1 for update)|Kill:kill 5"},
		{maria, "set statement a = 1 for set statement b = 2 for kill 5", "=Set:SET a = 1|SetStatement:set statement b = 2 for kill 5|=Set:SET b = 2|Kill:kill 5"},
		{maria, "set statement a=1", "unread"},
		{maria, "execute immediate 'kill ''5''' using @a", "Kill:kill '5'"},
		{maria, "execute immediate \"kill 5\"", "Kill:kill 5"},
		{Mode{MariaDB: true, ANSIQuotes: true}, "execute immediate \"kill 5\"", "dynamic!"},
		{maria, "execute immediate 'ki' 'll 5'", "dynamic!"},
		{maria, "execute immediate concat('kill ', (5)) using @a", "dynamic!"},
		{maria, "execute immediate @v", "dynamic!"}, {maria, "execute immediate N'kill 5'", "dynamic!"},
		{maria, "execute immediate ('kill 5')", "dynamic!"}, {maria, "execute immediate _latin1'kill 5'", "dynamic!"},
		{maria, "execute immediate a) + (b", "dynamic"}, {maria, "execute immediate (a", "dynamic"},
		{maria, "execute s", ""}, {maria, "execute s using @a", ""},
		{Mode{ServerVersion: 90700}, "prepare s from 'kill ?'", "Kill:kill ?"}, {Mode{ServerVersion: 90700}, "prepare s from @v;", "dynamic!"},
		{Mode{ServerVersion: 90700}, "/*!50000 prepare s */ from /*!50000 'kill ?'*/", "Kill:kill ?"},
		{Mode{ServerVersion: 90700}, "prepare s from 'kill /*!99999 5 */ 6'", "Kill:kill 6"},
		{Mode{ServerVersion: 90700, Charset: GBK}, "prepare s from 'kill \xbf\x5c'", "unread"},
		{Mode{ServerVersion: 90700, Charset: GBK}, "prepare s from 'kill 5'", "Kill:kill 5"},
		{maria, "set statement a=1 for execute immediate @v", "=Set:SET a=1|Execute:execute immediate @v|dynamic!"},
		{maria, "set statement a=1 for prepare s from 'shutdown'", "=Set:SET a=1|Prepare:prepare s from 'shutdown'|Admin:shutdown"},
		{maria, "set statement sql_mode='ansi_quotes' for execute immediate 'select \"a\"'", "=Set:SET sql_mode='ansi_quotes'|Execute:execute immediate 'select \"a\"'|" +
			"Select:select \"a\"|Select:select \"a\"|Select:select \"a\"|Select:select \"a\""},
		{maria, "begin not atomic kill 5; end", "Kill:kill 5"},
		{maria, `begin not atomic execute s; execute immediate 'set @a=''\\'', global x=1'; end`, "Execute:execute s|Execute:execute immediate 'set @a=''\\\\'', global x=1'" +
			strings.Repeat("|Set:set @a='\\', global x=1", 4)},
		{maria, "begin not atomic /*!50000 kill 5; set */ @a = 1; end", "Kill:kill 5|Set:set @a = 1"},
		{maria, "begin not atomic declare a int default (select 1); declare exit handler for sqlexception, sqlstate value '42000', not found, 1064 kill 5; select 1; end",
			"()Do:a int default (select 1)|Kill:kill 5|Select:select 1"},
		{maria, "begin not atomic declare c cursor for select a from t; declare d cursor (x int) for select b; declare e cursor for s; open c; open d(f(1)); fetch c into a; close c; end",
			"Select:select a from t|Select:select b|()Do:c|()Do:d(f(1))|()Do:c into a|()Do:c"},
		{maria, "begin not atomic l1: begin kill 5; end l1; l2: loop leave l2; kill 6; end loop l2; end", "Kill:kill 5|()Do:l2|Kill:kill 6"},
		{maria, "if case when a then b else c end then kill 5; elseif d then kill 6; else kill 7; end if",
			"()Do:case when a then b else c end|Kill:kill 5|()Do:d|Kill:kill 6|Kill:kill 7"},
		{maria, "case a when case b when c then d end then kill 5; when 2 then begin end; else kill 6; end case",
			"()Do:a when case b when c then d end|Kill:kill 5|()Do:2|Kill:kill 6"},
		{maria, "while a do kill 5; do kill(6); end while", "()Do:a|Kill:kill 5|Do:do kill(6)"},
		{maria, "repeat kill 5; until case when a then b end end repeat", "Kill:kill 5|()Do:case when a then b end"},
		{maria, "for i in 1..10 do kill 5; end for", "()Do:i in 1..10|Kill:kill 5"},
		{maria, "for r in (select a from t) do kill 5; end for", "()Do:r in (select a from t)|Kill:kill 5"},
		{maria, "loop kill 5; end loop", "Kill:kill 5"},
		{maria, "begin not atomic execute immediate 'begin not atomic execute immediate ''kill 5''; end'; end",
			"Execute:execute immediate 'begin not atomic execute immediate ''kill 5''; end'|CompoundBegin:begin not atomic execute immediate 'kill 5'; end|" +
				"Execute:execute immediate 'kill 5'|Kill:kill 5"},
		{maria, "begin not atomic execute immediate concat('a', 'b'); end", "Execute:execute immediate concat('a', 'b')|dynamic"},
		{maria, "begin kill 5; end", "Kill:kill 5"}, {maria, "declare a int; begin kill 5; end", "()Do:a int|Kill:kill 5"},
		{maria, "<<l>> begin kill 5; exception when others then kill 6; end", "Kill:kill 5|()Do:others|Kill:kill 6"},
		{maria, "create or replace definer=procedure@h procedure if not exists d.p(in a set('x','y'), b int) comment 'begin' sql security invoker kill 5", "~Kill:kill 5"},
		{maria, "create function f() returns set('a') character set utf8mb4 collate utf8mb4_bin not deterministic reads sql data begin kill 5; return 1; end", "~Kill:kill 5|~()Do:1"},
		{maria, "create function f returns integer soname 'x.so'", ""},
		{maria, "create function f() returns double precision unsigned return (select 1)", "~()Do:(select 1)"},
		{maria, "create trigger tr before insert on t for each row follows other set @a = 1", "~Set:set @a = 1"},
		{maria, "create trigger tr before insert on t for each row begin kill 5; end", "~Kill:kill 5"},
		{maria, "create event e on schedule every 1 day starts current_timestamp + interval 1 day on completion preserve comment 'do' do kill 5", "~Kill:kill 5"},
		{maria, "alter event e on schedule at (select 1) do begin kill 5; kill 6; end", "~Kill:kill 5|~Kill:kill 6"},
		{maria, "alter event e rename to f", ""},
		{maria, "create procedure p() begin prepare s from @v; execute s; end", "~Prepare:prepare s from @v|~Execute:execute s|dynamic~"},
		{maria, "create procedure p() l: begin kill 5; end", "~Kill:kill 5"},
		{maria, "create procedure p as begin kill 5; end", "~Kill:kill 5"},
		{maria, "create function f(a int) return int as begin kill 5; end", "~Kill:kill 5"},
		{maria, "create package body p as procedure q as begin kill 5; end; end", "~Kill:kill 5"},
		{maria, "analyze format=json update t set a = 1", "Update:update t set a = 1"},
		{Mode{ServerVersion: 90700}, "explain analyze select 1", "Select:select 1"},
		{Mode{ServerVersion: 90700}, "create function f() returns int language javascript as $$ kill 5; $$", ""},
		{Mode{ServerVersion: 90700}, "create event e on schedule every 1 day do alter user current_user() identified by 'x'", "~Grant:alter user current_user() identified by 'x'"},
	} {
		got := ContentsOf(c.sql, c.m)
		if got.names() != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got.names(), c.want)
		}
		info := Classify(c.sql, c.m)
		if c.want != "" && !info.Contains() {
			t.Errorf("%s, a %v, is said to contain nothing", c.sql, info.Class)
		}
	}
}

// What is too deep, or too much, is said not to be read.
func TestContentsBounds(t *testing.T) {
	deep := "kill 5"
	for range 10 {
		deep = "execute immediate '" + strings.ReplaceAll(deep, "'", "''") + "'"
	}
	if c := ContentsOf(deep, maria); !c.Unread {
		t.Error("a deep one is read")
	}
	nested := strings.Repeat("set statement a=1 for ", 20) + "kill 5"
	if c := ContentsOf(nested, maria); !c.Unread {
		t.Errorf("a deep one is read: %s", c.names())
	}
	long := "begin not atomic " + strings.Repeat("select 1;", 10000) + " kill 5; end"
	if c := ContentsOf(long, maria); !c.Unread || len(c.Inner) > contentsMax {
		t.Error("a long one is read")
	}
}

func TestSystemNames(t *testing.T) {
	for _, c := range []struct{ sql, db, want string }{
		{"select * from information_schema.processlist", "d", "information_schema.processlist"},
		{"select * from `Information_Schema` . `PROCESSLIST` p", "", "information_schema.processlist"},
		{"select a.mysql, 'mysql.user' from t -- mysql.user", "", ""},
		{"insert into mysql.global_priv values (1)", "", "mysql.global_priv"},
		{"select * from processlist", "information_schema", "information_schema.select information_schema.from information_schema.processlist"},
		{"select 1 from .processlist", "SYS", "sys.select sys.from sys.processlist"},
		{"drop database mysql", "", "mysql."},
		{"update t, mysql.user set a = 1", "", "mysql.user"},
		{"call sys.execute_prepared_stmt('x')", "", "sys.execute_prepared_stmt"},
		{"select * from \u212As_meta.dtx, `\u212aS_Meta`.Secret", "", "ks_meta.dtx ks_meta.secret"},
		{"call KS_Meta.ks_branch()", "", "ks_meta.ks_branch"},
		{"select a.\u212As_meta, k\u017f_meta.dtx, 's_meta', \u212as_metax.dtx, \u212ay.s", "", ""},
	} {
		var got []string
		for _, n := range SystemNames(c.sql, maria, c.db) {
			got = append(got, n.Schema+"."+n.Name)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %q, want %q", c.sql, s, c.want)
		}
		if c.db == "" && Classify(c.sql, maria).Has(SystemSchema) != (c.want != "") {
			t.Errorf("%s: trait", c.sql)
		}
	}
	gb := Mode{ServerVersion: 80000, Charset: GB18030}
	for _, sql := range []string{"select * from \x816\xbf2s_meta.dtx", "select * from `\x816\xbf2S_META`.dtx"} {
		if names := SystemNames(sql, gb, ""); len(names) != 1 || names[0] != (SystemName{ProxySchema, "dtx"}) || !Classify(sql, gb).Has(SystemSchema) {
			t.Errorf("%q: %v", sql, names)
		}
	}
}
