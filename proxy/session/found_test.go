package session_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"kingshard/mysql/mysqltest"
)

// found are scripts that the differential tester found to be answered otherwise than by one server, each by a minimal one. A name may
// begin with the kind of server that alone knows the syntax.
var found = []struct{ name, script string }{
	{"|| joins strings", "SET sql_mode = 'ANSI'; SELECT id FROM users WHERE id = 1 || 3 = 0"},
	{"|| joins strings in the oldest modes", "SET sql_mode = 'ORACLE'; SELECT id FROM users WHERE id = 1 || 3 = 0"},
	{"warnings of one shard name the table", "INSERT IGNORE INTO users (id, name) VALUES (1, 'x'); SHOW WARNINGS; INSERT INTO users (id) VALUES (2); SHOW WARNINGS"},
	{"warnings of one shard in a transaction", "BEGIN; INSERT IGNORE INTO users (id, name) VALUES (1, 'x'); SHOW WARNINGS; ROLLBACK"},
	{"the first faulty row", "INSERT INTO users (id, age) VALUES (20, 1), (21, 99999999999), (2, 3), (1, 4); SHOW WARNINGS; INSERT INTO users (id, age) VALUES (20, 1), (3, 1), (1, 4)"},
	{"the first faulty row in a transaction", "BEGIN; INSERT INTO users (id) VALUES (19); INSERT INTO users (id, age) VALUES (22, 1), (25, 99999999999); COMMIT"},
	{"rows of warnings", "SET sql_mode = ''; INSERT INTO users (id, age) VALUES (20, 1), (21, 99999999999), (22, 99999999999), (23, 5), (24, 99999999999); SHOW WARNINGS"},
	{"NULL in rows of several shards", "INSERT IGNORE INTO order_items (user_id, order_id, item_no) VALUES (1, NULL, 1), (2, NULL, 1), (3, NULL, NULL)"},
	{"duplicates of single rows", "INSERT INTO users (id, age) VALUES (1, 31), (2, 5), (30, 7) ON DUPLICATE KEY UPDATE age = VALUES(age)"},
	{"duplicates of single rows that IGNORE leaves out", "INSERT IGNORE INTO users (id, age) VALUES (1, 31), (2, 5), (30, 7)"},
	{"duplicates of REPLACE", "REPLACE INTO users (id, age) VALUES (1, 31), (2, 5), (30, 7)"},
	{"warnings about the text", "SELECT id FROM users WHERE id > 3 || age = 1; SHOW WARNINGS; SELECT name FROM users WHERE id > 3 || age = 1 || age = 2 ORDER BY id; SHOW WARNINGS"},
	{"a bare NULL beside a UNION", "SELECT NULL AS n, id FROM users ORDER BY id"},
	{"mysql9: alias of the new row", "INSERT INTO users (id, age) VALUES (1, 50), (2, 51), (30, 7) AS fresh ON DUPLICATE KEY UPDATE age = fresh.age + 1; INSERT INTO users (id, age) VALUES (1, 60) AS fresh(i, g) ON DUPLICATE KEY UPDATE age = g"},
	{"mariadb: RETURNING", "INSERT INTO users (id, age) VALUES (40, 50) RETURNING id, age + 1; DELETE FROM users WHERE id = 1 RETURNING name"},
	{"GROUP BY an alias under ONLY_FULL_GROUP_BY", "SET sql_mode = 'ONLY_FULL_GROUP_BY'; SELECT age + 2 AS g FROM users GROUP BY g ORDER BY g; SELECT id, age + 2 AS g FROM users GROUP BY id, g ORDER BY g, id"},
	{"years that the type YEAR has not", "UPDATE users SET created_at = '1000-02-03' WHERE id IN (1, 2); SELECT id, YEAR(created_at) FROM users; SELECT id FROM users ORDER BY YEAR(created_at), id; SELECT YEAR(created_at) AS y, COUNT(*) FROM users GROUP BY y ORDER BY y"},
	{"NOT binds as !", "SET sql_mode = 'HIGH_NOT_PRECEDENCE'; SELECT id FROM users WHERE NOT id <> 1"},
}

