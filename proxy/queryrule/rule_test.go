package queryrule

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql/sqltext"
)

// rules makes a set.
func rules(t testing.TB, list ...config.QueryRule) *Set {
	t.Helper()
	s, err := New(&config.Config{QueryRules: list}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var nobody netip.Addr

// decide gives the names of the rules that match what app sends in the database shop.
func decide(s *Set, text string, m sqltext.Mode) (names []string, d Decision) {
	var sc Scratch
	d = s.For("app", nobody).Decide(&sc, &Statement{Text: text, Info: sqltext.Classify(text, m), DB: "Shop", Mode: m})
	for _, r := range d.Hits {
		names = append(names, r.Name)
	}
	return names, d
}

var (
	mysql8 = sqltext.Mode{ServerVersion: 80036}
	ansi   = sqltext.Mode{ServerVersion: 80036, ANSIQuotes: true}
	maria  = sqltext.Mode{ServerVersion: 101119, MariaDB: true}
)

// Every word of the configuration is known here, and every class of statements has a word.
func TestClassWords(t *testing.T) {
	var all classBits
	for _, word := range config.RuleClasses {
		if classWords[word] == 0 && word != doubtful {
			t.Errorf("%s stands for no class", word)
		}
		all |= classWords[word]
	}
	if len(classWords) != len(config.RuleClasses)-1 {
		t.Errorf("%d words, the configuration has %d", len(classWords), len(config.RuleClasses)-1)
	}
	for c := sqltext.Select; c <= sqltext.Other; c++ {
		if all&bits(c) == 0 {
			t.Errorf("class %v has no word", c)
		}
	}
}

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  config.QueryRule
		mode  sqltext.Mode
		yes   []string
		never []string
	}{
		{"class", config.QueryRule{Classes: []string{"delete", "ddl"}}, maria,
			[]string{"delete from t", "/* select */ DELETE FROM t", "truncate t", "drop table t", "with a as (select 1) delete from t", "/*!40000 delete */ from t",
				"SET STATEMENT max_statement_time=1 FOR DELETE FROM t", "analyze delete from t"},
			[]string{"select 'delete from t'", "explain delete from t", "update t set a = 1", "begin"}},
		{"doubtful", config.QueryRule{Classes: []string{"doubtful"}}, mysql8,
			[]string{"select 1 /* open", "nonsense", "select 'open"}, []string{"select 1", "delete from t"}},
		{"table", config.QueryRule{Tables: []string{"orders"}}, mysql8,
			[]string{"select * from orders", "select * from `Orders`", "select * from other . ORDERS", "select/**/1 from/**/orders", "select a from t join orders using (id)",
				"select orders.id from t", "/*!50000 select * from orders */"},
			[]string{"select 'orders'", "select * from t -- orders", "select * from `orders `", "select * from xorders", "/*!99999 orders */ select 1"}},
		{"ansi quotes", config.QueryRule{Tables: []string{"orders"}}, ansi, []string{`select * from "orders"`}, []string{"select 'orders'"}},
		{"table of a database", config.QueryRule{Tables: []string{"shop.orders"}}, mysql8,
			[]string{"select * from orders", "select * from shop.orders", "select * from `SHOP` /**/ . `orders`", "select shop.orders.id from x.y"},
			[]string{"select * from other.orders", "select * from shop.other"}},
		{"table of another database", config.QueryRule{Tables: []string{"crm.orders"}}, mysql8,
			[]string{"select * from crm.orders", "select * from t, Crm.Orders"}, []string{"select * from orders", "select * from shop.orders"}},
		{"current database", config.QueryRule{Databases: []string{"SHOP"}}, mysql8, []string{"select 1", "begin"}, nil},
		{"database", config.QueryRule{Databases: []string{"crm"}}, mysql8,
			[]string{"select * from crm.t", "use crm", "drop database `CRM`", "show tables from crm"}, []string{"select 'crm'", "select 1"}},
		{"pattern", config.QueryRule{Pattern: `(?i)from orders\b.* limit [0-9]{4,}$`}, mysql8,
			[]string{"select a from  orders limit 5000", "SELECT a FROM/**/orders /* x */ where b\nLIMIT 10000;"}, []string{"select a from orders limit 50", "select a fromorders limit 5000"}},
		{"pattern case", config.QueryRule{Pattern: `SLEEP`}, mysql8, []string{"select SLEEP(1)"}, []string{"select sleep(1)", "select 1 /* SLEEP */"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rule.Name, c.rule.Block = "r", "no"
			s := rules(t, c.rule)
			for _, text := range c.yes {
				if names, _ := decide(s, text, c.mode); len(names) != 1 {
					t.Errorf("does not match %s", text)
				}
			}
			for _, text := range c.never {
				if names, _ := decide(s, text, c.mode); len(names) != 0 {
					t.Errorf("matches %s", text)
				}
			}
		})
	}
}

