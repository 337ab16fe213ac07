package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// TestTooManyTables wants the servers' own error of a query block with more tables than they join, however these are written,
// and none of as many as they do.
func TestTooManyTables(t *testing.T) {
	r := testRouter(t)
	for name, form := range map[string][3]string{
		"using": {"select 1 from u", " join u using (id)", ""}, "on": {"select 1 from u a", " join u b on a.id = b.id", ""},
		"commas": {"select 1 from u", ", u", ""}, "left": {"select 1 from u a", " left join o on a.id = o.u_id", ""},
		"derived": {"select 1 from u", " join (select 1 as id) x", ""}, "unsharded": {"select 1 from u", ", other", ""},
		"update": {"update u", " join u using (id)", " set u.name = 1"}, "delete": {"delete u from u", ", u", " where u.id = 1"},
		"subquery": {"select 1 from u where id in (select 1 from u", ", o", ")"}, "insert": {"insert into u (id) select 1 from u", ", o", ""},
		"union": {"select 1 from u union select 1 from u", " natural join u", ""}, "cte": {"with c as (select 1 from o", ", o", ") select 1 from u, c"},
	} {
		for _, m := range []sqltext.Mode{mysql8, {MariaDB: true}} {
			for _, more := range []int{joinMax - 1, joinMax, 2000} {
				sql := form[0] + strings.Repeat(form[1], more) + form[2]
				st, err := parse(sql, r, m)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_, err = Build(st, m, r, "kingshard", typed)
				var own *mysql.SQLError
				many := errors.As(err, &own) && own.Code == 1116 && strings.Contains(own.Message, "MariaDB") == m.MariaDB
				if many != (more >= joinMax) {
					t.Errorf("%s with %d tables more: %v", name, more, err)
				}
			}
		}
	}
}

// TestLargeStatements plans statements of several hundred thousand bytes. What they cost is bounded: they are refused where the
// budget is spent, and groups of many parts are not looked for.
func TestLargeStatements(t *testing.T) {
	r := testRouter(t)
	count := func(form string, n int) string {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, form, k)
		}
		return b.String()
	}
	tables := "select 1 from u a" + strings.Repeat(", u", joinMax-1)
	for name, sql := range map[string]string{
		"unions":                  "select id from u" + strings.Repeat(" union select id from u", 10_000),
		"subqueries in a list":    "select id from u where id in (1" + strings.Repeat(", (select max(id) from u)", 10_000) + ")",
		"subqueries tied":         "select id from u where id = 1" + strings.Repeat(" and exists (select 1 from u x where x.id = u.id)", 10_000),
		"common table expression": "with c0 as (select 1 as a)" + strings.Repeat(", c as (select id from u)", 5_000) + " select 1 from u",
		"conditions of many":      tables + " where 1" + strings.Repeat(" and a.id = 5 and a.name = 'x'", 10_000),
		"alternatives of many":    tables + " where 1" + strings.Repeat(" or a.id = 5 and a.name = 'x'", 10_000),
		"tables of tables":        "select 1 from " + count("(select * from u"+strings.Repeat(" join u using (id)", joinMax-1)+") x%d, ", joinMax-1) + "u",
		"sums":                    "select " + count("sum(age + %d) + ", 20_000) + "1 from u",
		"sums in having":          "select name from u group by name having " + count("sum(age + %d) > 1 and ", 10_000) + "1",
		"distinct values":         "select " + count("count(distinct age + %d) + ", 20_000) + "1 from u",
		"groups":                  "select 1 from u group by " + count("age + %d, ", 20_000) + "1",
		"names":                   "select 1" + strings.Repeat(", kingshard.u.id", 20_000) + " from kingshard.u order by name",
	} {
		st, err := parse(sql, r, mysql8)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := Build(st, mysql8, r, "kingshard", typed)
		if err != nil && !errors.Is(err, errTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && isPartial(p) {
			t.Errorf("%s: looked for groups among thousands of parts", name)
		}
	}
}

// TestBudget spends a budget.
func TestBudget(t *testing.T) {
	b := new(budget)
	if !b.take(stepsMax) || b.take(1) || b.take(0) {
		t.Error("a budget is not spent when it is")
	}
	if none := (*budget)(nil); !none.take(stepsMax + 1) {
		t.Error("no budget has a bound")
	}
}
