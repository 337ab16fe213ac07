package sqltext

import "testing"

// classifySlowly is Classify token by token: what collects calls passes over nothing.
func classifySlowly(sql string, m Mode) Info {
	s := scanner{sql: sql, l: NewLexer(sql, m), maria: m.MariaDB, calls: new(calls)}
	return s.run()
}

// skimTexts are statements in which tokens are passed over, and what is not to be passed over stands between them.
var skimTexts = []string{
	"select t.x'41', t.1a, t.1, t .5, t. 5, .5, 1.5, 1., 1.5e3, 1e, 1a, 0x41, 0b1, x'41', n'a', b'1' from t",
	"select a.nextval, nextval, b.currval, s.`nextval`(1), `f`(1), f(1), f (1), a.f(1), count (1), count(1), `count`(1) from t",
	"select a from t where b in (1, -2, +3) and c = 'a''b' or d = 'a\\'b' or e = \"x\" or `f` = '`' or g <=> h or i->j or i->>'$'",
	"select 1 -- two\n, 2 --3\n, 4 # five\n, 6 /* seven */, 8 /*!50000 , f(9) */, 10 /*!99999 , f(11) */, 12 */ 13",
	"insert into t (a, b) values (1, 'x'), (2, 'y'), (f(3), 'z') on duplicate key update a = values(a), b = 'c'",
	"select a into @b, @c from t", "select a into outfile 'x' from t", "select a, b into c from t", "select a from t for update",
	"select a from t lock in share mode", "select next value for s", "select @a := 1, b, @c from t where @d = 1 and e", "select a := 1",
	"create procedure p() begin select 1, 2; update t set a = 1; end", "set a = 1, b = @c, @d = (select 1, 2)", "do f(1), 2",
	"select member of(a), a as t (b, c), 1 from t as t1 (a, b)", "with a (b, c) as (select 1, 2) select b, c from a",
	"select \xc3\xa4, \xc3\xa4(1), 'a\xc3', `b\x00c`, a$b, $a, t.$a, \xff from t", "select ```a`, `a```, ``, 'a", "select `a", "select a, b.",
	"grant select on a.* to u@h, v@`w`", "select current_user, current_user(), user (), f. g(1), a .b(1), a.*, t.`x`.*, * from t",
	"explain select a, b from t; select 2", "select a, b; update t set c = 1, d = 2", "select {d '2020-01-01'}, a[1], !b, ~c, a && b, a || b, a << 1",
	"select 1, 2, -3, 4 from t", "select 1, 2, -3", "select f(1, 2, -3), g (4, 5), (6, -7)(8)", "select 1, 2.5, 3, .5, 4e5, 5, 0x6, 7, 8a, 9",
	"select a from t limit 1, 2", "select a from t limit 1, 2 for update", "select 1, - 2, 3, --4\n, 5, -6/* */, 7--8, 9", "select 1,2,3,a,4,5 into @b",
	"call p(1, @a), 2", "table t order by a limit 5, 6", "select t.a$b, t.1$, t.`a`.b, 5.a, a.5, a.5.b, (a.5), 1.2.3, @@a.b, @a.b, ? , ?a, x from t",
}

// classifyOnly is Classify without what only skimming finds.
func classifyOnly(sql string, m Mode) Info {
	info := Classify(sql, m)
	info.Numbers = Numbers{}
	return info
}

// TestSkimChangesNothing compares with what reading token by token finds.
func TestSkimChangesNothing(t *testing.T) {
	texts := append(append([]string{pointSelect, smallInsert, wideSelect(), quotedSelect(), wideInsert(), numberList(1000)}, seeds...), skimTexts...)
	for _, sql := range texts {
		modes, cuts := 0x60, 40
		if len(sql) > 500 {
			modes, cuts = 0x10, 2 // the same again and again
		}
		for mode := range modes {
			m := modeOf(byte(mode))
			for n := max(0, len(sql)-cuts); n <= len(sql); n++ {
				if got, want := classifyOnly(sql[:n], m), classifySlowly(sql[:n], m); got != want {
					t.Fatalf("%q in mode %#x: %v, read token by token %v", sql[:n], mode, got, want)
				}
			}
		}
	}
}

func FuzzSkim(f *testing.F) {
	for k, s := range append(append([]string{pointSelect, smallInsert}, seeds...), skimTexts...) {
		f.Add(s, byte(k))
	}
	f.Fuzz(func(t *testing.T, sql string, mode byte) {
		m := modeOf(mode)
		if got, want := classifyOnly(sql, m), classifySlowly(sql, m); got != want {
			t.Fatalf("%v, read token by token %v", got, want)
		}
	})
}