// A digest copied from SHOW KS DIGESTS matches however the statement is written.
func TestDigestIsNotFooled(t *testing.T) {
	for shown, c := range map[string]struct{ yes, no []string }{
		"SELECT * FROM orders WHERE id = ?": {
			[]string{
				"SELECT * FROM orders WHERE id = 1", "select*from`orders`where`id`=-1", "SeLeCt * FrOm Orders wHeRe ID = 'x'", "/* a */ select /* b */ * -- c\nfrom orders #d\n where id=0x41;",
				"select * from orders where id = 1e5 ;;", "select * from /*!50000 orders */ where id = 1", "select * from orders where id = ? /* password */", "SELECT * FROM orders WHERE id = 'a''b\\'c'",
			},
			[]string{"SELECT * FROM orders", "SELECT * FROM orders WHERE id = 1 OR 1 = 1", "SELECT * FROM orders WHERE id = a"},
		},
		"INSERT INTO t (a, b) VALUES (?)": {
			[]string{"insert into t (a, b) values (1, 'x')", "INSERT INTO `t`(`a`,`b`)VALUES(NULL,2),(3,4)" + strings.Repeat(",(5,6)", 5000)},
			[]string{"insert into t (a) values (1)", "insert into t (a, b) values (f(1), 2)"},
		},
		"SELECT * FROM t WHERE a IN (?)":   {[]string{"select * from t where a in (1)", "select * from t where a in (1,2 , 'x')"}, []string{"select * from t where a in (select 1)"}},
		"UPDATE t SET a...":                {[]string{"update t set abc = 1", "UPDATE `t` SET a = 1 where b"}, []string{"update t set b = 1"}},
		"SELECT `odd name`, `a``b` FROM t": {[]string{"select `Odd Name` , `a``b` from t"}, []string{"select odd name, `a``b` from t"}},
	} {
		s := rules(t, config.QueryRule{Name: "r", Block: "no", Digest: shown})
		for _, text := range c.yes {
			if names, _ := decide(s, text, mysql8); len(names) != 1 {
				t.Errorf("%s does not match %.200s", shown, text)
			}
		}
		for _, text := range c.no {
			if names, _ := decide(s, text, mysql8); len(names) != 0 {
				t.Errorf("%s matches %.200s", shown, text)
			}
		}
	}
	s := rules(t, config.QueryRule{Name: "r", Block: "no", Digest: "SELECT * FROM orders"})
	if names, _ := decide(s, `SELECT * FROM "orders" /* password */`, ansi); len(names) != 1 {
		t.Error("a name in double quotes, and a comment that looks like a secret")
	}
}

// What SHOW KS DIGESTS shows of a statement is a digest that matches it.
func TestShownDigestMatches(t *testing.T) {
	for _, text := range []string{
		"select a.b, count(*), -1, +2 from `a` where c in (-1, 2) and d = b'1' and e = x'41' group by 1 order by b limit 5, 10", "insert into t values (1, f(2)), (3, f(4))",
		"select 1 - 1, (2), ((3)), 'a' 'b', _utf8'x', N'y', date '2020-01-01', interval 1 day", "set @a = 1, @@session.b := 'x'", "call p(1, 'x', null)", "select t.1a, `1`.`2` from `select`",
		"create user u identified by 'x'", "select 1; select 2", "update t set a = a + 1 where b between 1 and 2 and c is not null", "select {d '2020-01-01'}", "select 'open", "select a.*, b->>'$.x' from a",
	} {
		shown := sqltext.AppendNormal(nil, text, mysql8, 1024)
		s := rules(t, config.QueryRule{Name: "r", Block: "no", Digest: string(shown)})
		if names, _ := decide(s, text, mysql8); len(names) != 1 {
			got, _ := appendCanon(nil, nil, text, mysql8)
			t.Errorf("%s is shown as %s, which does not match: %s, want %s", text, shown, got, s.rules[0].digest)
		}
	}
}