// TestFound runs the scripts of found on one server and through the proxy over three shards on two nodes.
func TestFound(t *testing.T) {
	data, err := os.ReadFile("testdata/shapes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Schema string }
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{2, 1}, file.Schema)
			for _, f := range found {
				if only, _, some := strings.Cut(f.name, ": "); !some || only == string(kind) {
					t.Run(f.name, func(t *testing.T) { s.same(t, f.script) })
				}
			}
			t.Run("NULL of a row alone", s.nullAlone)
			t.Run("values of texts that are alike", func(t *testing.T) { s.same(t, alike()) })
		})
	}
}

// same runs a script on both sides, from the first rows of the tables, and compares all answers and then the tables.
func (s *shards) same(t *testing.T, script string) {
	t.Helper()
	clients := []*mysqltest.RawClient{s.oracle, s.subject}
	for _, c := range clients {
		must(t, c, "SET sql_mode = DEFAULT")
	}
	s.fill(t)
	list := strings.Split(script, "; ")
	for _, table := range shapeTables {
		list = append(list, "SELECT * FROM "+table)
	}
	for _, sql := range list {
		var answers [2]string
		for k, c := range clients {
			r, err := c.Query(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			answers[k] = fullAnswer(r, sql)
		}
		if answers[0] != answers[1] {
			t.Errorf("%s\n got %s\nwant %s", sql, answers[1], answers[0])
		}
	}
}

// alike is a script of texts that differ in their values, each so often that it has a template and its shape is found by that.
func alike() string {
	var script []string
	for k := range 30 {
		for _, form := range []string{
			"SELECT id, name FROM users WHERE id = %[1]d AND age > -%[2]d", "SELECT id, 5 FROM users WHERE id IN (%[1]d, %[2]d, 3) ORDER BY id LIMIT %[2]d",
			"INSERT INTO users (id, name, age) VALUES (1%[1]d, 'n%[2]d', NULL), (2%[2]d, '', -%[1]d)", "UPDATE users SET name = 'it is %[2]d' WHERE id = 1%[1]d",
			"SELECT u.id, o.id FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = %[1]d AND o.status <> 'x%[2]d' ORDER BY o.id",
			"SELECT id, name, age FROM users WHERE (id, name) IN ((1%[1]d, 'it is %[2]d'), (2%[2]d, ''))", "DELETE FROM users WHERE id BETWEEN 2%[2]d AND 2%[1]d",
			"SELECT COUNT(*) FROM users WHERE name <> 'n%[2]d' AND id <> %[1]d", "SELECT name, %[1]d FROM users WHERE id = %[2]d ORDER BY 1",
		} {
			script = append(script, fmt.Sprintf(form, k, (k*7)%11))
		}
	}
	return strings.Join(script, "; ")
}

// nullAlone wants a NULL that one server takes with a warning, in one of several rows only, to be refused where its row is
// alone on its shard, and to be the server's error where it is one for all.
func (s *shards) nullAlone(t *testing.T) {
	const insert = "INSERT INTO order_items (user_id, order_id, item_no) VALUES (1, NULL, 9), (2, 9, 9), (3, 9, 9)"
	s.fill(t)
	for mode, code := range map[string]uint16{"": 9012, "STRICT_ALL_TABLES": 1048} {
		must(t, s.subject, "SET sql_mode = '"+mode+"'")
		fails(t, s.subject, insert, code)
	}
	if r := must(t, s.subject, "SELECT COUNT(*) FROM order_items WHERE item_no = 9"); r.Rows[0][0] != "0" {
		t.Errorf("%v rows of a statement that failed", r.Rows[0][0])
	}
}

// fullAnswer shows all of an answer but how its columns are described.
func fullAnswer(r *mysqltest.RawResult, sql string) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.OK != nil:
		return fmt.Sprintf("ok, %d rows, %d warnings, %q", r.OK.AffectedRows, r.Warnings, r.OK.Info)
	}
	var lines []string
	for _, row := range r.Rows {
		lines = append(lines, fmt.Sprintf("%q", row))
	}
	if !strings.Contains(sql, "ORDER BY") && !strings.HasPrefix(sql, "SHOW WARNINGS") {
		slices.Sort(lines)
	}
	return fmt.Sprintf("%d warnings\n%s", r.Warnings, strings.Join(lines, "\n"))
}
