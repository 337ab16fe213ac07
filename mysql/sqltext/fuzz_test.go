package sqltext

import (
	"strings"
	"testing"
)

// modeOf makes a Mode of a byte.
func modeOf(b byte) Mode {
	m := Mode{ANSIQuotes: b&1 != 0, NoBackslashEscapes: b&2 != 0, MariaDB: b&4 != 0, Charset: Charset(b>>4) % (GB18030 + 1)}
	switch {
	case b&8 != 0:
	case m.MariaDB:
		m.ServerVersion = 101119
	default:
		m.ServerVersion = 80400
	}
	return m
}

var seeds = []string{
	"", ";", "select 1", "select 1; select 2", "/*node1*/ select /*master*/ a from t", "/*!50001 select */ 1 /*!99999 x */",
	"select 'a\\'b', \"c\", `d`, N'e', x'41', 0x41, b'01', .5, 1e5, 1.e(2), t.1a, @a := @@session.b, ? -- f",
	"insert into t (a) values (last_insert_id(1), connection_id())", "with recursive a (b) as (select 1) update a set b = 2",
	"create definer=`a`@`b` procedure p() begin select 1; end", "set global a = 1, @@b := 'x', names utf8 collate y",
	"set statement a = 1 for select 1", "explain format=json into @x select 1", "begin not atomic select 1; end",
	"select '\xbf\x5c' or 1", "load data local infile 'x' into table t (a, @b)", "select \x00 $a \xa0 \\N",
	"start transaction with consistent snapshot, read only", "rollback work to savepoint `x`", "kill query 5",
	"begin not atomic declare exit handler for not found kill 5; l: if a then execute immediate 'set x = 1'; end if; end",
	"set statement a = 1, sql_mode = '' for execute immediate 'set statement b = 2 for kill 5'", "create procedure mysql.p(a int) returns int case a when b then kill 5; end case",
	"create event e on schedule every 1 day do /*!50000 begin */ shutdown; end", "<<l>> declare a int; begin for i in 1..2 loop null; end loop; end",
	"prepare s from 'select \\'x\\''", "execute s using @a, @b", "show count(*) warnings", "show errors limit 1, 2",
}

func FuzzClassify(f *testing.F) {
	for _, s := range seeds {
		for _, m := range []byte{0, 1, 2, 4, 0x20, 0x50} {
			f.Add(s, m)
		}
	}
	f.Fuzz(func(t *testing.T, sql string, mode byte) {
		m := modeOf(mode)
		l := NewLexer(sql, m)
		for end := 0; ; {
			tok := l.Next()
			if tok.Pos < end || tok.End < tok.Pos || tok.End > len(sql) || tok.End == tok.Pos && tok.Kind != KindEOF && tok.Kind != KindInvalid {
				t.Fatalf("token %+v behind %d", tok, end)
			}
			if tok.Kind == KindInvalid && !l.Doubt() {
				t.Fatal("an invalid token without a doubt")
			}
			if end = tok.End; tok.Kind == KindEOF {
				break
			}
		}
		i := Classify(sql, m)
		if i.First < 0 || i.First > i.End || i.End > i.Next || i.Next > len(sql) {
			t.Fatalf("bounds %d %d %d of %d", i.First, i.End, i.Next, len(sql))
		}
		if i.Has(Multi) && SplitSafe(i) != (i.Next < len(sql)) {
			t.Fatalf("%v: next %d of %d", i, i.Next, len(sql))
		}
		if i.ReadOnly() && i.Has(Doubt|Multi|Body|EffectFunction) {
			t.Fatalf("%v is read-only", i)
		}
		for _, prefix := range []string{" ", "\n\t", "/* a */", "-- a\n", "# a\n", "/*!99999 a */"} {
			if m.ServerVersion == 0 && strings.Contains(prefix, "!") {
				continue // a doubt of its own
			}
			p := Classify(prefix+sql, m)
			const own = VersionComment
			if p.Class != i.Class || p.Target != i.Target || p.Traits&^own != i.Traits&^own {
				t.Fatalf("%q: %v %s, with %q ahead %v %s", sql, i.Class, i.Traits.names(), prefix, p.Class, p.Traits.names())
			}
		}
		if s := sql[i.First:i.End]; i.Class != Empty && !i.Has(Doubt|MasterHint|VersionComment) {
			alone := Classify(s, m)
			if alone.Class != i.Class || alone.Traits != i.Traits&^(Multi|Hint) && alone.Traits != i.Traits&^Multi {
				t.Fatalf("%q alone is %v %s, not %v %s", s, alone.Class, alone.Traits.names(), i.Class, i.Traits.names())
			}
		}
		pos := 0
		for part := range Split(sql, m) {
			if part.First < pos || part.Next > len(sql) {
				t.Fatalf("part %v begins before %d", part, pos)
			}
			pos = part.End
		}
		pos = 0
		for _, span := range Functions(sql, m, anyCall) {
			if span.Pos < pos || span.End <= span.Pos || span.End > i.End || span.Text != sql[span.Pos:span.End] {
				t.Fatalf("span %+v behind %d", span, pos)
			}
			pos = span.End
		}
		ParseTransaction(sql, m)
		ParseKill(sql, m)
		ParseUse(sql, m)
		ParseExecute(sql, m)
		ParseExecuteImmediate(sql, m)
		ParseDeallocate(sql, m)
		ParseShow(sql, m)
		Unquote(sql, m)
		AccountsOf(sql, m)
		checkContents(t, sql, m)
	})
}

