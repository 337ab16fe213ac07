package sqltext

import (
	"strings"
	"testing"
)

func TestAppendNormal(t *testing.T) {
	ansi := Mode{ANSIQuotes: true, ServerVersion: 80400}
	for _, c := range []struct {
		sql, want string
		mode      Mode
	}{
		{sql: "SELECT name FROM users WHERE id = 42", want: "SELECT name FROM users WHERE id = ?"},
		{sql: "select  *\tfrom t1\nwhere a='x' -- comment", want: "select * from t1 where a = ?"},
		{sql: "SELECT 'secret', 1.5e3, x'ff', 0b1, N'n', _utf8mb4'é', -5", want: "SELECT ?, _utf8mb4 ?"},
		{sql: "SELECT a -5, a - 5, (-5), b=-5, - a", want: "SELECT a - ?, a - ?, (?), b = ?, - a"},
		{sql: "SELECT * FROM t WHERE a IN (1, 2, 3) AND b in(4)", want: "SELECT * FROM t WHERE a IN (?) AND b in(?)"},
		{sql: "INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL), (3, DEFAULT)", want: "INSERT INTO t (a, b) VALUES (?)"},
		{sql: "INSERT INTO t VALUES (1, NOW()), (2, NOW()), (3, NOW())", want: "INSERT INTO t VALUES (?, NOW())"},
		{sql: "INSERT INTO t VALUES (1, f(2)), (1, g(2))", want: "INSERT INTO t VALUES (?, f(?)), (?, g(?))"},
		{sql: "SELECT count(*), a.b, `c`.`d`, t.* FROM a.t1 t WHERE (a, b) IN ((1,2),(3,4)) LIMIT 5, 10",
			want: "SELECT count(*), a.b, `c`.`d`, t.* FROM a.t1 t WHERE (a, b) IN ((?)) LIMIT ?"},
		{sql: "SELECT @a, @'b', @@session.sql_mode, 1.a, .5", want: "SELECT @a, @?, @@session.sql_mode, ? a, ?"},
		{sql: "/*node1*/ SELECT /*+ hint */ a /* 'x' */ FROM t # y", want: "SELECT a FROM t"},
		{sql: "/*!40101 SET NAMES utf8 */;", want: "SET NAMES utf8", mode: Mode{ServerVersion: 80400}},
		{sql: "select 1; select a from b;", want: "select ?; select a from b"},
		{sql: "SELECT a IS NULL, b = NULL, a IS NOT TRUE", want: "SELECT a IS NULL, b = NULL, a IS NOT TRUE"},
		{sql: "", want: ""},
		{sql: " /* nothing */ ", want: ""},

		// Malformed: whatever cannot be read is a value.
		{sql: "SELECT 'abc", want: "SELECT ?"},
		{sql: "SELECT a /* abc", want: "SELECT a ?"},
		{sql: "SELECT \"abc", want: "SELECT ?", mode: ansi},
		{sql: "SELECT `abc", want: "SELECT ?"},
		{sql: ")))) (((( , , .", want: ")))) ((((,,."},

		// Secrets.
		{sql: "CREATE USER u IDENTIFIED BY 'pw'", want: "CREATE USER u IDENTIFIED..."},
		{sql: "CREATE USER u@'h' identified with mysql_native_password by unquoted", want: "CREATE USER u @? identified..."},
		{sql: "SET PASSWORD FOR 'u'@'h' = PASSWORD(pw)", want: "SET PASSWORD..."},
		{sql: "set /**/ password = pw", want: "set password..."},
		{sql: "UPDATE t SET password = 'pw' WHERE id = 1", want: "UPDATE t SET password = ? WHERE id = ?"},
		{sql: "KS SET user_list[root].password = pw", want: "KS SET..."},
		{sql: "select 1; ks /* */ set web_password pw", want: "select ?; ks set..."},
		{sql: "SHOW KS SETTINGS; UPDATE a JOIN b ON a.x = ks SET a.y = 1", want: "SHOW KS SETTINGS; UPDATE a JOIN b ON a.x = ks SET a.y = ?"},
		{sql: "ALTER USER u PASSWORD EXPIRE", want: "ALTER USER u PASSWORD EXPIRE"},
		{sql: `CHANGE MASTER TO MASTER_PASSWORD="pw"`, want: "CHANGE MASTER TO MASTER_PASSWORD = ?", mode: ansi},
		{sql: `SELECT "a" FROM "t"`, want: `SELECT "a" FROM "t"`, mode: ansi},
	} {
		if got := string(AppendNormal(nil, c.sql, c.mode, 1024)); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// Lists of any length have one normal form, and long ones do not fill it.
func TestAppendNormalLists(t *testing.T) {
	for _, sql := range []string{wideInsert(), "SELECT a FROM t WHERE id IN (" + strings.Repeat("12345, ", 5000) + "1)"} {
		if got := string(AppendNormal(nil, sql, Mode{}, 128)); len(got) > 64 || strings.Contains(got, "...") {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	}
}

// longNumbers is a list of numbers that Classify remembers.
var longNumbers = "1" + strings.Repeat(", 23,-4,5", 80)

// What Classify remembers of a list changes nothing of the normal form, wherever the list is.
func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		text       string
		remembered bool
	}{
		{"SELECT a FROM t WHERE id IN (#)", true}, {"SELECT a FROM t WHERE id IN (#) AND b NOT IN (-#, #)", true}, {"DELETE FROM t WHERE f(#) = 'a#' OR `#` = 2", true},
		{"INSERT INTO t VALUES (#), (#), (1)", true}, {"SELECT # FROM t", true}, {"SELECT #", true}, {"SELECT #a, 1", true}, {"SELECT #, 4.5, 6, 0x7, #, NULL", true},
		{"SELECT #; SELECT #, 1", true}, {"SELECT -1 - #", true}, {"SELECT /* # */ #", true}, {"SELECT 1 IN ( # , # )", true}, {"SET a = 1, password = #", false},
		{"SELECT '#'", false}, {"SELECT 1, 2, 3", false}, {"SELECT /*! # */ 1", false}, {"SELECT a$#, `#`", true}, {"", false}, {"SELECT #, --#\n, 1", true},
	} {
		for _, m := range []Mode{{}, {MariaDB: true, ServerVersion: 101100}, {ANSIQuotes: true, NoBackslashEscapes: true}} {
			text := strings.ReplaceAll(tt.text, "#", longNumbers)
			n := Classify(text, m).Numbers
			if n != (Numbers{}) != tt.remembered {
				t.Errorf("%s: %v", tt.text, n)
			}
			for limit := range 200 {
				if got, want := string(n.AppendNormal(nil, text, m, limit)), string(AppendNormal(nil, text, m, limit)); got != want {
					t.Errorf("%s, at most %d bytes: %s, want %s", tt.text, limit, got, want)
				}
			}
		}
	}
}

// Numbers between commas are passed over at once; with two blanks behind each comma they are read one by one.
func TestAppendNormalNumbers(t *testing.T) {
	for _, sql := range []string{
		"SELECT a FROM t WHERE id IN (1, 2, -3, 4)", "SELECT 1, 2, a, 3, -b, 4, - 5, 6", "SELECT 1, 2.5, 3, .5, 4e5, 5, 0x6, 7, 8a, 9", "SELECT 1, 2",
		"SELECT 1, 2, -3", "SELECT 1, ", "SELECT 1, -", "INSERT INTO t VALUES (1, 2), (3, -4), (5, 6, 7), (NULL, 8)", "SELECT 1, 2 FROM t LIMIT 3, 4", "SELECT 1, 2, t.3, 4$",
		"SELECT 1, 2--3, 4", "SELECT 1, --2\n, 3", "SELECT 1, 2/* x */, 3", "SET a = 1, password = 2",
	} {
		slow := strings.ReplaceAll(sql, ", ", ",  ")
		if got, want := string(AppendNormal(nil, sql, Mode{}, 128)), string(AppendNormal(nil, slow, Mode{}, 128)); got != want {
			t.Errorf("%s: %s; read one by one: %s", sql, got, want)
		}
	}
}

func TestAppendNormalIsCut(t *testing.T) {
	for _, sql := range []string{strings.Repeat("abc ", 100), strings.Repeat("é", 400), "SELECT `" + strings.Repeat("é", 400) + "`", strings.Repeat("a", 21)} {
		got := string(AppendNormal([]byte("before"), sql, Mode{}, 20))
		if len(got) > 26 || !strings.HasPrefix(got, "before") || !strings.HasSuffix(got, "...") || !strings.HasPrefix(sql, got[6:len(got)-3]) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("%q", got)
		}
	}
	if got := string(AppendNormal(nil, strings.Repeat("a", 20), Mode{}, 20)); got != strings.Repeat("a", 20) {
		t.Errorf("%q", got)
	}
}

