package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

// modeBytes is how many bytes of a key the mode takes.
const modeBytes = 5

// digestCases are texts and their keys without the mode; "" for those that have none.
var digestCases = []struct{ sql, key string }{
	// Values.
	{"select a from t where id = 5", "select a from t where id = ?i"},
	{"select a from t where id=-5 and b >+5 and c <=> 1.5", "select a from t where id=?i and b >?i and c <=> ?d"},
	{"select a from t where b = 'x' and c <> \"y\" and d < 1e5", "select a from t where b = ?s and c <> ?s and d < ?f"},
	{"select a from t where b = x'41' or b = 0x41 or c = b'1' or c = 0b1", "select a from t where b = ?x or b = ?x or c = ?b or c = ?b"},
	{"select a from t where b between -1 and 5 and 5", "select a from t where b between ?i and ?i and 5"},
	{"select a from t where b not like 'x%' and c regexp 'y'", "select a from t where b not like ?s and c regexp ?s"},
	{"select a from t where b = - 5", "select a from t where b = - 5"},
	{"select a from t where b = --5", "select a from t where b = --5"},
	{"select a from t where b = c - 5 and d = c-5 and e = c - -5", "select a from t where b = c - ?i and d = c-?i and e = c - ?i"},
	{"select a from t where b = 5 - 3 and c = 2 * d", "select a from t where b = 5 - 3 and c = 2 * d"},
	{"select a from t where b = 5 div 2 or b = 5 mod 2", "select a from t where b = 5 div 2 or b = 5 mod 2"},
	{"select a from t where (b, c) = (1, 'x') and d = (5)", "select a from t where (b, c) = (?i, ?s) and d = (?i)"},
	{"select a from t where b = lower('X') and c = f(1, d, 'y')", "select a from t where b = lower(?s) and c = f(?i, d, ?s)"},
	{"select a from t where b = ? and c in (?, ?)", "select a from t where b = ?p and c in (?[p])"},
	{"select ? from t order by ?", "select ?p from t order by ?p"},
	{"update t set a = 1, b = b + 1, c = null where d = 'x' limit 5", "update t set a = ?i, b = b + ?i, c = null where d = ?s limit ?l"},
	{"update t set a = case b when 1 then 'x' else 'y' end", "update t set a = case b when ?i then ?s else ?s end"},
	{"delete from t where id = 5 order by 1 limit 5", "delete from t where id = ?i order by 1 limit ?l"},
	{"select a from t join u on t.a = u.a and u.b = 5 join v on v.a = 'x'", "select a from t join u on t.a = u.a and u.b = ?i join v on v.a = ?s"},
	{"select a from t where t.1a = 5 and `b`.`c d` = 6", "select a from t where t.1a = ?i and `b`.`c d` = ?i"},
	{"with x as (select 1 from y where z = 3) select a from x where b = 5", "with x as (select 1 from y where z = ?i) select a from x where b = ?i"},
	{"(select a from t where b = 5) union all (select 1 from u where b = 6) limit 7", "(select a from t where b = ?i) union all (select 1 from u where b = ?i) limit ?l"},
	{"select a from (select b from t where c = 5) d where e in (select 1 from f where g = 6)", "select a from (select b from t where c = ?i) d where e in (select 1 from f where g = ?i)"},
	{"replace t set a = 1", "replace t set a = ?i"},

	// Lists.
	{"select a from t where b in (1)", "select a from t where b in (?[i])"},
	{"select a from t where b in (1,2 , -3 )", "select a from t where b in (?[i])"},
	{"select a from t where b not in ('x', 'y')", "select a from t where b not in (?[s])"},
	{"select a from t where b in (1, 'y', ?)", "select a from t where b in (?[m])"},
	{"select a from t where b in (1, null)", "select a from t where b in (?i, null)"},
	{"select a from t where b in (1, c, 'x' 'y', _utf8'z')", "select a from t where b in (?i, c, 'x' 'y', _utf8'z')"},
	{"select a from t where (b, c) in ((1, 'x'),(2, 'y'), (3, 'z'))", "select a from t where (b, c) in ((?i, ?s))"},
	{"select a from t where (b, c) in ((1, 'x'), (2, 3))", "select a from t where (b, c) in ((?i, ?s), (?i, ?i))"},
	{"select a from t where b in ((select 1 from u where c = 1), (select 1 from u where c = 2))", "select a from t where b in ((select 1 from u where c = ?i), (select 1 from u where c = ?i))"},
	{"insert into t values (1, 'x')", "insert into t values (?v, ?v)"},
	{"insert into t (a, b) value (1, null),(2.5, 'x') , (-3, 0x41);", "insert into t (a, b) value (?v, ?v)"},
	{"insert t values (1, now()), (2, now()), (3, default), (4, default)", "insert t values (?v, now()), (?v, default)"},
	{"insert into t values (1, ?), (2, ?)", "insert into t values (?v, ?p)"},
	{"insert into t values (1 + 2, upper('x'), 'a' 'b', n'c')", "insert into t values (1 + 2, upper(?s), 'a' 'b', n'c')"},
	{"insert into t values (1) as n on duplicate key update a = values(a) + 5, b = 'x'", "insert into t values (?v) as n on duplicate key update a = values(a) + ?i, b = ?s"},
	{"insert into t select a, 5 from u where b = 5 group by 1 on duplicate key update c = 6", "insert into t select a, 5 from u where b = ?i group by 1 on duplicate key update c = ?i"},
	{"insert into value (a) values (1), (2)", "insert into value (a) values (?v)"},
	{"insert into t values (1), /*+ x */ (2)", "insert into t values (?v), /*+ x */ (?v)"},
	{"insert into t values row(1, 2)", ""},
	{"insert into t values (1, (select 2 from u))", ""},
	{"insert into t values (a in (1, 2))", ""},
	{"insert into t values (1 /*!50000 , 2 */)", ""},

	// What decides the shape.
	{"select a from t limit 5, 10", "select a from t limit ?l, ?l"},
	{"select a from t limit 10 offset 5", "select a from t limit ?l offset ?l"},
	{"select a, offset from t where offset = 5 limit ?", "select a, offset from t where offset = ?i limit ?p"},
	{"select 1, 'x', a + 5, (select 5 from u where b = 5 limit 1) from t", "select 1, 'x', a + 5, (select 5 from u where b = 5 limit 1) from t"},
	{"select extract(year from a), 5 from t", "select extract(year from a), 5 from t"},
	{"select a from t group by 1, a + 5 having count(*) > 5 order by 2, field(a, 5, 6)", "select a from t group by 1, a + 5 having count(*) > 5 order by 2, field(a, 5, 6)"},
	{"select a from t where b > c - interval 5 day and d < interval -5 day + e", "select a from t where b > c - interval 5 day and d < interval -5 day + e"},
	{"select a from t where b = date_add(c, interval '5' day)", "select a from t where b = date_add(c, interval '5' day)"},
	{"select a from t where b = cast('5' as decimal(10,2)) or c = convert(d, char(10))", "select a from t where b = cast(?s as decimal(10,2)) or c = convert(d, char(10))"},
	{"select a from t where b = date '2020-01-01' or c = timestamp'2020-01-01 00:00:00' or d > now(6)", "select a from t where b = date '2020-01-01' or c = timestamp'2020-01-01 00:00:00' or d > now(6)"},
	{"select a from t where b = {d '2020-01-01'}", "select a from t where b = {d '2020-01-01'}"},
	{"select a from t where b = _utf8mb4'x' or b = _binary 0x41 or b = N'x' or b = binary 'x'", "select a from t where b = _utf8mb4'x' or b = _binary 0x41 or b = N'x' or b = binary 'x'"},
	{"select a from t where b = 'x' 'y' or b = 'x'\n'y' 'z'", "select a from t where b = 'x' 'y' or b = 'x' 'y' 'z'"},
	{"select a from t where b = 'x' collate utf8mb4_bin", "select a from t where b = 'x' collate utf8mb4_bin"},
	{"select a from t where b like 'x' escape '|'", "select a from t where b like ?s escape '|'"},
	{"select a from t where b->'$.x' = 5 and b ->> '$.y' = 'z'", "select a from t where b->'$.x' = 5 and b ->> '$.y' = 'z'"},
	{"select a from t where match (b) against ('x' in boolean mode)", "select a from t where match (b) against (?s in boolean mode)"},
	{"select group_concat(a separator ',') from t", "select group_concat(a separator ',') from t"},
	{"select a from t where 1 and 1=1 and 5 = b or not 0 and (1) and true", "select a from t where 1 and 1=1 and 5 = b or not 0 and (1) and true"},
	{"select a from json_table('[1]', '$[*]' columns (b int path '$')) t where b = 5", "select a from json_table('[1]', '$[*]' columns (b int path '$')) t where b = ?i"},
	{"select a from t where b = @c and @d := 5", "select a from t where b = @c and @d := 5"},
	{"select a from t where b = true and c is null", "select a from t where b = true and c is null"},

	// Blanks and comments.
	{"  select\n\ta  from t\twhere /* x y */ b =\n 5 -- c", "select a  from t where b = ?i"},
	{"/* a b */ select /* c d */ a + /* e */ 1 from t # f", "select a + /* e */ 1 from t"},
	{"/*node1*/ select /*master*/ a from t", "/*node1*/ select /*master*/ a from t"},
	{"select /*+ max_execution_time(5) */ a from t where b = 5 and d /*!80000 = 6 */", "select /*+ max_execution_time(5) */ a from t where b = ?i and d /*!80000 = 6 */"},
	{"select a from t where b = 5 /*!80000 and c = 6 */", "select a from t where b = 5 /*!80000 and c = 6 */"},
	{"select a from t where b = 5 /*!99999 and c = 6 */", "select a from t where b = ?i /*!99999 and c = 6 */"},
	{"select a from t where b = 5 /* x y */ ; -- z", "select a from t where b = ?i"},

	// No digest.
	{"", ""},
	{"set a = 1", ""},
	{"show tables", ""},
	{"explain select 1", ""},
	{"call f(1)", ""},
	{"select 1; select 2", ""},
	{"select 'a", ""},
	{"select (a", ""},
	{"select a)", ""},
	{"select /* a", ""},
	{"() select 1", ""},
	{", select 1", ""},
	{"select $a from t", ""},
	{"select " + strings.Repeat("(", levelsMax+1) + strings.Repeat(")", levelsMax+1), ""},
}

