package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// Tables that a statement makes of documents and values, and clauses over the rows of all shards, that the parser does not read.
func TestRespelledTables(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		s.fillIDs(t)
		version := s.subject.Greeting.ServerVersion
		if strings.HasPrefix(version, "5.") && !strings.Contains(version, "MariaDB") {
			return
		}
		table := "JSON_TABLE(JSON_ARRAY(users.n, users.id), '$[*]' COLUMNS (o FOR ORDINALITY, a INT PATH '$', NESTED PATH '$.x' COLUMNS (`b c` DECIMAL(10, 2) PATH '$' DEFAULT '1' ON EMPTY))) AS j"
		s.bothWhole(t,
			"SELECT users.id, j.a, j.o, j.`b c` FROM users, "+table+" WHERE users.id = 3 ORDER BY j.o", "SELECT id, a FROM users JOIN "+table+" ON a > 3 ORDER BY id, a, o LIMIT 7",
			"SELECT a, COUNT(*), MAX(users.id) FROM users, "+table+" GROUP BY a ORDER BY a", "SELECT DISTINCT a FROM users, "+table+" ORDER BY a", "SELECT COUNT(*), SUM(a), COUNT(`b c`) FROM users, "+table,
			"SELECT u.id, j.o FROM users AS u LEFT JOIN JSON_TABLE('[1, 2, 2]', '$[*]' COLUMNS (o INT PATH '$')) AS j ON j.o = u.n ORDER BY u.id, j.o", "SELECT j.o, u.id FROM JSON_TABLE('[1, 2, 99]', '$[*]' COLUMNS (o INT PATH '$')) AS j LEFT JOIN users AS u ON j.o = u.id ORDER BY 1, 2",
			"SELECT id FROM users WHERE id IN (SELECT o FROM JSON_TABLE('[1, 3, 5]', '$[*]' COLUMNS (o INT PATH '$')) AS j) ORDER BY id",
			"UPDATE users, "+table+" SET users.name = CONCAT('a', a) WHERE users.id = 3 AND o = 1", "DELETE FROM users WHERE id IN (SELECT o FROM JSON_TABLE('[4, 5]', '$[*]' COLUMNS (o INT PATH '$')) AS j)", "SELECT * FROM users ORDER BY id",
		)
		if !strings.Contains(version, "MariaDB") {
			s.bothWhole(t,
				"SELECT v.a, users.id FROM users JOIN (VALUES ROW(1, 'x'), ROW(3, 'y')) AS v (a, b) ON v.a = users.id ORDER BY 1", "SELECT x, `y z` FROM (SELECT id, n FROM users) AS v (x, `y z`) WHERE x > 3 ORDER BY x LIMIT 4",
				"SELECT q.k, SUM(q.c) FROM (SELECT n, COUNT(*) FROM users GROUP BY n) q(k, c) GROUP BY q.k ORDER BY q.k", "SELECT users.id, l.m FROM users, LATERAL (SELECT users.n + 1) AS l(m) ORDER BY users.id",
				"SELECT id FROM users WHERE id IN (SELECT a FROM (VALUES ROW(2), ROW(4)) AS v(a)) ORDER BY id",
			)
			return
		}
		s.bothWhole(t,
			"SELECT id FROM users WHERE EXISTS (SELECT 1 FROM "+table+" WHERE a = 3 AND o = 1) ORDER BY id", // MySQL's own answer has no rows
			"SELECT id FROM users ORDER BY id OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY", "SELECT id FROM users ORDER BY id DESC FETCH FIRST ROW ONLY", "SELECT id FROM users WHERE id = 3 FETCH FIRST 1 ROW ONLY",
			"SELECT n, COUNT(*), SUM(id) FROM (SELECT n, id FROM users ORDER BY n FETCH FIRST 5 ROWS WITH TIES) AS t GROUP BY n ORDER BY n", "SELECT n FROM users ORDER BY n FETCH FIRST 5 ROWS WITH TIES", "SELECT n % 2 AS m, COUNT(*) AS c FROM users GROUP BY m ORDER BY c DESC OFFSET 1 ROW FETCH NEXT 2 ROWS WITH TIES", "SELECT n FROM users WHERE id = 3 ORDER BY n FETCH FIRST 1 ROWS WITH TIES",
			"SELECT COUNT(*) FROM (SELECT n FROM users ORDER BY n FETCH FIRST 2 ROWS WITH TIES) AS t", "SELECT a.id FROM users AS a WHERE a.n IN (SELECT n FROM users AS b ORDER BY n DESC FETCH FIRST 2 ROWS WITH TIES) ORDER BY a.id",
			"SELECT id, MEDIAN(id) OVER (PARTITION BY n) AS m FROM users ORDER BY id", "SELECT DISTINCT n, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY id DESC) OVER (PARTITION BY n) AS p, PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY id) OVER (PARTITION BY n) FROM users ORDER BY n",
			"SELECT JSON_ARRAYAGG(id ORDER BY id) FROM users", "SELECT n, JSON_ARRAYAGG(DISTINCT n + 1 ORDER BY name DESC LIMIT 2) FROM users GROUP BY n ORDER BY n", "SELECT JSON_ARRAYAGG(name ORDER BY n DESC, id LIMIT 3) FROM users", "SELECT JSON_ARRAYAGG(DISTINCT n ORDER BY n) FROM users WHERE id < 9",
			"SELECT id FROM users WHERE id IN (VALUES (1), (3)) ORDER BY id", "SELECT users.id FROM users, (VALUES (1, 2), (3, 4)) AS v ORDER BY 1", "SELECT id FROM users UNION VALUES (1), (77) ORDER BY 1",
			"SELECT id FROM users WHERE id = 3 LOCK IN SHARE MODE WAIT 3", "EXPLAIN EXTENDED SELECT 1",
		)
		for _, form := range []string{
			"SELECT id, ? AS x FROM users WHERE n < ? ORDER BY id OFFSET ? ROWS FETCH NEXT ? ROWS ONLY", "SELECT id, ? AS x FROM users WHERE n <> ? AND id > ? ORDER BY id DESC FETCH FIRST ? ROWS ONLY", "SELECT id, ? AS x FROM users WHERE n IN (?, ?, ?) ORDER BY id FETCH NEXT ROW ONLY",
			"SELECT j.v, u.id, ? AS x FROM JSON_TABLE('[1, 2, 3, 99]', '$[*]' COLUMNS (v INT PATH '$')) AS j LEFT JOIN users AS u ON j.v + ? = u.id ORDER BY 1, u.id LIMIT ?, ?",
		} {
			prepared, err := s.subject.Prepare(form)
			if err != nil {
				t.Fatal(form, err)
			}
			for _, args := range [][]any{{1, 3, 2, 4}, {22, 4, 0, 3}, {3, 0, 5, 1}, {1, 3, 2, 4}} {
				text := form
				for _, v := range args {
					text = strings.Replace(text, "?", fmt.Sprint(v), 1)
				}
				s.bothWhole(t, text)
				got, err := prepared.Execute(args...)
				want, err2 := s.oracle.Query(text)
				if err != nil || err2 != nil || got.Err != nil || fmt.Sprint(got.Rows) != fmt.Sprint(want.Rows) {
					t.Errorf("%s with %v: %+v, %v; want %v", form, args, got, err, want.Rows)
				}
			}
		}
	}, "xa_on_unsafe_server: true")
}

