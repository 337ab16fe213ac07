package sqlparse

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

var fuzzSeeds = []string{
	"select u.*, `u`.a, d.u.b, `d` . `u` . c from u, d.u as x, `u` y where u.a = ? and u.b in (select u from u)",
	"select 'u', \"u\", u() as u from u u where u.u = /* u. */ u.u -- u\n order by u.u limit ?, 3 for update",
	"insert into d.u (u, u.a) values (?, (select max(u.a) from u)), (default, 'x') on duplicate key update u.a = values(a) + u.b",
	"replace u set u = 1", "update u join `u` as v on u.a = v.a set u.b = ?, v.c = u.d where u.e", "delete u, x from u join d.x as x",
	"delete from u where u.id between ? and 5 order by u.id limit 1", "with u as (select 1), w as (select * from u) select * from u, w",
	"select a from u union all (select b from u limit 1) order by 1", "select row_number() over (partition by u.a order by u.b) from u window w as ()",
	"alter table u add column u int, drop key u", "create index u on u (u)", "truncate u;", "explain select * from u", "show columns from u from d",
	"lock tables u read, u as v write", "select * from (u join u as v using (a)) left join lateral (select u.a) z on 1",
	"select `a``b`, 0x41, b'1', 1e5, -1.5, n'x', _latin1'x', \"a\\\"b\" from u where not u.a <=> null and (u.a, 1) = (2, 3) or case when u.a then 1 else u.b end",
	"select * from u use index for order by (u) where u.a like 'u%' escape '!' group by u.a, 2 with rollup having count(distinct u.b) > 1",
	"select ks_mark_7f3a_0, ks_mark_7f3a_9999999999999999999 from u", "select u . a, u./**/b, u.`a` from d./* */u", "select '", "select (((((((((1", "u.u.u.u",
	"select u.a, j.b from u, json_table(u.d, '$[*]' columns (b decimal(10, 2) path '$', nested path '$.x' columns (`c d` for ordinality))) as j", "select a from u order by a offset ? rows fetch next 3 rows with ties",
	"select a from u order by a offset ? rows fetch next ? rows only", "select * from (select u.a, 2 from u) as t (b, `c d`), lateral (values row(u.a)) l(x)", "select median(u.a) over (), percentile_cont(0.5) within group (order by u.b desc) over () from u",
	"select json_arrayagg(distinct u.a order by u.b desc limit 2) from u where u.c in (values (1), (u.d))", "create table u (rank int default (1 + u()), b point not null srid 3, c uuid default uuid(), d char(3) byte invisible, spatial key u (b), key k (d) ignored) ", "alter table u wait 3 add row int",
	"select row, u.rank as window from u lock in share mode wait 3", "select match u.a against ('x') from u", "json_table(", "select json_table(u", "select x(u) over from u fetch first row only", "alter index k not ignored",
	"select * from `u``u`, u", "show full tables from u like 'u%'", "table u", "values row(1, u.a)",
}

// FuzzParse checks that no text makes the parser panic, and that every place it gives holds what it says.
func FuzzParse(f *testing.F) {
	for k, seed := range fuzzSeeds {
		f.Add(seed, byte(k))
	}
	f.Fuzz(func(t *testing.T, text string, bits byte) {
		m := sqltext.Mode{ANSIQuotes: bits&1 != 0, NoBackslashEscapes: bits&2 != 0, MariaDB: bits&4 != 0, ServerVersion: 80400}
		SelectClauses(text, m)
		ValuesRows(text, m)
		Explained(text, m)
		ParseShow(text, m)
		st, err := Parse(text, m, watchedNames("u", "x", "u`u"))
		if err != nil {
			if err.Error() == "" || len(err.Error()) > 200 {
				t.Errorf("error %q", err)
			}
			return
		}
		checkClauses(t, text, m)
		for _, table := range st.Tables {
			if !table.At.Empty() && lastName(t, text, table.At, m) != table.Name {
				t.Errorf("%q: table %q at %q", text, table.Name, text[table.At.Pos:table.At.End])
			}
			if !table.At.Empty() && table.DB != "" && (st.Show == nil || st.Show.From.Empty()) && firstName(t, text, table.At, m) != table.DB {
				t.Errorf("%q: database %q at %q", text, table.DB, text[table.At.Pos:table.At.End])
			}
			for _, q := range table.Qualifiers {
				if !strings.EqualFold(lastName(t, text, q, m), table.Label()) {
					t.Errorf("%q: %q is qualified at %q", text, table.Label(), text[q.Pos:q.End])
				}
			}
		}
		if !slices.IsSorted(st.Params) {
			t.Errorf("%q: parameters at %v", text, st.Params)
		}
		for _, at := range st.Params {
			if text[at] != '?' {
				t.Errorf("%q: no parameter at %d", text, at)
			}
		}
	})
}

// names cuts a place into the names in it.
func names(t *testing.T, text string, s Span, m sqltext.Mode) (words []string) {
	tokens, ok := lex(text[s.Pos:s.End], m)
	if !ok || len(tokens) == 0 {
		t.Fatalf("%q: nothing at %v", text, s)
	}
	for _, tok := range tokens {
		if tok.word != "." {
			words = append(words, tok.word)
		}
	}
	return words
}

func lastName(t *testing.T, text string, s Span, m sqltext.Mode) string {
	words := names(t, text, s, m)
	return words[len(words)-1]
}

func firstName(t *testing.T, text string, s Span, m sqltext.Mode) string {
	return names(t, text, s, m)[0]
}

// checkClauses checks that clauses and rows of a text that can be read are in it, in order.
func checkClauses(t *testing.T, text string, m sqltext.Mode) {
	if c, ok := SelectClauses(text, m); ok {
		at := 0
		for _, list := range [][]Span{c.Fields, {c.Where, c.GroupBy, c.Having, c.OrderBy, c.Limit}} {
			for _, s := range list {
				if s == (Span{}) {
					continue
				}
				if s.Pos < at || s.End < s.Pos || s.End > c.End {
					t.Fatalf("%q: clause %v behind %d, end %d", text, s, at, c.End)
				}
				at = s.End
			}
		}
		if c.Tail < at || c.End < c.Tail || c.End > len(text) {
			t.Fatalf("%q: tail %d, end %d", text, c.Tail, c.End)
		}
		TakeApart(text, c.Where, m)
		for _, s := range c.Fields {
			for _, inner := range []Span{WithoutAlias(text, s), first(CallArgument(text, s))} {
				if inner.Pos < s.Pos || inner.End > s.End || inner.End < inner.Pos {
					t.Fatalf("%q: %v within %v", text, inner, s)
				}
			}
		}
	}
	rows, _ := ValuesRows(text, m)
	for _, r := range rows {
		if text[r.Pos] != '(' || text[r.End-1] != ')' {
			t.Fatalf("%q: row %q", text, text[r.Pos:r.End])
		}
		for _, c := range r.Cells {
			if c.Pos <= r.Pos || c.End >= r.End || c.End < c.Pos {
				t.Fatalf("%q: cell %v of %v", text, c, r.Span)
			}
		}
	}
}

func first(s Span, _ bool) Span { return s }