func TestDigestKeys(t *testing.T) {
	var d Digest
	for _, c := range digestCases {
		got := ""
		if d.Scan(c.sql, mysql84) {
			got = string(d.Key[modeBytes:])
		}
		if want := c.key; got != want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, want)
		}
	}
}

// TestDigestSplices gives each literal another value of its kind: the key stays, the other text of the statement does not.
func TestDigestSplices(t *testing.T) {
	for _, c := range digestCases {
		checkSplices(t, c.sql, mysql84)
	}
}

// TestDigestTellsApart changes one token that is no literal: the key changes with it.
func TestDigestTellsApart(t *testing.T) {
	var d, e Digest
	for _, c := range digestCases {
		if !d.Scan(c.sql, mysql84) {
			continue
		}
		next := 0
		l := NewLexer(c.sql, mysql84)
		for tok := l.Next(); tok.Kind != KindEOF && tok.Kind != KindSemicolon; tok = l.Next() {
			for next < len(d.Literals) && d.Literals[next].End <= tok.Pos {
				next++
			}
			if next < len(d.Literals) && d.Literals[next].Pos <= tok.Pos {
				continue
			}
			var other string
			switch text := c.sql[tok.Pos:tok.End]; tok.Kind {
			case KindWord:
				other = text + "z"
			case KindNumber, KindHex:
				other = text + "7"
			case KindString, KindQuotedIdent:
				other = text[:len(text)-1] + "z" + text[len(text)-1:]
			default:
				continue
			}
			sql := c.sql[:tok.Pos] + other + c.sql[tok.End:]
			if e.Scan(sql, mysql84) && string(e.Key) == string(d.Key) && !folded(&d, tok.Pos) {
				t.Errorf("the same key %q for\n%s\n%s", d.Key[modeBytes:], c.sql, sql)
			}
		}
	}
}

