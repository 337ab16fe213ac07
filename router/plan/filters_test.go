package plan

import (
	"strings"
	"testing"
)

// TestFilters: what conditions say of one table's rows goes to its shards, that of subqueries too whose rows lie there.
func TestFilters(t *testing.T) {
	r := testRouter(t)
	const joined = "SELECT u.name FROM u JOIN p ON u.age = p.n WHERE "
	const orders = "SELECT * FROM o WHERE o.u_id = u.id"
	for sql, want := range map[string]string{
		joined + "u.id > 5 AND (p.at > '2020-01-01') AND u.age + p.n > 3": "u (u.id > 5); p ((p.at > '2020-01-01'))",
		joined + "u.id > 5 OR p.n = 3":                                    "u; p",
		joined + "NOT u.age = 3 AND NOT p.n = 4":                          "u (NOT u.age = 3); p (NOT p.n = 4)",
		joined + "u.age > 5 OR u.age = 2":                                 "u (u.age > 5 OR u.age = 2); p",
		// What an OR implies.
		joined + "(u.age > 1 AND p.n > 2 AND u.id < 9) OR (u.tag = 'x' AND u.age > p.n)":       "u ((u.age > 1) AND (u.id < 9) OR (u.tag = 'x')); p",
		joined + "u.age > 7 AND (u.age = 1 AND p.n = 1 OR (u.age = 2 AND p.n = 2) OR p.n = 3)": "u (u.age > 7); p ((p.n = 1) OR (p.n = 2) OR (p.n = 3))",
		// Subqueries.
		joined + "EXISTS (" + orders + " AND o.item = 'x') AND NOT EXISTS (SELECT 1 FROM o x WHERE x.u_id = u.id AND x.price > u.price)": "u (EXISTS (SELECT * FROM `o_0000` AS `o` WHERE o.u_id = u.id AND o.item = 'x')) AND (NOT EXISTS (SELECT 1 FROM `o_0000` x WHERE x.u_id = u.id AND x.price > u.price)); p",
		joined + "u.id IN (SELECT o.u_id FROM o GROUP BY o.u_id HAVING SUM(o.price) > 300)":                                              "u (u.id IN (SELECT o.u_id FROM `o_0000` AS `o` GROUP BY o.u_id HAVING SUM(o.price) > 300)); p",
		joined + "u.id IN (SELECT o.u_id FROM o GROUP BY o.u_id, o.item WITH ROLLUP)":                                                    "u; p; o",
		joined + "u.id IN (SELECT o.u_id FROM o GROUP BY o.item)":                                                                        "u; p; o",
		joined + "u.id NOT IN (SELECT o.u_id FROM o)":                                                                                    "u; p; o",
		joined + "u.age > 3 OR EXISTS (" + orders + ")":                                                                                  "u (u.age > 3 OR EXISTS (SELECT * FROM `o_0000` AS `o` WHERE o.u_id = u.id)); p",
		joined + "EXISTS (SELECT * FROM o JOIN ref ON ref.id = o.u_id WHERE o.u_id = u.id)":                                              "u (EXISTS (SELECT * FROM `o_0000` AS `o` JOIN `ref` AS `ref` ON ref.id = o.u_id WHERE o.u_id = u.id)); p",
		joined + "EXISTS (SELECT * FROM o WHERE o.price = u.price)":                                                                      "u; p; o",
		joined + "EXISTS (SELECT * FROM o WHERE o.u_id = u.id AND o.price = p.n)":                                                        "u; p; o",
		joined + "EXISTS (SELECT * FROM o WHERE o.u_id = u.id LIMIT 0)":                                                                  "u; p; o",
		joined + "EXISTS (SELECT * FROM o WHERE o.u_id = u.id AND LENGTH(o.item) > 2)":                                                   "u; p; o",
		joined + "EXISTS (SELECT * FROM o, p q WHERE o.u_id = u.id AND o.price = q.n)":                                                   "u; p; o; q",
		joined + "EXISTS (SELECT * FROM o LEFT JOIN ref ON ref.id = o.u_id WHERE o.u_id = u.id)":                                         "u; p; o",
		joined + "u.age > (SELECT COUNT(*) FROM o WHERE o.u_id = u.id)":                                                                  "u; p; o",
		// Conditions of joins.
		"SELECT u.name FROM p JOIN u ON u.age = p.n AND u.id > 5 AND p.n < 3":                                                  "p (p.n < 3); u (u.id > 5)",
		"SELECT u.name FROM p LEFT JOIN u ON u.age = p.n AND u.id > 5 AND p.n < 3":                                             "p; u (u.id > 5)",
		"SELECT u.name FROM p RIGHT JOIN u ON u.age = p.n AND u.id > 5 AND p.n < 3":                                            "p (p.n < 3); u",
		"SELECT u.name FROM o LEFT JOIN (p LEFT JOIN u ON u.age = p.n AND u.id > 5) ON o.price = p.n AND u.id < 9 AND p.n < 3": "o; p (p.n < 3); u (u.id > 5)",
		"SELECT u.name FROM o LEFT JOIN (p JOIN u ON u.age = p.n AND u.id > 5) ON o.price = p.n AND u.id < 9":                  "o; p; u (u.id > 5) AND (u.id < 9)",
		// The sides of a RIGHT JOIN in parentheses.
		"SELECT d.name FROM p JOIN ((u JOIN o ON u.id = o.u_id AND u.age = 5) RIGHT JOIN (u AS x JOIN o AS y ON x.id = y.u_id AND x.age = 7) ON u.tag = x.tag) LEFT JOIN u AS d ON d.id = p.n": "p; x; y; u; o; d",
		"SELECT u.name FROM p LEFT JOIN u ON u.age = p.n AND u.id > 5 WHERE u.id < 9 AND p.n < 3":                                                                                              "p (p.n < 3); u (u.id > 5)",
		"SELECT u.name FROM u AS p JOIN u ON u.age = p.age AND EXISTS (SELECT * FROM o WHERE o.u_id = u.id)":                                                                                   "p; u; o",
		"SELECT u.name FROM p LEFT JOIN u ON u.age = p.n WHERE u.id IS NULL OR EXISTS (" + orders + ")":                                                                                        "p; u; o",
	} {
		p, err := build(sql, r, typed)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		route, err := p.Route(nil)
		if err != nil || route.Finishing == nil {
			t.Errorf("%s: %v, %v", sql, err, p.Operator)
			continue
		}
		var got []string
		for _, s := range route.Finishing.Scratch {
			text := s.Queries[0].Text
			label := s.Ref.Parsed.Label()
			_, condition, _ := strings.Cut(text, " AS `"+label+"`")
			condition, _, _ = strings.Cut(condition, " UNION ALL ")
			condition = strings.Replace(condition, " WHERE", "", 1)
			condition = strings.ReplaceAll(condition, "`kingshard`.", "")
			got = append(got, label+condition)
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%s:\n got %s\nwant %s", sql, text, want)
		}
	}
}
