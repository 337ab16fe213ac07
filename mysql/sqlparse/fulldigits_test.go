package sqlparse

import (
	"testing"

	"kingshard/mysql/sqltext"
)

func TestFullDigits(t *testing.T) {
	for _, c := range []struct {
		text             string
		floats, averages []int
		want             string
	}{
		{"SELECT g FROM users", []int{0}, nil, "SELECT (g)+0e0 AS `g` FROM users"},
		{"SELECT id, u.g AS z, `g` q FROM users u ORDER BY z LIMIT 2", []int{1, 2}, nil, "SELECT id, (u.g)+0e0 AS z, (`g`)+0e0 q FROM users u ORDER BY z LIMIT 2"},
		{"SELECT MAX( g ) m FROM users", []int{0}, nil, "SELECT (MAX( g ))+0e0 m FROM users"},
		{"SELECT g FROM users GROUP BY g", []int{0}, nil, "SELECT (g)+0e0 FROM users GROUP BY g"},
		{"SELECT avg(price) AS a, COUNT(*), AVG(u.n) FROM users u LIMIT 2 FOR UPDATE", nil, []int{0, 2}, "SELECT SUM(price) AS a, COUNT(*), SUM(u.n), COUNT(price), MAX(price), COUNT(u.n), MAX(u.n) FROM users u LIMIT 2 FOR UPDATE"},
		{"SELECT AVG(n), MIN(g) FROM users", []int{1}, []int{0}, "SELECT SUM(n), (MIN(g))+0e0, COUNT(n), MAX(n) FROM users"},
		{"SELECT * FROM users", []int{0}, nil, ""},
		{"SELECT AVG(n) + 1 FROM users", nil, []int{0}, ""},
		{"SELECT AVG(n) FROM users GROUP BY id", nil, []int{0}, ""},
		{"SELECT AVG(DISTINCT n) FROM users", nil, []int{0}, ""},
		{"SELECT AVG(n / 3) FROM users", nil, []int{0}, ""},
		{"SELECT AVG(n) OVER () FROM users", nil, []int{0}, ""},
		{"SELECT SQL_BUFFER_RESULT AVG(n) FROM users", nil, []int{0}, ""},
		{"SELECT AVG(x.n) FROM (SELECT n / 3 AS n FROM users) x", nil, []int{0}, ""},
		{"SELECT DISTINCT g FROM users ORDER BY g", []int{0}, nil, ""},
		{"SELECT g FROM users HAVING g > 1", []int{0}, nil, ""},
		{"SELECT g FROM users UNION SELECT 1", []int{0}, nil, ""},
		{"SELECT IFNULL(g, 1) FROM users", []int{0}, nil, ""},
	} {
		got, ok := FullDigits(c.text, mysql8, c.floats, c.averages)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestDivides(t *testing.T) {
	maria := mysql8
	maria.MariaDB = true
	nine := mysql8
	nine.ServerVersion = 90000
	for text, want := range map[string][3]bool{ // MariaDB, MySQL 8, MySQL 9
		"SELECT a / 3 FROM t":                                  {true, true, false},
		"SELECT AVG(a) FROM t":                                 {true, true, true},
		"SELECT AVG(a) * 2 FROM t":                             {true, true, true},
		"SELECT ROUND(AVG(a), 2) FROM t":                       {false, false, false},
		"SELECT a * 2 FROM t":                                  {false, false, false},
		"SELECT (SELECT AVG(a) FROM t)":                        {true, true, true},
		"SELECT (SELECT 1 / 3)":                                {true, true, false},
		"SELECT d.x FROM (SELECT a / 3 AS x FROM t) d":         {true, true, false},
		"SELECT d.x FROM (SELECT AVG(a) AS x FROM t) d":        {false, false, false},
		"WITH d AS (SELECT a / 3 AS x FROM t) SELECT x FROM d": {true, true, false},
	} {
		for k, m := range []sqltext.Mode{maria, mysql8, nine} {
			if got := Divides(text, m, 0); got != want[k] {
				t.Errorf("%s: %v, %v", text, got, m)
			}
		}
	}
}