// Tables with columns of types, and words of definitions, that the parser does not know are made and changed over all shards.
func TestRespelledDefinitions(t *testing.T) {
	onShardsOf(t, func(*testing.T) {}, idsSchema, func(t *testing.T, s *shards) {
		version := s.subject.Greeting.ServerVersion
		if strings.HasPrefix(version, "5.") && !strings.Contains(version, "MariaDB") {
			return
		}
		s.bothWhole(t, "DROP TABLE users")
		options := "id INT PRIMARY KEY, n INT DEFAULT (1 + 2), name VARCHAR(20), place POINT NOT NULL, b CHAR(3) BYTE, hidden INT DEFAULT 5 INVISIBLE, SPATIAL KEY place (place)"
		if strings.Contains(version, "MariaDB") {
			options += ", u UUID DEFAULT UUID(), i INET6, c VARCHAR(10) COMPRESSED, twice INT AS (n * 2) PERSISTENT, KEY n (n) IGNORED"
		} else {
			options = strings.Replace(options, "NOT NULL", "NOT NULL SRID 0", 1)
		}
		s.bothWhole(t, "CREATE TABLE users ("+options+")", "INSERT INTO users (id, name, place) VALUES (1, 'a', POINT(1, 2)), (2, 'b', POINT(2, 3)), (5, 'e', POINT(5, 1)), (3, 'c', POINT(1, 1)), (4, 'd', POINT(9, 9)), (6, 'f', POINT(2, 2)), (7, 'g', POINT(0, 9)), (8, 'h', POINT(3, 3))", "SELECT id, n, name, b, hidden, ST_X(place) FROM users ORDER BY id", "SELECT id FROM users WHERE ST_Contains(ST_GeomFromText('POLYGON((0 0, 3 0, 3 4, 0 4, 0 0))'), place)",
			"ALTER TABLE users ADD COLUMN line LINESTRING, ADD COLUMN uuid CHAR(36) DEFAULT (CONCAT('u', 1))", "UPDATE users SET line = LineString(POINT(1, 2), POINT(3, 4)) WHERE id > 1", "SELECT id, ST_AsText(line), uuid FROM users ORDER BY id")
		if strings.Contains(version, "MariaDB") {
			s.bothWhole(t, "SELECT id, LENGTH(u), i, c, twice FROM users ORDER BY id", "ALTER TABLE users ALTER KEY n NOT IGNORED", "ALTER TABLE users WAIT 3 ADD COLUMN w INET4", "CREATE INDEX name ON users (name) WAIT 3", "DROP TABLE users WAIT 3")
			return
		}
		s.bothWhole(t, "ALTER TABLE users ALTER COLUMN hidden SET VISIBLE, ALTER INDEX place INVISIBLE", "SELECT id, hidden FROM users ORDER BY id")
	}, "xa_on_unsafe_server: true")
}
