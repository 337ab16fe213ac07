package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Advice says what would bring a statement to fewer shards, by its own conditions: each part of it holds for the statement.
func TestAdvice(t *testing.T) {
	r := testRouter(t)
	for _, test := range []struct{ sql, want string }{
		{"select * from u where id = 3", ""},
		{"select * from u where id in (1, 2)", ""},
		{"select * from ref", ""},
		{"insert into u (id) values (1)", ""},
		{"select * from u where age > 3", "a condition id = … would ask one shard"},
		{"select * from u where age = 3 and price > 1", "a condition id = … would ask one shard; or an index over the shards on age (lookup: [age] in the rule of u) would ask those that have rows"},
		{"select * from u x where x.name in ('a', 'b')", "a condition id = … would ask one shard; or an index over the shards on name (lookup: [name] in the rule of u) would ask those that have rows"},
		{"select * from u where age = 3 or price = 1", "a condition id = … would ask one shard"}, // no index says where all of these are
		{"select * from u where doc = 'x'", "a condition id = … would ask one shard"},            // JSON has none
		{"select * from u where score = 1", "a condition id = … would ask one shard"},
		{"select * from u where id > 3", ""}, // there is one on the key
		{"select * from p where n = 1", "a condition id = … AND at = … would ask one shard; or an index over the shards on n (lookup: [n] in the rule of p) would ask those that have rows"},
		{"update u set name = 'x' where age = 3", "a condition id = … would ask one shard"}, // indexes are for queries
		{"delete from u", "a condition id = … would ask one shard"},
		{"select * from u join o on u.id = o.u_id where o.item = 'x'", "a condition u.id = … would ask one shard"},
		{"select * from u join o on u.id = o.u_id where u.name = 'x'", "a condition u.id = … would ask one shard; or an index over the shards on u.name (lookup: [name] in the rule of u) would ask those that have rows"},
		{"select * from o left join u on u.id = o.u_id", "a condition o.u_id = … would ask one shard"},

		{"select u.id, o.item from u join o on u.age = o.u_id", "u.age = o.u_id: with u beside o (key: age, colocate_with: o) each shard would answer for its own rows; or with u or o as a reference table, if it is small"},
		{"select u.id, o.item from u left join o on u.age = o.u_id", "u.age = o.u_id: with u beside o (key: age, colocate_with: o) each shard would answer for its own rows; or with o as a reference table, if it is small"},
		{"select u.id, h.a from u join h on u.id = h.id", "u.id = h.id: with h beside u (colocate_with: u) each shard would answer for its own rows; or with u or h as a reference table, if it is small"},
		{"select u.id, h.a from u join h using (id)", "u.id = h.id: with h beside u (colocate_with: u) each shard would answer for its own rows; or with u or h as a reference table, if it is small"},
		{"select u.id, h.name from u join h on u.age = h.a", "u.age = h.a: with u sharded by age and h beside it (key: a, colocate_with: u) each shard would answer for its own rows; or with u or h as a reference table, if it is small"},
		{"select u.id, c.n from u join c on u.name = c.code", "with u or c as a reference table, if it is small, each shard would answer for its own rows"}, // texts that the rules do not fold
		{"select u.id from u, c", "with u or c as a reference table, if it is small, each shard would answer for its own rows"},
		{"select a.id from u a join u b on a.age = b.age", "a.age = b.age: with u sharded by age each shard would answer for its own rows"},
		{"select p.n from p join y on p.id = y.a and p.at = y.d", "p.id = y.a and p.at = y.d: with y beside p (key: [a, d], colocate_with: p) each shard would answer for its own rows; or with p or y as a reference table, if it is small"},
		{"select u.id, one.name from u join one on u.age = one.id", "with one as a reference table, if it is small, each shard would answer for its own rows"},
		{"select u.id, one.name from u join one on u.id = one.id", "u.id = one.id: with one beside u (key: id, colocate_with: u) each shard would answer for its own rows; or with one as a reference table, if it is small"},
		{"select id from u where exists (select 1 from o where o.price > u.price)", "with o as a reference table, if it is small, each shard would answer for its own rows"},
		{"select id from u where age in (select u_id from o)", "u.age = o.u_id: with u beside o (key: age, colocate_with: o) each shard would answer for its own rows; or with o as a reference table, if it is small"},
		{"select x.age, x.c from (select age, count(*) c from u group by age) x", "with u sharded by age, if that has many values, each shard would answer for its own rows"},
		{"select age, row_number() over (partition by age order by id) from u", "with u sharded by age, if that has many values, each shard would answer for its own rows; or a condition id = … would ask one shard"},
		{"select u.id, h.a, test1.a from u join h on u.id = h.id join test1 on h.a = test1.a",
			"u.id = h.id: with h beside u (colocate_with: u) and test1 as a reference table each shard would answer for its own rows"},
		{"select u.id, h.a, test1.a from u join h on u.id = h.id join test1 on u.id = test1.id",
			"u.id = h.id: with u beside h (colocate_with: h) each shard would answer for its own rows"}, // test1 lies as h does
		{"select id from u union all select u_id from o", ""},
		{"select count(*) from u having count(*) > 1", "a condition id = … would ask one shard"}, // its groups come from the shards already
	} {
		p, err := build(test.sql, r, typed)
		if err != nil || p == nil {
			t.Fatalf("%s: %v", test.sql, err)
		}
		if got := p.Advice(); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.sql, got, test.want)
		}
	}
}

