package differential

import (
	"fmt"
	"testing"
)

// changeTables are tables of every place with equal columns and rows.
func changeTables() (setup []string) {
	for _, name := range []string{"h", "g", "k", "ref", "one", "loc", "loc2"} {
		setup = append(setup,
			"CREATE TABLE "+name+" (id INT NOT NULL PRIMARY KEY, s VARCHAR(20), n INT)",
			"INSERT INTO "+name+" (id, s, n) VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3), (4, 'd', 4), (5, 'e', NULL)")
	}
	return setup
}

// TestChangesOfJoinedTables changes a table of each place by one of each other place, in every form of a join. Of each
// statement either all tables are the same as on one server behind it, or it is refused.
func TestChangesOfJoinedTables(t *testing.T) {
	places := []string{"h", "g", "k", "ref", "one", "loc", "loc2"}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: changeTables()}
			for _, name := range places {
				e.look = append(e.look, "SELECT * FROM "+name+" ORDER BY id")
			}
			for _, target := range places {
				for _, other := range places {
					if target != other {
						e.asked = append(e.asked, joinedChanges(target, other)...)
					}
				}
			}
			// A table that is on one node, or on each, is changed by one that is on several.
			e.asked = append(e.asked,
				"UPDATE loc JOIN h ON h.id = loc.id SET loc.s = 'zz'", "UPDATE one JOIN h ON h.id = one.id SET one.s = 'zz'",
				"DELETE loc FROM loc JOIN h ON h.id = loc.id", "DELETE FROM one USING one, h WHERE h.id = one.id",
				"UPDATE ref JOIN h USING (id) SET ref.s = 'zz'")
			e.examined(t, kind)
		})
	}
}

// joinedChanges are the forms in which target is changed by what other holds.
func joinedChanges(target, other string) (list []string) {
	for _, from := range []string{
		"%[1]s JOIN %[2]s ON %[2]s.id = %[1]s.id", "%[1]s, %[2]s", "%[2]s STRAIGHT_JOIN %[1]s", "%[2]s NATURAL JOIN %[1]s",
		"%[1]s LEFT JOIN %[2]s USING (id)", "%[2]s LEFT JOIN %[1]s ON %[2]s.id = %[1]s.id", "%[2]s RIGHT JOIN %[1]s USING (id)",
		"exam.%[1]s CROSS JOIN exam.%[2]s", "%[1]s JOIN (SELECT id, n FROM %[2]s) AS %[2]s ON %[2]s.id = %[1]s.id",
	} {
		from = fmt.Sprintf(from, target, other)
		where := fmt.Sprintf(" WHERE %s.id = %s.id AND %s.n > 1", target, other, other)
		list = append(list, fmt.Sprintf("?UPDATE %s SET %s.s = CONCAT('z', %s.n)%s", from, target, other, where),
			fmt.Sprintf("?UPDATE %s SET %s.s = 'y'", from, target), fmt.Sprintf("?DELETE %s FROM %s%s AND %s.n = 3", target, from, where, other))
	}
	for _, form := range []string{
		"?UPDATE %[1]s AS x JOIN %[2]s AS y ON x.id = y.id SET x.s = 'w' WHERE y.id = 2", "?DELETE x FROM %[1]s AS x, %[2]s AS y WHERE x.id = y.id AND y.id = 4",
		"?DELETE FROM x USING %[1]s x JOIN %[2]s y ON x.id = y.id WHERE x.n = 2", "?UPDATE %[1]s SET s = 'v' WHERE id IN (SELECT id FROM %[2]s WHERE n > 2)",
		"?UPDATE %[1]s SET s = (SELECT MAX(s) FROM %[2]s)", "?DELETE FROM %[1]s WHERE EXISTS (SELECT 1 FROM %[2]s WHERE %[2]s.id = %[1]s.id AND n = 1)",
		"?UPDATE %[1]s x, %[2]s y SET x.s = 'p', y.s = 'q' WHERE x.id = y.id", "?DELETE x, y FROM %[1]s x JOIN %[2]s y ON x.id = y.id WHERE x.id = 1",
		"?UPDATE %[2]s y JOIN %[1]s x ON x.id = 2 AND y.id = 2 SET x.s = 'one'", "?DELETE FROM %[1]s WHERE id < (SELECT COUNT(*) FROM %[2]s) AND id = 5",
		"?UPDATE %[1]s x LEFT JOIN %[1]s z ON x.id = z.id JOIN %[2]s y ON y.id = z.id SET z.s = 'm', x.s = y.s",
		"?INSERT INTO %[1]s SELECT id, s, n FROM %[2]s ON DUPLICATE KEY UPDATE s = VALUES(s)", "?REPLACE INTO %[1]s SELECT * FROM %[2]s WHERE id = 3",
	} {
		list = append(list, fmt.Sprintf(form, target, other))
	}
	return list
}

// TestChangesOfNoRows wants what servers say of changes by rows of other shards that change none: MariaDB nothing of LIMIT 0.
func TestChangesOfNoRows(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: changeTables(), asked: []string{
				"UPDATE loc SET n = 2 WHERE id IN (SELECT id FROM h) LIMIT 0", "UPDATE h SET n = 2 WHERE id IN (SELECT id FROM k) LIMIT 0", "UPDATE IGNORE k SET n = 2 WHERE id IN (SELECT n FROM h) ORDER BY id LIMIT 00",
				"UPDATE loc SET n = 2 WHERE n IN (SELECT id FROM h WHERE id > 77) LIMIT 2", "UPDATE loc SET n = 2 WHERE n IN (SELECT id FROM h WHERE id > 77)", "DELETE FROM loc WHERE id IN (SELECT id FROM h) LIMIT 0",
				"UPDATE IGNORE ref SET n = 2 WHERE 0 ORDER BY id", "UPDATE IGNORE ref SET n = 2 WHERE id > 3 AND id < 2 ORDER BY id", "UPDATE IGNORE ref SET n = 2 WHERE n = 77 ORDER BY id", "UPDATE IGNORE ref SET n = 2 WHERE 0",
				"UPDATE ref SET n = 2 WHERE id IN (SELECT id FROM h) AND n = 77",
			}}
			e.examined(t, kind)
		})
	}
}
