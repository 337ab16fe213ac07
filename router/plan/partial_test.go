package plan

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

// collectsGroups tells whether a statement is finished on the shards' groups.
func collectsGroups(t *testing.T, text string, m sqltext.Mode) bool {
	t.Helper()
	r := testRouter(t)
	st, err := parse(text, r, m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(st, m, r, "kingshard", typed)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if _, ok := p.Operator.(*Finish); !ok {
		t.Fatalf("%s: %v", text, p.Operator)
	}
	return isPartial(p)
}

// TestAveragesInExpressions: servers round the quotient of two exact sums, but no average within an expression.
func TestAveragesInExpressions(t *testing.T) {
	for sql, want := range map[string]bool{
		"select kind, avg(age) a from u group by kind order by count(*)":                                  true,
		"select kind from u group by kind order by avg(age)":                                              true,
		"select kind, avg(age) a from u group by kind order by a":                                         true,
		"select kind, avg(age) * 3 from u group by kind":                                                  false,
		"select kind, avg(age) a from u group by kind having a > 0.3333":                                  false,
		"select kind, avg(age) a from u group by kind order by a * 3":                                     false,
		"select kind from u group by kind having avg(age)":                                                false,
		"select kind, avg(distinct age) a from u group by kind having a * 3 > 1":                          true,
		"select kind, avg(score) a from u group by kind having a * 3 > 1":                                 true,
		"select kind, avg(distinct age) / 3 from u group by kind":                                         true,
		"select kind, avg(distinct age) / 3 from u join o on u.id = o.u_id group by kind":                 false,
		"select kind, avg(distinct age) from u join o on u.id = o.u_id group by kind having count(*) > 1": true,
	} {
		for _, m := range []sqltext.Mode{mysql8, {MariaDB: true, ServerVersion: 101100}} {
			if got := collectsGroups(t, sql, m); got != want {
				t.Errorf("%s: groups %v, MariaDB %v", sql, got, m.MariaDB)
			}
		}
	}
}

// TestYearsInAggregates: MySQL has no column that is like its YEAR().
func TestYearsInAggregates(t *testing.T) {
	for _, sql := range []string{
		"select coalesce(min(year(at)), 0) from u",
		"select kind, max(year(at)) from u group by kind having max(year(at)) > 3",
	} {
		if collectsGroups(t, sql, mysql8) {
			t.Error(sql)
		}
		if !collectsGroups(t, sql, sqltext.Mode{MariaDB: true, ServerVersion: 101100}) {
			t.Errorf("%s, MariaDB", sql)
		}
	}
	if !collectsGroups(t, "select count(*), year(at) from u group by year(at) having count(*) > 1", mysql8) {
		t.Error("GROUP BY")
	}
}

// TestPartialNames: what looks like a name of a column and is none, or is one where the tree has none, needs all rows.
func TestPartialNames(t *testing.T) {
	ansi := mysql8
	ansi.ANSIQuotes = true
	for _, test := range []struct {
		sql  string
		mode sqltext.Mode
		want bool
	}{
		{`select name, 'name', count(*) + 1 /* name */ from u group by name`, mysql8, true},
		{`select "name", count(*) + 1 from u group by "name"`, ansi, true},
		{"select `u`.`NAME`, count(*) + 1 from u group by kingshard.u.name", mysql8, true},
		{"select age, extract(minute from '1:2:3') + count(*) from u group by age", mysql8, true},
		{"select age, count(*) + (match (name) against ('x')) from u group by age", mysql8, false},
		{"select age, count(match (name) against ('x')) + 1 from u group by age", mysql8, false},
		{"select id as age, count(*) + 1 from u group by age", mysql8, false},
		{"select age as x, count(*) + 1 from u group by x having x > 1 and age > 2", mysql8, true},
		{"select age x, count(*) + 1 from u group by age order by x + 1", mysql8, true},
		{"select `count(*)`.age, count(*) + 1 from u as `count(*)` group by 1", mysql8, true},
		{"select age, count(*) + 1 from u group by age having `count(*) + 1` > 2", mysql8, false},
		{"select age x, age y, count(*) + 1 from u group by x, y", mysql8, true},
		{"select age x, age y, count(*) + 1 from u group by x, y with rollup", mysql8, false},
	} {
		if got := collectsGroups(t, test.sql, test.mode); got != test.want {
			t.Errorf("%s: %v", test.sql, got)
		}
	}
	items := strings.Repeat("count(*) + 1, ", partialItemsMax)
	if collectsGroups(t, "select "+items+" age from u group by age", mysql8) {
		t.Errorf("more than %d items", partialItemsMax)
	}
}

// TestPartialLiterals: what the text of one execution has in the place of the form's parameters goes into the shards'
// statements and the last one.
func TestPartialLiterals(t *testing.T) {
	text := "select age, sum(price * 2.5) s from u where name = 'x' and age in (1, 2) group by age having s > 3 limit 4"
	_, r, ok, err := newForms(t, typed).route(text)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	got := fmt.Sprint(r.Finishing.Scratch[0].Queries[1].Text, "\n", r.Finishing.Describe.Text, "\n", r.Finishing.Final(nil).Text)
	want := "SELECT age AS ks_g0, sum(price * 2.5) AS ks_a0 from `u_0001` AS `u` where name = 'x' and age in (1, 2)  GROUP BY ks_g0\n" +
		"select age, sum(price * 2.5) s from `u_0000` AS `u` where name = 'x' and age in (1, 2) group by age having s > 3  LIMIT 0 \n" +
		"select ks_g0, SUM(ks_a0) s FROM `kingshard`.`ks_scratch_0` group by ks_g0 having s > 3 limit 4"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// isPartial reports whether a plan finishes the shards' groups.
func isPartial(p *Plan) bool {
	f, ok := p.Operator.(*Finish)
	return ok && f.partial != nil
}