// Advice is in the first step, or behind the reason of a refusal; and the statement's tree, which the plan shares, stays as it is.
func TestAdviceOfExplain(t *testing.T) {
	r := testRouter(t)
	steps, err := Explain(mustBuild(t, "select u.id, o.item from u join o on u.age = o.u_id"))
	if err != nil || len(steps) != 5 || !strings.Contains(steps[0].Help, "with u beside o") || steps[1].Help != "" || steps[4].Help != "" {
		t.Errorf("%+v, %v", steps, err)
	}
	if _, err := Explain(mustBuild(t, "update u set name = 'x' limit 1")); err == nil || !IsRefusal(err) || !strings.Contains(err.Error(), "key; a condition id = … would ask one shard") {
		t.Errorf("a refusal: %v", err)
	}
	for _, sql := range []string{"select u.id, h.a from u join h using (id) where u.id in (select u_id from o group by 1 order by 1) order by 2 limit 3", "update u join h on u.age = h.a set u.name = 'x'"} {
		fresh, err := parse(sql, r, mysql8)
		if err != nil {
			t.Fatal(err)
		}
		p := mustBuild(t, sql)
		p.Advice()
		if !reflect.DeepEqual(fresh, p.Statement) {
			t.Errorf("%s: the tree was changed", sql)
		}
	}
}

func mustBuild(t *testing.T, sql string) *Plan {
	t.Helper()
	p, err := build(sql, testRouter(t), typed)
	if err != nil || p == nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

// A statement of as many tables as are tried is advised within a moment.
func TestAdviceIsQuick(t *testing.T) {
	text := "select 1 from u t0"
	for k := range adviceTables - 1 {
		text += fmt.Sprintf(" join %s t%d on t0.age = t%d.a", []string{"h", "r", "test1", "test2", "v", "s1"}[k%6], k+1, k+1)
	}
	p := mustBuild(t, text)
	began := time.Now()
	p.Advice()
	if took := time.Since(began); took > time.Second {
		t.Errorf("%v", took)
	}
}

// However many columns are compared, few places are tried.
func TestAdviceIsBounded(t *testing.T) {
	r := testRouter(t)
	sql := "select * from u join p on u.age = p.n"
	for k := range 400 {
		sql += fmt.Sprintf(" and u.c%d = p.d%d and u.c%d = p.d%d", k%20, k/20, k/20, k%20)
	}
	p, err := build(sql, r, typed)
	if err != nil {
		t.Fatal(err)
	}
	now := p.suppose(nil)
	if now == nil {
		t.Fatal("it is not planned")
	}
	if n := len(now.equalities()); n > equalitiesMax {
		t.Errorf("%d pairs of columns", n)
	}
	tries := 1
	now.tries = &tries
	if list := now.otherwise(); len(list) > 1 || tries > 0 {
		t.Errorf("%d placements of 1, %d left", len(list), tries)
	}
	p.Advice()
}
