package plan

import "testing"

// TestOperators prints the operators of statements. Two builds of one statement make operators that print the same.
func TestOperators(t *testing.T) {
	r := testRouter(t)
	for sql, want := range map[string]string{
		"SELECT * FROM u": "merge hidden 0",
		"SELECT id FROM u ORDER BY id DESC LIMIT 2":            "merge hidden 1 by hidden 0 desc",
		"SELECT age, COUNT(*), AVG(price) FROM u GROUP BY age": "merge hidden 3 by hidden 0 group hidden 0 COUNT(1) AVG(2) of hidden 1/hidden 2",
		"SELECT MAX(name) FROM u":                              "merge hidden 1 MAX(0) by hidden 0",
		"SELECT DISTINCT age FROM u":                           "merge hidden 1 by hidden 0 distinct",
		"SELECT u.id FROM u JOIN ref ON u.age = ref.id WHERE u.age > (SELECT COUNT(*) FROM o) AND u.age > 1": "finish collect u [id age] indexes [[age]] where 1 conditions hold collect o [u_id] beside ref",
		"SELECT age + 1, COUNT(*) FROM u GROUP BY age + 1 HAVING COUNT(*) > 1":                               "finish groups by 1 keys with 1 parts collect u [age]",
		"SELECT id FROM u FOR UPDATE UNION SELECT id FROM u":                                                 "refuse",
		"UPDATE u SET age = 1":                                  "write",
		"DELETE FROM u ORDER BY age LIMIT 1":                    "refuse",
		"INSERT INTO u (id) VALUES (1), (2)":                    "insert 2 rows",
		"INSERT INTO seq (n, id) VALUES (?, 1)":                 "insert 1 rows counted by n",
		"DESCRIBE u":                                            "first",
		"ALTER TABLE c ADD COLUMN x INT":                        "each",
		"CREATE TABLE c (code VARCHAR(9))":                      "each default collation of code",
		"DROP TABLE u, h":                                       "each node",
		"LOAD DATA LOCAL INFILE 'f' INTO TABLE seq (@x, id, n)": "load 3 fields, key [1], counted by 2, @x is 0",
	} {
		for range 2 {
			p, err := build(sql, r, typed)
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				break
			}
			if got := p.Operator.String(); got != want {
				t.Errorf("%s:\n got %s\nwant %s", sql, got, want)
				break
			}
		}
	}
}
