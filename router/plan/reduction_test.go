package plan

import (
	"fmt"
	"strings"
	"testing"
)

// Rows that are collected are reduced by those that they have to meet, and by no others.
func TestReductions(t *testing.T) {
	r := testRouter(t)
	for sql, want := range map[string]string{
		"SELECT u.name FROM u JOIN p ON u.age = p.n":                                                                        "u age by p n, p n by u age",
		"SELECT u.name FROM u, p WHERE u.age = p.n AND p.n > 5":                                                             "u age by p n, p n by u age",
		"SELECT u.name FROM u, p WHERE (u.age, u.id) = (p.n, 7)":                                                            "u age by p n, p n by u age",
		"SELECT u.name FROM u, p WHERE u.age = p.n OR u.id = 1":                                                             "",
		"SELECT u.name FROM u, p WHERE u.age <=> p.n":                                                                       "",
		"SELECT u.name FROM u, p WHERE NOT u.age = p.n":                                                                     "",
		"SELECT u.name FROM u, p WHERE u.age + 1 = p.n":                                                                     "",
		"SELECT u.name FROM u, o WHERE u.name = o.item":                                                                     "",
		"SELECT u.name FROM u, p WHERE u.price = p.n":                                                                       "u price by p n, p n by u price",
		"SELECT u.name FROM u, p WHERE u.score = p.n":                                                                       "",
		"SELECT u.name FROM u, p WHERE u.at = p.at":                                                                         "",
		"SELECT u.name FROM u LEFT JOIN p ON u.age = p.n":                                                                   "p n by u age",
		"SELECT u.name FROM u RIGHT JOIN p ON u.age = p.n":                                                                  "u age by p n",
		"SELECT u.name FROM u LEFT JOIN p ON p.id = 3 WHERE u.age = p.n":                                                    "u age by p n, p n by u age",
		"SELECT u.name FROM u LEFT JOIN (p JOIN o ON p.n = o.u_id) ON u.age = p.n":                                          "p n by o u_id, p n by u age, o u_id by p n",
		"SELECT u.name FROM u WHERE u.age IN (SELECT p.n FROM p)":                                                           "u age by p n, p n by u age",
		"SELECT u.name FROM u WHERE u.age NOT IN (SELECT p.n FROM p)":                                                       "",
		"SELECT u.name FROM u WHERE u.age IN (SELECT p.n FROM p) OR u.id = 1":                                               "",
		"SELECT u.name FROM u WHERE u.age IN (SELECT p.n FROM p GROUP BY p.n HAVING COUNT(*) > 1)":                          "u age by p n, p n by u age",
		"SELECT u.name FROM u WHERE u.age IN (SELECT p.n FROM p GROUP BY p.at HAVING COUNT(*) > 1)":                         "u age by p n",
		"SELECT u.name FROM u WHERE u.age IN (SELECT p.n FROM p GROUP BY p.n WITH ROLLUP)":                                  "u age by p n",
		"SELECT u.name FROM u, p WHERE (u.age = p.n AND u.id = 1) OR (p.n = u.age AND p.at > '2020-01-01')":                 "u age by p n, p n by u age",
		"SELECT u.name FROM u, p WHERE (u.age = p.n AND u.id = 1) OR (u.price = p.n AND p.id = 3)":                          "",
		"SELECT u.name FROM u WHERE u.age IN (SELECT p.n FROM p LIMIT 1)":                                                   "",
		"SELECT u.name FROM u WHERE u.age IN (SELECT MAX(p.n) FROM p)":                                                      "",
		"SELECT u.name FROM u WHERE EXISTS (SELECT * FROM p WHERE p.n = u.age)":                                             "p n by u age",
		"SELECT u.name FROM u WHERE NOT EXISTS (SELECT * FROM p WHERE p.n = u.age AND p.id > 1)":                            "p n by u age",
		"SELECT u.name FROM u WHERE u.id > (SELECT COUNT(*) FROM p WHERE p.n = u.age)":                                      "p n by u age",
		"SELECT (SELECT MAX(p.id) FROM p WHERE p.n = u.age) FROM u":                                                         "p n by u age",
		"SELECT u.id + 1 AS age FROM u HAVING EXISTS (SELECT * FROM p WHERE p.n = age)":                                     "",
		"SELECT u.id + 1 AS age FROM u HAVING EXISTS (SELECT * FROM p WHERE p.n = u.age)":                                   "p n by u age",
		"SELECT p.id FROM plain LEFT JOIN u ON u.id = 1 JOIN p ON p.n = age":                                                "",
		"SELECT u.name FROM u WHERE EXISTS (SELECT 1 FROM (SELECT id + 1 AS age FROM o) d JOIN p ON p.n = age)":             "",
		"SELECT u.name FROM u WHERE EXISTS (SELECT o.u_id AS age FROM o HAVING EXISTS (SELECT 1 FROM p WHERE p.n = age))":   "",
		"SELECT * FROM (SELECT u.age AS a FROM u JOIN p ON u.age = p.n) d":                                                  "u age by p n, p n by u age",
		"SELECT d.a FROM (SELECT u.age AS a FROM u) d JOIN p ON d.a = p.n":                                                  "",
		"SELECT u.name FROM u JOIN p ON u.age = p.n UNION SELECT 'x'":                                                       "u age by p n, p n by u age",
		"SELECT u.name FROM u WHERE EXISTS (SELECT * FROM p WHERE p.id IN (SELECT o.u_id FROM o WHERE o.u_id + 0 = u.age))": "p id by o u_id, o u_id by p id",
	} {
		p, err := build(sql, r, typed)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if _, is := p.Operator.(*Finish); !is {
			t.Errorf("%s: %v", sql, p.Operator)
			continue
		}
		var got []string
		for _, ref := range p.Refs {
			for _, n := range ref.reductions {
				got = append(got, fmt.Sprint(ref.Parsed.Label(), " ", n.Column, " by ", n.By.Parsed.Label(), " ", n.ByColumn))
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s:\n got %s\nwant %s", sql, text, want)
		}
	}
}
