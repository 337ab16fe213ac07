package session_test

import (
	"strings"
	"testing"
)

// Words that servers take as names without quotes, and the parser does not, name columns, tables and what a statement defines itself.
func TestPlainNames(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		s.fillIDs(t)
		words := []string{"array", "until", "ilike"}
		if strings.Contains(s.subject.Greeting.ServerVersion, "MariaDB") {
			words = append(words, "cume_dist", "database", "dense_rank", "first_value", "generated", "groups", "lag", "last_value", "lateral", "lead", "nth_value", "ntile", "of", "option",
				"percent_rank", "rank", "row", "schema", "stored", "tablesample", "virtual", "window")
		}
		for k, w := range words {
			statements := []string{
				"SELECT n AS ? FROM users WHERE id = 3", "SELECT id, n ? FROM users ORDER BY ?, id LIMIT 5", "SELECT n AS ?, COUNT(*) FROM users GROUP BY ? HAVING ? > 0 ORDER BY ?",
				"SELECT ? + 1, MAX(c) FROM (SELECT n AS ?, COUNT(*) AS c FROM users GROUP BY n) AS t GROUP BY ? + 1 ORDER BY 1", "WITH q AS (SELECT id AS ?, n FROM users) SELECT a.?, b.n FROM q AS a JOIN q AS b ON a.? = b.n ORDER BY ?, b.n",
				"SELECT ?.id FROM users AS ? WHERE ?.id > 3 ORDER BY ?.id", "UPDATE users AS ? SET name = CONCAT(?.name, 'x') WHERE ?.id = 3",
			}
			if k%8 == 0 || w == "rank" {
				statements = append(statements, "ALTER TABLE users ADD COLUMN ? INT NOT NULL DEFAULT 1", "UPDATE users SET ? = ? + n WHERE id > 2", "INSERT INTO users (id, n, ?, name) VALUES (1001, 5, 7, 'new')",
					"SELECT id, ?, ? * 2 FROM users WHERE ? <> 1 ORDER BY ? DESC, id", "CREATE INDEX ? ON users (?)", "DELETE FROM users WHERE id = 1001 AND ? = 7", "ALTER TABLE users DROP COLUMN ?")
			}
			for _, sql := range statements {
				s.bothWhole(t, strings.ReplaceAll(sql, "?", w))
			}
		}
		// Of all that the server has for keywords, what it takes as a name.
		keywords, err := s.oracle.Query("SELECT LOWER(word) FROM information_schema.keywords WHERE word REGEXP '^[a-zA-Z_0-9]+$' ORDER BY 1")
		if err != nil || keywords.Err != nil || len(keywords.Rows) < 300 {
			t.Fatalf("keywords: %v, %+v", err, keywords)
		}
		taken := 0
		for _, row := range keywords.Rows {
			for _, form := range []string{"SELECT n AS ? FROM users WHERE id = 3", "SELECT ? FROM (SELECT n AS `?` FROM users) AS t ORDER BY `?`", "SELECT id FROM users AS ? WHERE id = 3"} {
				sql := strings.ReplaceAll(form, "?", row[0].(string))
				r, err := s.oracle.Query(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				if r.Err == nil {
					taken++
					s.bothWhole(t, sql)
				}
			}
		}
		if taken < 900 {
			t.Errorf("%d statements with keywords as names", taken)
		}
	}, "xa_on_unsafe_server: true")
}
