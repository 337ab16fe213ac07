package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestPreparedSet: a prepared SET does what its text does, so that the session needs no connection of its own for it and its transactions are
// on any node. Laravel's connections begin with three of them.
func TestPreparedSet(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, script := range []string{
			"SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'", "SET NAMES latin1; SET NAMES utf8mb4", "SET CHARACTER SET utf8mb4", "SET NAMES nothing",
			"SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ANSI_QUOTES'; SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'; SET sql_mode = ''; SET sql_mode = 'nothing'",
			"SET sql_mode = CONCAT(@@sql_mode, ',PIPES_AS_CONCAT')", "SET time_zone = '+05:00'; SET time_zone = DEFAULT; SET @@session.time_zone = '-03:00', @@div_precision_increment = 7",
			"SET @a = 5, @b = 'x'; SET @c = @a", "SET @c = @a + 1", "SET @b = 'é'", "SET @a = CONNECTION_ID() > 0", "SET @a = ROW_COUNT(), @b = FOUND_ROWS()",
			"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET TRANSACTION READ ONLY", "SET autocommit = 0; SET autocommit = 1", "SET autocommit = 0", "SET nothing = 1",
			"SET @a = 1, sql_mode = 'nothing'", "SET insert_id = 7", "SET character_set_results = NULL",
		} {
			prepared, texts := s.clients(t), s.clients(t)
			for _, sql := range strings.Split(script, "; ") {
				if want, got := shownBy(t, prepared[0], sql, true), shownBy(t, prepared[1], sql, true); want != got {
					t.Errorf("%s; %s:\n got %s\nwant %s", script, sql, got, want)
				}
				if want, got := shownBy(t, texts[0], sql, false), shownBy(t, texts[1], sql, false); want != got {
					t.Errorf("%s; %s as text:\n got %s\nwant %s", script, sql, got, want)
				}
			}
			want, got, asText := s.behindSet(t, prepared[0]), s.behindSet(t, prepared[1]), s.behindSet(t, texts[1])
			if got != asText || want != got && !strings.Contains(got, "9004") {
				t.Errorf("%s:\n got %s\nwant %s\nas text %s", script, got, want, asText)
			}
			if got, want := pinsOf(t, prepared[1]), pinsOf(t, texts[1]); got != want {
				t.Errorf("%s: pins %s, as text %s", script, got, want)
			}
			for k := range prepared {
				prepared[k].Close()
				texts[k].Close()
			}
		}
	})
}

// behindSet shows what a client sees of its variables, and a transaction on each of some rows.
func (s *shards) behindSet(t *testing.T, c *mysqltest.RawClient) string {
	t.Helper()
	var b strings.Builder
	for _, sql := range []string{
		"SELECT @@sql_mode, @@time_zone, @@autocommit, @@collation_connection, @@character_set_client, @@div_precision_increment, @a, @b, COLLATION(@b), @c",
		"SELECT id, FROM_UNIXTIME(id * 1000), id / 7 FROM users ORDER BY id LIMIT 3", "ROLLBACK",
		"BEGIN", "UPDATE users SET n = 9 WHERE id = 1", "ROLLBACK", "BEGIN", "UPDATE users SET n = 9 WHERE id = 2", "ROLLBACK", "BEGIN", "UPDATE users SET n = 9 WHERE id = 3", "ROLLBACK",
	} {
		b.WriteString(sql + ": " + shownBy(t, c, sql, false) + "\n")
	}
	return b.String()
}

// pinsOf gives what holds a client's connection to a server.
func pinsOf(t *testing.T, c *mysqltest.RawClient) string {
	t.Helper()
	r := must(t, c, fmt.Sprintf("SHOW KS SESSIONS WHERE id = %d", c.Greeting.ConnectionID))
	for k, name := range r.Names() {
		if name == "pins" {
			return fmt.Sprint(r.Rows[0][k])
		}
	}
	t.Fatal("no column pins")
	return ""
}
