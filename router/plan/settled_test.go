package plan

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/value"
)

// TestSettled: the final statement is without the conditions that the shards have looked at, and what only these name is not collected, where that cannot be noticed.
func TestSettled(t *testing.T) {
	r := testRouter(t)
	for _, c := range [...]struct {
		sql   string
		args  []value.Value
		locks bool
		want  string
	}{
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE u.name = 'x' AND p.at > '2020-01-01'", want: "u(id, age) p(n) WHERE TRUE AND TRUE"},
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE u.name = ? AND p.at > ?", args: []value.Value{value.NewString("x"), value.NewString("2020-01-01")}, want: "u(id, age) p(n) WHERE TRUE AND TRUE"},
		// What may warn is looked at by the server that warns.
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE u.name = ?", args: []value.Value{value.NewInt(1)}, want: "u(id, name, age) p(n) WHERE u.name = ?"},
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE u.name = 1", want: "u(id, name, age) p(n) WHERE u.name = 1"},
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE p.at > 'never'", want: "u(id, age) p(at, n) WHERE p.at > 'never'"},
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE u.name / 2 > 1", want: "u(id, name, age) p(n) WHERE u.name / 2 > 1"},
		// A name counts for the table that it is of.
		{sql: "SELECT u.name FROM u JOIN u AS v ON u.age = v.age WHERE v.name LIKE 'x%'", want: "u(name, age) v(age) WHERE TRUE"},
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE u.name = 'x' ORDER BY name", want: "u(id, name, age) p(n) WHERE TRUE ORDER BY name"},
		{sql: "SELECT * FROM u JOIN p ON u.age = p.n WHERE u.name = 'x'", want: "u(id, name, tag, note, price, at, seen, kind, doc, score, age) p(id, at, n) WHERE TRUE"},
		// ONLY_FULL_GROUP_BY knows by it that all names are equal.
		{sql: "SELECT u.name, COUNT(*) FROM u JOIN p ON u.age = p.n WHERE u.name = 'x' AND u.tag < 'y'", want: "u(name, age) p(n) WHERE u.name = 'x' AND TRUE"},
		{sql: "SELECT u.name, COUNT(*) FROM u JOIN p ON u.age = p.n WHERE u.name IN ('x') GROUP BY p.at", want: "u(name, age) p(at, n) WHERE u.name IN ('x') GROUP BY p.at"},
		{sql: "SELECT u.name, COUNT(*) FROM u JOIN p ON u.age = p.n WHERE u.name IN (?) GROUP BY p.at", args: []value.Value{value.NewString("x")}, want: "u(name, age) p(at, n) WHERE u.name IN (?) GROUP BY p.at"},
		{sql: "SELECT u.name, COUNT(*) FROM u JOIN p ON u.age = p.n WHERE NOT u.name <> 'x' GROUP BY p.at", want: "u(name, age) p(at, n) WHERE NOT u.name <> 'x' GROUP BY p.at"},
		{sql: "SELECT COUNT(*) FROM u JOIN p ON u.age = p.n WHERE u.name = 'x' HAVING u.name < 'y'", want: "u(name, age) p(n) WHERE u.name = 'x' HAVING u.name < 'y'"},
		{sql: "SELECT DISTINCT p.n FROM u JOIN p ON u.age = p.n WHERE u.name = 'x' ORDER BY u.name", want: "u(name, age) p(n) WHERE u.name = 'x' ORDER BY u.name"},
		// It needs no condition for what is grouped by.
		{sql: "SELECT p.at, COUNT(*) AS c FROM u JOIN p ON u.age = p.n WHERE u.name IN ('x') GROUP BY p.at ORDER BY c", want: "u(age) p(at, n) WHERE TRUE GROUP BY p.at ORDER BY c"},
		{sql: "SELECT YEAR(p.at) AS y, COUNT(*) FROM u JOIN p ON u.age = p.n WHERE u.name = 'x' GROUP BY y HAVING COUNT(*) > 1", want: "u(age) p(at, n) WHERE TRUE GROUP BY y HAVING COUNT(*) > 1"},
		// Tables of subqueries; a change locks their rows.
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE EXISTS (SELECT * FROM o WHERE o.u_id = u.id AND o.item = 'x')", want: "u(id, age) p(n) WHERE TRUE"},
		{sql: "SELECT u.id FROM u JOIN p ON u.age = p.n WHERE EXISTS (SELECT * FROM o WHERE o.u_id = u.id AND o.item = 'x') FOR UPDATE", locks: true,
			want: "u(id, age) p(n) o(u_id, item) WHERE EXISTS (SELECT * FROM `s2` AS `o` WHERE o.u_id = u.id AND o.item = 'x') FOR UPDATE"},
	} {
		p, err := build(c.sql, r, typed)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		e := new(Execution)
		e.Bind(p, c.args)
		e.Locks = c.locks
		route, err := e.Route()
		if err != nil || route.Finishing == nil {
			t.Errorf("%s: %v, %v", c.sql, err, p.Operator)
			continue
		}
		var got []string
		names := map[*Ref]string{}
		for k, s := range route.Finishing.Scratch {
			got = append(got, s.Ref.Parsed.Label()+"("+strings.Join(s.Columns, ", ")+")")
			names[s.Ref] = fmt.Sprintf("s%d", k)
		}
		final := route.Finishing.Final(names)
		_, condition, _ := strings.Cut(final.Text, " WHERE")
		if text := strings.Join(got, " ") + " WHERE" + condition; text != c.want || len(final.Args) != strings.Count(final.Text, "?") {
			t.Errorf("%s:\n got %s, parameters %v\nwant %s", c.sql, text, final.Args, c.want)
		}
	}
}