func TestSecretive(t *testing.T) {
	for _, sql := range []string{"SET PASSWORD = 'x'", "create user a Identified by 'x'", "/*!IDENTIFIED*/", "SELECT aes_ENCRYPT(a, 'k')", "api_TOKEN"} {
		if !Secretive(sql) {
			t.Error(sql)
		}
	}
	for _, sql := range []string{"", "SELECT 1", "SELECT passwor", "PAS SWORD"} {
		if Secretive(sql) {
			t.Error(sql)
		}
	}
}

// What is there already is not touched, and the room behind stays the caller's.
func TestAppendNormalKeepsTheBuffer(t *testing.T) {
	if got := AppendNormal(append(make([]byte, 0, 100), "a; "...), " ;", Mode{}, 50); string(got) != "a; " || cap(got) != 100 {
		t.Errorf("%q, capacity %d", got, cap(got))
	}
}

func TestAppendNormalAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 2048)
	for _, sql := range []string{pointSelect, smallInsert, wideSelect(), wideInsert()} {
		if n := testing.AllocsPerRun(100, func() { AppendNormal(buf, sql, Mode{}, 1024) }); n != 0 {
			t.Errorf("%.40s: %v allocations", sql, n)
		}
	}
}

func BenchmarkAppendNormal(b *testing.B) {
	for _, c := range []struct{ name, sql string }{{"point", pointSelect}, {"insert", smallInsert}, {"wide", wideSelect()}, {"rows", wideInsert()}, {"list=17k", numberList(17_000)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 2048)
			for b.Loop() {
				AppendNormal(buf, c.sql, Mode{ServerVersion: 80400}, 1024)
			}
		})
	}
}