// folded tells whether a place is within a row.
func folded(d *Digest, pos int) bool {
	for _, r := range d.Rows {
		if r.Pos <= pos && pos < r.End {
			return true
		}
	}
	return false
}

func TestDigestModes(t *testing.T) {
	keys := map[string]Mode{}
	hashes := map[uint64]bool{}
	var d Digest
	for b := range 256 {
		m := modeOf(byte(b))
		if !d.Scan("select a from t where b = 5", m) {
			t.Fatalf("%+v: no digest", m)
		}
		if other, ok := keys[string(d.Key)]; ok && other != m {
			t.Errorf("%+v and %+v have one key", m, other)
		}
		keys[string(d.Key)] = m
		hashes[d.Hash] = true
	}
	if len(hashes) != len(keys) {
		t.Errorf("%d hashes for %d keys", len(hashes), len(keys))
	}
	if d.Scan(`select a from t where b = "x" and c = 'y\'z'`, Mode{ANSIQuotes: true}); len(d.Literals) != 1 {
		t.Errorf("%+v under ANSI_QUOTES", d.Literals)
	}
	if d.Scan(`select a from t where b = 'x\' and c = 'y'`, Mode{NoBackslashEscapes: true}); len(d.Literals) != 2 {
		t.Errorf("%+v under NO_BACKSLASH_ESCAPES", d.Literals)
	}
	if d.Scan("select a from t where b = '\x95\x5c' and c = 'y'", Mode{Charset: SJIS}); len(d.Literals) != 2 {
		t.Errorf("%+v under SJIS", d.Literals)
	}
}

