package differential

import (
	"slices"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestDocuments wants columns of JSON to be JSON where their rows are collected, too: in MariaDB they are texts that are checked, which its functions write into JSON as they are.
func TestDocuments(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{
				setup: []string{
					"CREATE TABLE h (id INT PRIMARY KEY, j JSON, v VARCHAR(99) CHECK (JSON_VALID(v)), x TEXT CHECK (JSON_VALID(x) AND x <> 'x'), s TEXT, `a``b` JSON NOT NULL)",
					`INSERT INTO h VALUES (1, '{"a": 2}', '[1]', '{}', '{}', '1'), (2, NULL, NULL, NULL, NULL, '{"b": [1, 2]}'), (3, '"t"', '"u"', '[]', '[]', 'null'), (4, '{"a": 2}', '3', '{}', 'x', '{}')`,
					"CREATE TABLE g (id INT PRIMARY KEY, j JSON)", `INSERT INTO g VALUES (1, '{"k": 1}'), (2, '[]')`,
					"CREATE TABLE ref (id INT PRIMARY KEY, j JSON)", `INSERT INTO ref VALUES (1, '{"r": 1}'), (2, '[]')`,
					"CREATE TABLE loc (id INT PRIMARY KEY, j JSON)", `INSERT INTO loc VALUES (1, '{"l": 1}'), (2, '[]')`,
				},
				asked: []string{
					"SELECT JSON_OBJECT('k', j, 'v', v, 'x', x, 's', s, 'n', `a``b`) AS o FROM h WHERE id > (SELECT AVG(id) FROM h) - 7 ORDER BY id",
					"SELECT JSON_ARRAY(h.j, g.j) AS o FROM h JOIN g ON h.id = g.id + 1 ORDER BY h.id", "SELECT JSON_ARRAY(h.j, ref.j, loc.j) AS o FROM h JOIN ref ON h.id = ref.id + 1 JOIN loc ON loc.id = ref.id ORDER BY h.id",
					"SELECT h.*, JSON_ARRAY(h.`a``b`, g.j) AS o FROM h JOIN g ON h.id > g.id ORDER BY h.id, g.id", "SELECT JSON_ARRAYAGG(j) FROM h WHERE id = 1",
					"SELECT JSON_ARRAY(j) AS o, COUNT(*) FROM h GROUP BY o ORDER BY o", "SELECT JSON_ARRAY(j) AS o, GROUP_CONCAT(id ORDER BY id) FROM h GROUP BY j ORDER BY MIN(id)",
					"WITH x AS (SELECT id, j FROM h) SELECT JSON_ARRAY(a.j, b.j) AS o FROM x AS a JOIN x AS b ON a.id = b.id + 1 ORDER BY a.id", "SELECT DISTINCT JSON_ARRAY(j) AS o FROM h ORDER BY o",
					"SELECT STR_TO_DATE(j, '%Y') AS o FROM h WHERE id > (SELECT AVG(id) FROM h) ORDER BY id",
				},
			}
			if kind == mysqltest.MariaDB {
				e.setup = slices.Concat(e.setup, []string{"SET check_constraint_checks = 0", "INSERT INTO h (id, j, `a``b`) VALUES (5, '{no', '{}'), (6, '{no', '')", "SET check_constraint_checks = 1"})
				e.asked = append(e.asked,
					// Beside another node's connection the tables that are whole are collected, too.
					"BEGIN", "SELECT @u := j FROM loc WHERE id = 1 FOR UPDATE", "SELECT JSON_ARRAY(h.j, ref.j, loc.j) AS o FROM h JOIN ref ON h.id = ref.id + 1 JOIN loc ON loc.id = ref.id ORDER BY h.id", "COMMIT")
			}
			e.examined(t, kind)
		})
	}
}
