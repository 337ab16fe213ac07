package differential

import "testing"

// TestTablesOfOtherNodes reads tables that are on one node each, not on the same one, with each other and with sharded ones.
func TestTablesOfOtherNodes(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			columns := "(id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, a INT, s VARCHAR(20) CHARACTER SET latin1 DEFAULT 'x', d DECIMAL(8, 2) NOT NULL, f FLOAT, e ENUM('u', 'v'), b VARBINARY(8), t TIMESTAMP NULL, g INT AS (a + 1), UNIQUE KEY u (a, id), KEY (s))"
			e := exam{setup: []string{
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, a INT, s VARCHAR(20))", "CREATE TABLE k (id INT NOT NULL PRIMARY KEY, a INT)", "CREATE TABLE ref (id INT NOT NULL PRIMARY KEY, a INT)",
				"CREATE TABLE one " + columns, "CREATE TABLE home " + columns + " COMMENT 'it''s'", "CREATE TABLE far (id INT, a INT)", "CREATE TABLE loc (id INT, a INT)", "CREATE VIEW seen AS SELECT * FROM loc",
				"INSERT INTO h VALUES (1, 1, 'x'), (2, 2, 'é'), (3, NULL, 'z'), (4, 1, 'x')", "INSERT INTO k VALUES (1, 4), (2, 3), (3, 2), (4, NULL)", "INSERT INTO ref VALUES (1, 1), (2, 3)",
				"INSERT INTO one (id, a, s, d, f, e, b, t) VALUES (1, 1, 'x', 1.25, 1.1, 'u', x'00ff', '2024-01-02 03:04:05'), (2, 3, 'é', 2.5, NULL, 'v', '', NULL), (3, NULL, '', 0, 3e10, NULL, NULL, '2024-06-02 03:04:05'), (4, 2, 'q', 7, 0.1, 'u', 'a', NULL)",
				"INSERT INTO home (id, a, s, d, f, e, b, t) VALUES (1, 2, 'X', 1.25, 1.1, 'v', x'00ff', '2024-01-02 03:04:05'), (2, 3, 'é', 9.5, NULL, 'v', '', NULL), (5, 1, 'w', 0.75, 3e10, NULL, NULL, '2024-03-31 01:30:00')",
				"INSERT INTO far VALUES (1, 2), (1, 2), (3, 4)",
			}, look: []string{"SELECT id, a, s FROM one ORDER BY id", "SELECT id, a, s FROM home ORDER BY id"}}
			e.asked = []string{
				"SELECT * FROM one AS x JOIN home AS y ON x.id = y.id ORDER BY x.id", "SELECT x.*, y.a FROM home AS x LEFT JOIN one AS y USING (id) ORDER BY x.id", "SELECT one.a AS g3, SUM(home.a) / COUNT(*) FROM one, home GROUP BY one.a ORDER BY 1",
				"SELECT id, a FROM one UNION SELECT id, a FROM home ORDER BY id, a", "SELECT a FROM home EXCEPT SELECT a FROM one", "SELECT a FROM one INTERSECT SELECT a FROM home ORDER BY a", "SELECT COUNT(*) FROM one NATURAL JOIN home",
				"SELECT a FROM h UNION ALL SELECT a FROM one UNION ALL SELECT a FROM home ORDER BY a", "SELECT h.id, one.s, home.s FROM h LEFT JOIN one ON one.id = h.id LEFT JOIN home ON home.a = h.a ORDER BY h.id, home.id",
				"SELECT h.id FROM h WHERE h.a IN (SELECT a FROM one WHERE d > 1) AND EXISTS (SELECT 1 FROM home WHERE home.id = h.id) ORDER BY h.id", "SELECT (SELECT MAX(a) FROM one), (SELECT MAX(a) FROM home), COUNT(*) FROM k",
				"SELECT id, (SELECT s FROM home WHERE home.id = one.id) AS hs FROM one WHERE a IS NULL OR a > 1 ORDER BY id", "SELECT one.t, home.t, one.f, one.e, HEX(one.b), one.g FROM one JOIN home ON one.f = home.f ORDER BY one.id",
				"WITH x AS (SELECT id, a FROM one), y AS (SELECT id, a FROM home) SELECT x.id, y.a FROM x JOIN y ON x.a = y.a ORDER BY x.id, y.id", "WITH x AS (SELECT a FROM one) SELECT COUNT(*) FROM x JOIN x AS z ON x.a = z.a JOIN home ON home.a = x.a",
				"SELECT x.id FROM one AS x JOIN one AS y ON x.a < y.a JOIN home AS z ON z.a = y.a ORDER BY x.id, y.id, z.id", "SELECT one.id, k.a, ref.a FROM one JOIN k ON k.id = one.id JOIN home ON home.id = k.id JOIN ref ON ref.id = one.id ORDER BY one.id",
				"SELECT COUNT(*) FROM far JOIN one ON far.a = one.a", "SELECT exam.one.id FROM exam.one JOIN exam.home ON exam.one.id = exam.home.id WHERE exam.one.a = 1", "SELECT SQL_CALC_FOUND_ROWS one.id FROM one JOIN home ON one.id <> home.id ORDER BY one.id, home.id LIMIT 2",
				"SELECT FOUND_ROWS()", "SELECT DISTINCT one.e FROM one, home ORDER BY one.e", "SELECT one.id FROM one JOIN home USING (id) WHERE one.nosuch = 1", "SELECT one.id, ROW_NUMBER() OVER (ORDER BY home.a, one.id) FROM one JOIN home ON one.id < 3 ORDER BY 1, 2",
				"BEGIN", "INSERT INTO one (id, a, d) VALUES (7, 2, 1)", "SELECT one.id, home.id FROM one JOIN home ON one.a = home.a ORDER BY one.id, home.id", "SELECT one.id FROM one JOIN home USING (a) ORDER BY one.id FOR UPDATE", "ROLLBACK",
				"INSERT INTO home (a, d) SELECT one.a, one.d FROM one JOIN home USING (id)", "UPDATE one LEFT JOIN home ON one.id = home.id SET one.a = home.a + 1 WHERE one.id = 2", "UPDATE home SET a = (SELECT MAX(a) FROM one) WHERE id = 1",
				"DELETE FROM one WHERE id IN (SELECT id FROM home WHERE a = 3)", "UPDATE one SET a = 9 WHERE NOT EXISTS (SELECT 1 FROM home WHERE home.id = one.id)",
				"!SELECT COUNT(*) FROM one JOIN seen ON one.id = seen.id", "SELECT COUNT(*) FROM one JOIN home ON one.id = home.id WHERE one.a > 0 INTO @x", "SELECT @x", "SET time_zone = '+05:00'", "SELECT one.t, home.t FROM one JOIN home USING (id) ORDER BY one.id",
				"SET SESSION sql_mode = 'ANSI_QUOTES'", `SELECT "one"."id" FROM "one" JOIN "home" USING ("id") ORDER BY 1`, "SET NAMES latin1", "SELECT one.s FROM one JOIN home USING (id) WHERE one.s LIKE 'q%' OR home.s <> '' ORDER BY 1",
			}
			e.examined(t, kind)
		})
	}
}
