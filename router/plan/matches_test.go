package plan

import (
	"strings"
	"testing"
)

// TestMatches: what is asked of MATCH ... AGAINST decides whether shards may answer it, and whether its rows may be collected.
func TestMatches(t *testing.T) {
	r := testRouter(t)
	for sql, want := range map[string]string{
		"SELECT id FROM u WHERE MATCH (note) AGAINST ('x' IN BOOLEAN MODE)":                                                                                                 "merge",
		"SELECT id FROM u WHERE MATCH (note) AGAINST ('x')":                                                                                                                 "merge",
		"SELECT id FROM u WHERE NOT MATCH (note) AGAINST ('x') OR id = 3":                                                                                                   "merge",
		"SELECT id FROM u WHERE MATCH (note) AGAINST ('x' WITH QUERY EXPANSION)":                                                                                            "refused",
		"SELECT id FROM u WHERE (MATCH (note) AGAINST ('x')) > 1":                                                                                                           "refused",
		"SELECT id, MATCH (note) AGAINST ('x') FROM u":                                                                                                                      "refused",
		"SELECT id FROM u ORDER BY MATCH (note) AGAINST ('x')":                                                                                                              "refused",
		"SELECT COUNT(DISTINCT age) FROM u WHERE MATCH (note) AGAINST ('+x' IN BOOLEAN MODE)":                                                                               "finish",
		"SELECT COUNT(DISTINCT age) FROM u WHERE MATCH (note) AGAINST ('x')":                                                                                                "finish", // of groups that shards make
		"SELECT COUNT(DISTINCT a.age) FROM u a JOIN u b ON a.age = b.age WHERE MATCH (a.note) AGAINST ('x')":                                                                "refused",
		"SELECT COUNT(DISTINCT a.age) FROM u a LEFT JOIN u b ON a.age = b.age WHERE MATCH (b.note) AGAINST ('x' IN BOOLEAN MODE)":                                           "refused",
		"SELECT COUNT(DISTINCT a.age) FROM u a LEFT JOIN u b ON a.age = b.age AND MATCH (b.note) AGAINST ('x' IN BOOLEAN MODE)":                                             "finish",
		"SELECT id FROM u WHERE age IN (SELECT age FROM u WHERE MATCH (note) AGAINST ('x y' IN BOOLEAN MODE))":                                                              "finish",
		"SELECT id FROM u WHERE age IN (SELECT age FROM u WHERE MATCH (note) AGAINST ('+*' IN BOOLEAN MODE))":                                                               "refused",
		"SELECT id FROM u WHERE age IN (SELECT age FROM u WHERE MATCH (note) AGAINST ('x y' IN BOOLEAN MODE) LIMIT 1) AND (MATCH (note) AGAINST ('x' IN BOOLEAN MODE)) > 1": "refused",
	} {
		st, err := parse(sql, r, mysql8)
		if err != nil {
			t.Fatal(sql, err)
		}
		p, err := Build(st, mysql8, r, "kingshard", typed)
		if err != nil {
			t.Fatal(sql, err)
		}
		e := new(Execution)
		e.Bind(p, nil)
		got := p.Operator.Name()
		if _, err := e.Route(); err != nil {
			if got = "refused"; !strings.Contains(err.Error(), "MATCH") {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%s: %s, not %s: %s", sql, got, want, p.Reason)
		}
	}
}