// checkContents checks the bounds of what is within a statement.
func checkContents(t *testing.T, sql string, m Mode) {
	c := ContentsOf(sql, m)
	if len(c.Inner) > contentsMax {
		t.Fatalf("%d statements within", len(c.Inner))
	}
	for _, in := range c.Inner {
		if len(in.Text) > len(sql)+len("SET ") {
			t.Fatalf("%q is within", in.Text)
		}
		if again := Classify(in.Text, in.Mode); !in.Expressions && again.Class != in.Info.Class && !in.Info.Has(VersionComment|Doubt) {
			t.Fatalf("%q is %v, alone %v", in.Text, in.Info.Class, again.Class)
		}
	}
	for _, d := range c.Dynamic {
		if d.Direct && (d.Pos < 0 || d.End <= d.Pos || d.End > len(sql)) {
			t.Fatalf("dynamic %+v of %d", d, len(sql))
		}
	}
	if i := Classify(sql, m); !i.Contains() && (len(c.Inner) > 0 || len(c.Dynamic) > 0) {
		t.Fatalf("a %v contains %v", i.Class, c.Inner)
	}
	for _, n := range SystemNames(sql, m, "") {
		if !IsSystemSchema(n.Schema) {
			t.Fatalf("%+v", n)
		}
	}
}

func FuzzParseSet(f *testing.F) {
	for _, s := range seeds {
		if strings.Contains(s, "set") {
			f.Add(s, byte(0))
		}
	}
	for _, s := range []string{
		"set session transaction isolation level read committed, read only", "/*!40101 set @a=@@b, c='d' */;", "set @@`a`.`b` = -1",
		"set password for u = 'x'", "set role none", "set a = (select 1, 2), @`b` = N'x', character set utf8",
	} {
		f.Add(s, byte(0))
		f.Add(s, byte(5))
	}
	f.Fuzz(func(t *testing.T, sql string, mode byte) {
		m := modeOf(mode)
		list, ok := ParseSet(sql, m)
		if !ok {
			if list != nil {
				t.Fatal("assignments of what is not understood")
			}
			return
		}
		i := Classify(sql, m)
		// A function whose name is not ASCII is a doubt, but an expression like any other.
		if i.Class != Set || i.Has(Multi) || i.Has(Doubt) && !i.Has(EffectFunction) {
			t.Fatalf("ParseSet understands %v %s", i.Class, i.Traits.names())
		}
		for _, a := range list {
			switch a.Scope {
			case Password:
				if a.Value != "" {
					t.Fatal("a password is kept")
				}
			case Session, Global, Persist, PersistOnly, User, NextTransaction:
				if a.Name == "" || a.Value == "" {
					t.Fatalf("%+v", a)
				}
				// A literal is understood again when it is sent on.
				if a.Literal && a.Scope == Session && nameOf(a.Name) {
					again, ok := ParseSet("set session "+a.Name+" = "+a.Value, m)
					if !ok || len(again) != 1 || again[0] != a {
						t.Fatalf("%+v again: %+v %v", a, again, ok)
					}
				}
			}
		}
	})
}

// nameOf tells names that need no quotes.
func nameOf(s string) bool {
	for _, c := range []byte(s) {
		if c != '_' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return !reservedTarget(s)
}
