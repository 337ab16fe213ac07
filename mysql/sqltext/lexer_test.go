package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

var kindNames = [...]string{
	"EOF", "word", "quoted", "string", "number", "hex", "bit", "param", "uservar", "sysvar", "op", "semicolon", "invalid",
}

// tokens spells out what the lexer makes of a text.
func tokens(sql string, m Mode) string {
	l := NewLexer(sql, m)
	var b strings.Builder
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		fmt.Fprintf(&b, "%s<%s> ", kindNames[t.Kind], sql[t.Pos:t.End])
	}
	if l.Doubt() {
		b.WriteString("doubt")
	}
	return strings.TrimSpace(b.String())
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"", ""},
		{"select*from t", "word<select> op<*> word<from> word<t>"},
		{"SELECT/**/1", "word<SELECT> number<1>"},
		{"select--x", "word<select> op<-> op<-> word<x>"},
		{"select -- x\n1", "word<select> number<1>"},
		{"select --\t1", "word<select>"},
		{"select --\x011", "word<select>"},
		{"select 1--", "word<select> number<1>"},
		{"5--1", "number<5> op<-> op<-> number<1>"},
		{"1#2\n3", "number<1> number<3>"},
		{"# a\r\n1", "number<1>"},
		{"1 # a\x00b", "number<1> invalid<\x00> word<b> doubt"},
		{"/* a /* b */ c */", "word<c> op<*> op</>"},
		{"/*/ 1 */ 2", "number<2>"},
		{"/* a", "invalid</* a> doubt"},
		{"/*", "invalid</*> doubt"},
		{"1 * / 2", "number<1> op<*> op</> number<2>"},
		{"'a'", "string<'a'>"},
		{`'a\'b'`, `string<'a\'b'>`},
		{`'a''b'`, `string<'a''b'>`},
		{`'a\\'`, `string<'a\\'>`},
		{`'a\`, `invalid<'a\> doubt`},
		{`'a\'`, `invalid<'a\'> doubt`},
		{`'a''`, `invalid<'a''> doubt`},
		{`"a\"b" "c""d"`, `string<"a\"b"> string<"c""d">`},
		{`'a"b' "a'b"`, `string<'a"b'> string<"a'b">`},
		{"'/*' '--' '#'", "string<'/*'> string<'--'> string<'#'>"},
		{"'a\x00b'", "string<'a\x00b'>"},
		{"N'x' n'y' n 'z'", "string<N'x'> string<n'y'> word<n> string<'z'>"},
		{`n"x"`, `word<n> string<"x">`},
		{"_utf8mb4'x' _binary 0x1f", "word<_utf8mb4> string<'x'> word<_binary> hex<0x1f>"},
		{"X'1f' x'' x'1'", "hex<X'1f'> hex<x''> invalid<x'1> invalid<'> doubt"},
		{"x'zz'", "invalid<x'> word<zz> invalid<'> doubt"},
		{"b'01' B'' b'2'", "bit<b'01'> bit<B''> invalid<b'> number<2> invalid<'> doubt"},
		{"0x 0x1F 0X1F 0x1g 0xg", "word<0x> hex<0x1F> word<0X1F> word<0x1g> word<0xg>"},
		{"0b 0b01 0B01 0b2", "word<0b> bit<0b01> word<0B01> word<0b2>"},
		{"1 12 1.5 1. .5 1e5 1E+5 1.5e-5 .5e5", "number<1> number<12> number<1.5> number<1.> number<.5> number<1e5> number<1E+5> number<1.5e-5> number<.5e5>"},
		{"1e 1ea 1e+ 1a 1_ 1$", "word<1e> word<1ea> word<1e> op<+> word<1a> word<1_> word<1$>"},
		{"1e5x", "number<1e5> word<x>"},
		{"1.5x", "number<1.5> word<x>"},
		{"1.e(2)", "invalid<1.e> op<(> number<2> op<)> doubt"},
		{"1.1e+", "invalid<1.1e> op<+> doubt"},
		{"t.1a", "word<t> op<.> word<1a>"},
		{"t.1", "word<t> op<.> word<1>"},
		{"t.1e5", "word<t> op<.> word<1e5>"},
		{"t .1", "word<t> number<.1>"},
		{"t. 1", "word<t> op<.> number<1>"},
		{"t.x'1'", "word<t> op<.> word<x> string<'1'>"},
		{"t.*", "word<t> op<.> op<*>"},
		{"`t`.`a``b`", "quoted<`t`> op<.> quoted<`a``b`>"},
		{"`a\\`", "quoted<`a\\`>"},
		{"`a", "invalid<`a> doubt"},
		{"`a\x00`", "invalid<`a\x00`> doubt"},
		{"@a @a.b @_$1 @1", "uservar<@a> uservar<@a.b> uservar<@_$1> uservar<@1>"},
		{"@`a b` @'c''d' @\"e\"", "uservar<@`a b`> uservar<@'c''d'> uservar<@\"e\">"},
		{"@a:=1", "uservar<@a> op<:=> number<1>"},
		{"@ a", "invalid<@> word<a> doubt"},
		{"@'a", "invalid<@'a> doubt"},
		{"@@a @@global.a @@SESSION.a.b @@`a`.`b`", "sysvar<@@a> sysvar<@@global.a> sysvar<@@SESSION.a.b> sysvar<@@`a`.`b`>"},
		{"@@global", "invalid<@@global> doubt"},
		{"@@a. b", "sysvar<@@a. b>"},
		{"@@session /* a */ . -- b\n`x` + @@a .b", "sysvar<@@session /* a */ . -- b\n`x`> op<+> sysvar<@@a .b>"},
		{"@@session . , @@ a", "invalid<@@session> op<.> op<,> invalid<@@> word<a> doubt"},
		{"@@session/*!40101 .x */", "invalid<@@session> op<.> word<x> doubt"},
		{"u@h 'u'@'h'", "word<u> uservar<@h> string<'u'> uservar<@'h'>"},
		{"@\u00e4", "uservar<@\u00e4>"},
		{"@\xe4", "uservar<@\xe4> doubt"},
		{"? ?,?", "param<?> param<?> op<,> param<?>"},
		{"?1", "invalid<?> number<1> doubt"},
		{"a->>'$.b'", "word<a> op<->>> string<'$.b'>"},
		{"a->'$.b'", "word<a> op<->> string<'$.b'>"},
		{"a<=>b<=c<>d<<e>=f>>g!=h!i&&j||k&l|m", "word<a> op<<=>> word<b> op<<=> word<c> op<<>> word<d> op<<<> word<e> op<>=> word<f> op<>>> word<g> op<!=> word<h> op<!> word<i> op<&&> word<j> op<||> word<k> op<&> word<l> op<|> word<m>"},
		{"a;b", "word<a> semicolon<;> word<b>"},
		{"a\x00b", "word<a> invalid<\x00> word<b> doubt"},
		{"\\N", "invalid<\\> word<N> doubt"},
		{"$a a$b $$", "word<$a> word<a$b> word<$$> doubt"},
		{"\u00fcn\u00ef 'x'", "word<\u00fcn\u00ef> string<'x'>"},
		{"a\xa0b", "word<a\xa0b> doubt"},
		{"\ufeffselect", "word<\ufeffselect>"},
		{"{fn now()}", "op<{> word<fn> word<now> op<(> op<)> op<}>"},
	} {
		if got := tokens(c.sql, mysql84); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

func TestTokensByMode(t *testing.T) {
	ansi := Mode{ANSIQuotes: true}
	plain := Mode{NoBackslashEscapes: true}
	for _, c := range []struct {
		m         Mode
		sql, want string
	}{
		{ansi, `"a" 'b'`, `quoted<"a"> string<'b'>`},
		{ansi, `"a\" 'b'`, `quoted<"a\"> string<'b'>`},
		{ansi, `"a""b"`, `quoted<"a""b">`},
		{ansi, `@"a\"`, `uservar<@"a\">`},
		{plain, `'a\' b`, `string<'a\'> word<b>`},
		{plain, `'a\'' b`, `invalid<'a\'' b> doubt`},
		{plain, `'a''b'`, `string<'a''b'>`},
		{plain, `"a\"`, `string<"a\">`},
		{maria, `\N \n`, `word<\N> invalid<\> word<n> doubt`},

		{Mode{Charset: GBK}, "'\xbf\x5c' or 1", "string<'\xbf\x5c'> word<or> number<1>"},
		{Mode{Charset: GBK}, "'\xbf\x27 or 1", "string<'\xbf'> word<or> number<1> doubt"},
		{Mode{Charset: GBK}, "'\xbf\x5c\x27 or 1 -- '", "string<'\xbf\x5c'> word<or> number<1>"},
		{Mode{Charset: ASCIISafe}, "'\xbf\x5c\x27 or 1 -- '", "string<'\xbf\x5c\x27 or 1 -- '>"},
		{Mode{Charset: GBK}, "'\\\xbf\x5c' or 1'", "string<'\\\xbf\x5c' or 1'>"},
		{Mode{Charset: GBK}, "`\xbf\x60` a", "quoted<`\xbf\x60`> word<a>"},
		{Mode{Charset: GBK}, "\xbf\x5c a", "word<\xbf\x5c> word<a>"},
		{Mode{Charset: GBK}, "a\xbf a", "word<a\xbf> word<a> doubt"},
		{Mode{Charset: SJIS}, "'\x95\x5c' 1", "string<'\x95\x5c'> number<1>"},
		{Mode{Charset: SJIS}, "'\xb1\x5c' 1'", "string<'\xb1\x5c' 1'>"},
		{Mode{Charset: Big5}, "'\xa5\x5c' 1", "string<'\xa5\x5c'> number<1>"},
		{Mode{Charset: Big5}, "'\x81\x5c' 1'", "string<'\x81\x5c' 1'>"},
		{Mode{Charset: GB18030}, "'\x81\x30\x81\x30\x5c' 1'", "string<'\x81\x30\x81\x30\x5c' 1'>"},
		{Mode{Charset: GB18030}, "'\x81\x5c' 1", "string<'\x81\x5c'> number<1>"},
		{Mode{Charset: SingleByte}, "for\xa0update", "word<for\xa0update> doubt"},
		{Mode{Charset: SingleByte}, "caf\xe9 '\xa0'", "word<caf\xe9> string<'\xa0'>"},
	} {
		if got := tokens(c.sql, c.m); got != c.want {
			t.Errorf("%+v %q:\n got %s\nwant %s", c.m, c.sql, got, c.want)
		}
	}
}

// The expectations are what MariaDB 10.11 and MySQL 8.4 do with these comments.
func TestVersionComments(t *testing.T) {
	const run, skip = "number<1>", ""
	for _, c := range []struct{ sql, mysql, maria string }{
		{"/*! 1 */", run, run},
		{"/*!1 */", run, run},
		{"/*!50001 1 */", run, run},
		{"/*!500011*/", skip, skip},
		{"/*!50001 1*/", run, run},
		{"/*!50699 1 */", run, run},
		{"/*!50700 1 */", run, skip},
		{"/*!80400 1 */", run, skip},
		{"/*!80401 1 */", skip, skip},
		{"/*!99999 1 */", skip, skip},
		{"/*!080400 1 */", run, skip},
		{"/*!100000 1 */", skip, run},
		{"/*!101119 1 */", skip, run},
		{"/*!101120 1 */", skip, skip},
		{"/*M! 1 */", skip, run},
		{"/*M!100100 1 */", skip, run},
		{"/*M!50700 1 */", skip, run},
		{"/*M!110000 1 */", skip, skip},
		{"/*m! 1 */", skip, skip},
		{"/*!50001 /* 2 */ 1 */", run, run},
		{"/*!99999 a /* b */ c */ 1", run, run},
		{"/*!50001 /*!99999 2 */ 1 */", run, run},
		{"/*!50001 1 /*!50001 */", run + " doubt", run + " doubt"},
		{"/*!50001 1", run + " invalid<> doubt", run + " invalid<> doubt"},
		{"/*!99999 1", "invalid</*!99999 1> doubt", "invalid</*!99999 1> doubt"},
		{"/*!99999 /* 1 */", "invalid</*!99999 /* 1 */> doubt", "invalid</*!99999 /* 1 */> doubt"},
		{"/*!50001 '*/' */", "string<'*/'>", "string<'*/'>"},
		{"/*!99999 '*/' 1", "invalid<' 1> doubt", "invalid<' 1> doubt"},
		{"1 /*!*/", run, run},
	} {
		if got := tokens(c.sql, mysql84); got != c.mysql {
			t.Errorf("MySQL %q:\n got %s\nwant %s", c.sql, got, c.mysql)
		}
		if got := tokens(c.sql, maria); got != c.maria {
			t.Errorf("MariaDB %q:\n got %s\nwant %s", c.sql, got, c.maria)
		}
	}
	if got := tokens("/*!100000 1 */", Mode{ServerVersion: 80036}); got != "number<0> number<1>" {
		t.Errorf("MySQL 8.0 reads five digits: %s", got)
	}
	if got := tokens("/*!50001 1 */", Mode{}); got != "doubt" {
		t.Errorf("unknown version: %s", got)
	}
}

func TestVersionCommentsClassified(t *testing.T) {
	check(t, mysql84, []want{
		{"/*!50001 SELECT */ 1", Select, VersionComment},
		{"/*!99999 select 1 */", Empty, VersionComment},
		{"select 1 /*!50001 for update */", Select, VersionComment | ForUpdate},
		{"select 1 /*!99999 for update */", Select, VersionComment},
		{"/*!50001 update t set a = 1 */", Update, VersionComment},
		{"/*!50001 select /*!50001 1 */ */", Select, VersionComment | Doubt},
		{"/*!40101 set names utf8 */;", Set, VersionComment},
		{"/*!50001 select 1; */", Select, VersionComment | Doubt},
		{"/*!50001 select 1; drop table t */", Select, VersionComment | Doubt | Multi},
		{"select 1; /*!50001 drop table t */", Select, Multi},
		{"select 1; /*!99999 drop table t */", Select, 0},
		{"create /*!50001 procedure */ p() begin select 1; end", DDL, Body | Multi | Doubt | VersionComment},
		{"select last_insert_id(/*!50001 5 */)", Select, LastInsertIDSet | VersionComment},
	})
	check(t, Mode{}, []want{
		{"/*!50001 select 1 */", Empty, VersionComment | Doubt},
		{"select 1 /*!99999 for update */", Select, VersionComment | Doubt},
	})
}