// No byte of a literal is in the normal form, and it is never longer than asked for.
func FuzzAppendNormal(f *testing.F) {
	for _, sql := range []string{pointSelect, smallInsert, "SELECT 'a''b', \"c\\\"d\"", "((1),(2)),((3),(4))", "/*! 'a' */"} {
		f.Add(sql, false, false)
	}
	f.Fuzz(func(t *testing.T, sql string, ansi, noBackslash bool) {
		m := Mode{ANSIQuotes: ansi, NoBackslashEscapes: noBackslash}
		out := AppendNormal(nil, sql, m, 100)
		for _, text := range []string{sql, strings.ReplaceAll(sql, "1", longNumbers)} {
			if got, want := Classify(text, m).Numbers.AppendNormal(nil, text, m, 1000), AppendNormal(nil, text, m, 1000); string(got) != string(want) {
				t.Fatalf("with the numbers known: %q, want %q", got, want)
			}
		}
		if len(out) > 100 {
			t.Fatalf("%d bytes", len(out))
		}
		quotes := "'\""
		if strings.Contains(sql, "`") {
			return // a name may hold any quote
		}
		if ansi {
			if strings.Contains(sql, "\"") {
				return
			}
			quotes = "'"
		}
		if strings.ContainsAny(string(out), quotes) {
			t.Fatalf("a quote: %q", out)
		}
	})
}