func TestDigestLists(t *testing.T) {
	const sql = "insert into t values (1, 'x'), (2, null),(3, now()) on duplicate key update a = b in (1, 2) or (a, b) in ((7, 8), (9, 0))"
	var d Digest
	if !d.Scan(sql, mysql84) {
		t.Fatal("no digest")
	}
	var got strings.Builder
	for k, l := range d.Lists {
		fmt.Fprintf(&got, "%d:", l.Kind)
		for r := range l.Rows {
			if l.Kind != ListIn {
				fmt.Fprintf(&got, " %s", sql[d.Rows[l.Row+r].Pos:d.Rows[l.Row+r].End])
			}
			for w := range l.Width {
				lit := d.Literals[l.First+r*l.Width+w]
				if lit.List != int32(k) {
					t.Errorf("literal %+v of list %d", lit, k)
				}
				fmt.Fprintf(&got, " %s", sql[lit.Pos:lit.End])
			}
		}
		got.WriteString("\n")
	}
	const want = `2: (1, 'x') 1 'x' (2, null) 2 null
2: (3, now()) 3
0: 1 2
1: (7, 8) 7 8 (9, 0) 9 0
`
	if got.String() != want {
		t.Errorf("lists\n%s", got.String())
	}
}

// As in TestHugeTexts, what takes more than linear time would run into the test's limit.
func TestDigestHugeTexts(t *testing.T) {
	const n = 1 << 20
	for _, c := range []struct {
		sql      string
		ok       bool
		literals int
	}{
		{"select a from t where b in (" + strings.Repeat("1,", n) + "1)", true, n + 1},
		{"select a from t where b in (" + strings.Repeat("1,", n) + "c)", true, n},
		{"select a from t where b in (" + strings.Repeat("1,", n), false, 0},
		{"insert into t values (1)" + strings.Repeat(",(1)", n), true, n + 1},
		{"insert into t values (1)" + strings.Repeat(",(1),(now())", n/4), true, n/4 + 1},
		{"select a from t where b = 1" + strings.Repeat(" and c = 'x'", n/8), true, n/8 + 1},
		{"select a from t where b = 1" + strings.Repeat("/* x y */", n), true, 1},
		{"select a from t where b" + strings.Repeat(" = 1 /* x y */ ", n/8), true, 0},
		{"select a from t where " + strings.Repeat("a in (1,", n/8), false, 0},
		{"select a from t where a = '" + strings.Repeat("''", n) + "'", true, 1},
		{"select a from t where a = " + strings.Repeat("-", n) + "5", true, 0},
		{"select " + strings.Repeat("(", n), false, 0},
	} {
		var d Digest
		if ok := d.Scan(c.sql, mysql84); ok != c.ok || ok && len(d.Literals) != c.literals {
			t.Errorf("%.40s...: %v, %d literals", c.sql, ok, len(d.Literals))
		}
	}
}
