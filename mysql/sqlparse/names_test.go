package sqlparse

import (
	"fmt"
	"slices"
	"testing"

	"kingshard/mysql/sqltext"
)

// A word that a server takes as a name is one wherever it stands, and remains what it is in a clause or call.
func TestPlainNames(t *testing.T) {
	maria := sqltext.Mode{MariaDB: true, ServerVersion: 101100}
	for _, m := range []sqltext.Mode{maria, mysql8} {
		words := slices.Clone(plainNames)
		if m.MariaDB {
			words = append(words, plainNamesMariaDB...)
		}
		for _, w := range words {
			for _, form := range []string{
				"SELECT id AS %[1]s FROM users", "SELECT id %[1]s FROM users", "SELECT %[1]s, users.%[1]s FROM users WHERE %[1]s > 1 AND id = 3 GROUP BY %[1]s HAVING MAX(%[1]s) > 1 ORDER BY %[1]s DESC",
				"SELECT %[1]s + 1 FROM users WHERE id IN (SELECT %[1]s FROM users AS u)", "SELECT 1 FROM users WHERE (%[1]s, id) IN ((1, 2))", "SELECT f.x FROM (SELECT id AS x FROM users) AS %[1]s JOIN users AS f USING (%[1]s)",
				"INSERT INTO users (id, %[1]s) VALUES (1, 2)", "INSERT INTO users SET id = 1, %[1]s = 2", "UPDATE users SET %[1]s = %[1]s + 1 WHERE id = 3", "DELETE FROM users WHERE %[1]s = 1", "REPLACE INTO users (%[1]s, id) VALUES (1, 2)",
				"CREATE TABLE users (id INT PRIMARY KEY, %[1]s INT NOT NULL, KEY %[1]s (%[1]s))", "ALTER TABLE users ADD COLUMN %[1]s INT", "CREATE INDEX %[1]s ON users (%[1]s)",
			} {
				text := fmt.Sprintf(form, w)
				st, err := Parse(text, m, watchedNames("users"))
				if err != nil {
					t.Errorf("%s: %v", text, err)
				} else if len(st.Tables) == 0 || text[st.Tables[0].At.Pos:st.Tables[0].At.End] != "users" {
					t.Errorf("%s: tables %v", text, st.Tables)
				}
			}
		}
	}
	for _, text := range []string{
		"SELECT rank, RANK() OVER w AS row FROM users WINDOW w AS (ORDER BY rank ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)", "SELECT lag, LAG(lag) OVER (ORDER BY id) FROM users WHERE ROW(rank, 1) = (1, 1)",
		"CREATE TABLE users (rank INT, virtual INT GENERATED ALWAYS AS (rank + 1) VIRTUAL, stored INT AS (rank) STORED)", "SELECT rank AS option, DATABASE() AS database FROM users",
	} {
		if _, err := Parse(text, maria, watchedNames("users")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"SELECT rank FROM users", "SELECT id AS row FROM users", "SELECT row, lead FROM users"} {
		if _, err := Parse(text, mysql8, watchedNames("users")); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