func TestOrder(t *testing.T) {
	s := rules(t,
		config.QueryRule{Name: "tried", Block: "never", DryRun: true},
		config.QueryRule{Name: "other", Users: []string{"root"}, Block: "never"},
		config.QueryRule{Name: "let", Tables: []string{"small"}, Allow: true},
		config.QueryRule{Name: "stop", Classes: []string{"delete"}, Block: "no"},
		config.QueryRule{Name: "behind", Classes: []string{"delete"}, Block: "later"},
	)
	for text, want := range map[string]string{"delete from t": "tried stop", "delete from small": "tried let", "select 1": "tried"} {
		names, d := decide(s, text, mysql8)
		if got := strings.Join(names, " "); got != want || (d.Block != nil) != (text == "delete from t") {
			t.Errorf("%s: %s, blocked by %+v; want %s", text, got, d.Block, want)
		}
		d.Count()
	}
	hits := func(s *Set) (n []uint64) {
		for _, r := range s.Rules() {
			n = append(n, r.Hits())
		}
		return n
	}
	if got := hits(s); !slices.Equal(got, []uint64{3, 0, 1, 1, 0}) {
		t.Errorf("hits %v", got)
	}
	next, err := New(&config.Config{QueryRules: []config.QueryRule{{Name: "new", Allow: true}, {Name: "stop", Allow: true}}}, s)
	if err != nil || !slices.Equal(hits(next), []uint64{0, 1}) {
		t.Errorf("hits %v after a reload, %v", hits(next), err)
	}
	text := "delete from t"
	var got []string
	for _, tr := range s.Test("app", nobody, &Statement{Text: text, Info: sqltext.Classify(text, mysql8), Mode: mysql8}) {
		got = append(got, tr.Rule.Name+" "+tr.Why)
	}
	want := []string{"tried dry_run: it only counts", "stop ", "behind rule stop matches first"}
	if !slices.Equal(got, want) || s.Rules()[3].Hits() != 1 {
		t.Errorf("test: %q, want %q", got, want)
	}
}

func TestSenders(t *testing.T) {
	s := rules(t,
		config.QueryRule{Name: "user", Users: []string{"app", "web"}, Allow: true},
		config.QueryRule{Name: "net", Sources: "10.0.0.0/8, ::1", Allow: true},
		config.QueryRule{Name: "both", Users: []string{"App"}, Sources: "10.1.0.0/16", Allow: true},
	)
	for _, c := range []struct{ user, addr, want string }{
		{"app", "192.168.0.1", "user"}, {"app", "10.1.2.3", "user net"}, {"App", "10.1.2.3", "net both"}, {"root", "", ""}, {"web", "", "user"},
		{"root", "::1", "net"}, {"root", "::ffff:10.9.9.9", "net"},
	} {
		addr, _ := netip.ParseAddr(c.addr)
		var names []string
		if v := s.For(c.user, addr); v != nil {
			for _, r := range v.rules {
				names = append(names, r.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s from %q: %q, want %q", c.user, c.addr, got, c.want)
		}
	}
	var none *Set
	if d := none.For("app", nobody).Decide(nil, nil); d.Acts() || none.Rules() != nil {
		t.Error("no rules do something")
	}
}

// No text makes a rule panic, and blanks and comments ahead change nothing.
func FuzzDecide(f *testing.F) {
	f.Add("select a.b from `c` where d = 'x' and e in (1, 2) /*!50000 and f */")
	f.Add("insert into t values (1),(-2) /*")
	s, err := New(&config.Config{QueryRules: []config.QueryRule{
		{Name: "t", Tables: []string{"c", "a.b"}, Databases: []string{"x"}, Block: "no", DryRun: true},
		{Name: "w", Pattern: `(\w) ?= ?\?`, Rewrite: `\1 = 1`, Next: true},
		{Name: "d", Digest: "SELECT a.b FROM c", Block: "no", DryRun: true}, {Name: "p", Pattern: "a.*c", Block: "no", DryRun: true},
	}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, _ := decide(s, text, mysql8)
		if b, _ := decide(s, " /* y */ "+text, mysql8); !slices.Equal(a, b) {
			t.Errorf("%q: %v and %v", text, a, b)
		}
	})
}

// BenchmarkDecide measures what a statement costs with rules of each kind; none of them allocates.
func BenchmarkDecide(b *testing.B) {
	const text = "SELECT c FROM sbtest1 WHERE id = 5005"
	st := Statement{Text: text, Info: sqltext.Classify(text, mysql8), DB: "shop", Mode: mysql8}
	ten := make([]config.QueryRule, 10)
	for k := range ten {
		ten[k] = config.QueryRule{Name: string(rune('a' + k)), Classes: []string{"delete"}, Block: "no"}
	}
	for _, c := range []struct {
		name  string
		rules []config.QueryRule
	}{
		{"none", nil},
		{"of others", []config.QueryRule{{Name: "a", Users: []string{"other"}, Block: "no"}}},
		{"ten by class", ten},
		{"table", []config.QueryRule{{Name: "a", Tables: []string{"shop.orders"}, Block: "no"}}},
		{"digest", []config.QueryRule{{Name: "a", Digest: "SELECT * FROM t", Block: "no"}}},
		{"pattern", []config.QueryRule{{Name: "a", Pattern: "(?i)from orders", Block: "no"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			v := rules(b, c.rules...).For("app", nobody)
			var sc Scratch
			b.ReportAllocs()
			for b.Loop() {
				if d := v.Decide(&sc, &st); d.Acts() {
					b.Fatal("blocked")
				}
			}
		})
	}
	// What a key to keep decisions by would cost.
	b.Run("key", func(b *testing.B) {
		var d sqltext.Digest
		b.ReportAllocs()
		for b.Loop() {
			if !d.Scan(text, mysql8) {
				b.Fatal("no key")
			}
		}
	})
}
