package differential

import "testing"

// TestWhatOnlyTheTableHas runs statements on collected rows that name what only the table has: they are answered as on one server
// or refused, with no error that says something untrue.
func TestWhatOnlyTheTableHas(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: []string{
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, a INT DEFAULT 7, s VARCHAR(20) NOT NULL DEFAULT 'x', g INT AS (a + 1) VIRTUAL, KEY ka (a), FULLTEXT KEY f (s))",
				"CREATE TABLE k (id INT NOT NULL PRIMARY KEY, a INT DEFAULT 8) PARTITION BY HASH (id) PARTITIONS 2",
				"INSERT INTO h (id, a, s) VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'one two'), (4, 4, 'three')", "INSERT INTO k (id, a) VALUES (1, 1), (2, 2), (3, 5)",
			}}
			e.asked = []string{
				"SELECT DEFAULT(h.a), DEFAULT(s), h.id FROM h JOIN k ON h.a = k.a ORDER BY h.id", "SELECT h.id FROM h JOIN k ON h.a = k.a WHERE h.a < DEFAULT(k.a) ORDER BY h.id", "SELECT h.id FROM h JOIN k ON h.a < DEFAULT(k.a) GROUP BY h.id ORDER BY h.id",
				"SELECT g, COUNT(*) FROM h GROUP BY g HAVING COUNT(*) > 0 ORDER BY g", "SELECT DEFAULT(a) FROM h GROUP BY id, DEFAULT(a) HAVING COUNT(*) > 0",
				"SELECT h.id FROM h FORCE INDEX (ka) JOIN k ON h.a = k.a ORDER BY h.id", "SELECT h.id FROM h USE INDEX (ka), k WHERE h.a = k.a ORDER BY h.id", "SELECT h.id FROM h IGNORE KEY FOR JOIN (ka) JOIN k ON h.a = k.a ORDER BY h.id",
				"SELECT x.id FROM h AS x USE INDEX FOR ORDER BY (ka) IGNORE INDEX (f) JOIN k y FORCE KEY (PRIMARY) ON x.a = y.a ORDER BY x.id", "SELECT h.id FROM h JOIN k PARTITION (p0) ON h.a = k.a ORDER BY h.id",
				"SELECT h.id, x.id FROM h LEFT JOIN k PARTITION (p1) AS x USE INDEX (PRIMARY) ON h.a = x.a ORDER BY h.id, x.id", "SELECT id FROM h WHERE a IN (SELECT a FROM k PARTITION (p1, p0)) ORDER BY id",
				"SELECT h.id FROM h JOIN k ON h.a = k.a WHERE MATCH (s) AGAINST ('one' IN BOOLEAN MODE) ORDER BY h.id", "!SELECT h.id FROM h JOIN k ON h.a = k.a WHERE MATCH (s) AGAINST ('one')",
				"!SELECT id, ROW_NUMBER() OVER (ORDER BY MATCH (s) AGAINST ('one')) FROM h", "SELECT COUNT(*) + 1 FROM k PARTITION (p0)", "SELECT a, COUNT(*) + 1 AS n FROM h FORCE INDEX (ka) GROUP BY a ORDER BY n, a",
				"SELECT id FROM h WHERE MATCH (s) AGAINST ('one' IN BOOLEAN MODE) ORDER BY id", "SELECT id FROM h FORCE INDEX (ka) WHERE a > 1 ORDER BY a", "SELECT id FROM k PARTITION (p1) ORDER BY id",
			}
			e.examined(t, kind)
		})
	}
}
