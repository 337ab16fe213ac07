package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// valuesRule and valuesSchema are a table whose columns in keys over all shards may not be NULL.
const (
	valuesRule   = "      - {db: shop, table: staff, key: id, type: hash, nodes: [n0, n1], locations: [2, 1], unique: [{columns: email, strings: utf8mb4_general_ci_v1}], lookup: [n, seen]}"
	valuesSchema = "CREATE TABLE staff (id BIGINT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(10) COLLATE utf8mb4_general_ci NOT NULL, n INT NOT NULL, seen DATETIME(6), UNIQUE KEY email (email)) DEFAULT CHARSET utf8mb4"
)

// onStaff runs a test on a proxy over two nodes with the table staff.
func onStaff(t *testing.T, test func(t *testing.T, s *shards)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, valuesSchema, valuesRule, atomicConfig)
			for k, n := range s.nodes {
				must(t, n, fmt.Sprintf("DROP TABLE staff_%04d", k))
			}
			must(t, s.subject, valuesSchema)
			test(t, s)
		})
	}
}

// keptStaff compares what the indexes of staff have with the rows.
func (s *shards) keptStaff(t *testing.T, after string) {
	t.Helper()
	for _, column := range []string{"email", "n", "seen"} {
		list := "SELECT " + column + ", id FROM "
		s.keptIndex(t, after, list+"staff WHERE "+column+" IS NOT NULL ORDER BY id", list+"ks_staff_"+column+" ORDER BY id")
	}
}

// Rows that give a column nothing, or NULL where it may not be, have the entries of what the server makes of that.
func TestIndexesOfImplicitDefaults(t *testing.T) {
	onStaff(t, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"INSERT INTO staff (id) VALUES (1)",
			"INSERT INTO staff (id, email) VALUES (1, NULL)",
			"INSERT IGNORE INTO staff (id, n) VALUES (1, NULL)",
			"INSERT IGNORE INTO staff (id) VALUES (2), (3)",
			"INSERT IGNORE INTO staff (id, email, n) VALUES (2, NULL, 1), (3, NULL, NULL), (4, 'x', NULL)",
			"INSERT IGNORE INTO staff (id, email) VALUES (5, 'y'), (6, 'z')",
			"INSERT IGNORE INTO staff (id, email, n) VALUES (7, 'u', DEFAULT), (8, 'v', DEFAULT)",
			"DELETE FROM staff WHERE id > 1",
			"SET sql_mode = ''",
			"INSERT INTO staff (id) VALUES (2)",
			"INSERT INTO staff (id, email) VALUES (2, 'b'), (5, 'c')",
			"UPDATE staff SET email = NULL WHERE id = 2",
			"UPDATE staff SET n = NULL, email = 'd' WHERE id = 1",
			"UPDATE staff SET email = NULLIF(email, 'b') WHERE id = 2",
			"SELECT id FROM staff WHERE email = ''",
			"SELECT id FROM staff WHERE n = 0 ORDER BY id",
			"REPLACE INTO staff (id, n) VALUES (7, 1)",
			"INSERT INTO staff (id, email, n) VALUES (8, '', 1) ON DUPLICATE KEY UPDATE n = 9",
			"DELETE FROM staff WHERE email = ''",
			"INSERT INTO staff (id) VALUES (2)",
			"DELETE FROM staff",
		} {
			s.inStep(t, sql, "")
			s.sameTables(t, sql, "staff")
			s.keptStaff(t, sql)
		}
	})
}

// What only a server knows of a row is refused before anything is sent.
func TestIndexesOfOtherDefaults(t *testing.T) {
	onStaff(t, func(t *testing.T, s *shards) {
		must(t, s.subject, "ALTER TABLE staff ADD COLUMN (note VARCHAR(10) DEFAULT 'note', number INT DEFAULT 5)")
		for _, sql := range []string{
			"INSERT INTO staff (id, email, n) VALUES (1, DEFAULT(note), 1)",
			"INSERT INTO staff (id, email, n) VALUES (1, 'a', DEFAULT(number))",
			"REPLACE INTO staff (id, email, n) VALUES (1, DEFAULT(note), 1)",
		} {
			fails(t, s.subject, sql, 9012)
		}
		must(t, s.subject, "ALTER TABLE staff ALTER n SET DEFAULT 6")
		fails(t, s.subject, "INSERT INTO staff (id, email) VALUES (1, 'a')", 9012)
		must(t, s.subject, "INSERT INTO staff (id, email, n, note) VALUES (1, 'a', 2, DEFAULT(note))")
		must(t, s.subject, "ALTER TABLE staff ALTER email SET DEFAULT 'NULL'")
		fails(t, s.subject, "INSERT INTO staff (id, n) VALUES (2, 1)", 9012)
		s.keptStaff(t, "defaults")
	})
}

// Rows that leave their ids to the table, in whatever form, have the entries of those that they get.
func TestIndexesOfDrawnIDs(t *testing.T) {
	onStaff(t, func(t *testing.T, s *shards) {
		for k, id := range []string{"0", "'0'", "0.4", "-0.4", "1 - 1", "0e0", "FALSE", "NULL", "DEFAULT", "3.6"} {
			sql := fmt.Sprintf("INSERT INTO staff (id, email, n) VALUES (%s, 'e%d', 1), (%d, 'f%d', 1), (%[1]s, 'g%[2]d', 2)", id, k, 100*(k+1), k)
			if id == "3.6" {
				sql = "INSERT INTO staff (id, email, n) VALUES (3.6, 'h', 1)"
			}
			must(t, s.subject, sql)
			s.keptStaff(t, sql)
		}
		must(t, s.subject, "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
		for _, id := range []string{"0", "DEFAULT"} {
			sql := fmt.Sprintf("INSERT INTO staff (id, email, n) VALUES (%s, 'i%[1]s', 1), (NULL, 'j%[1]s', 1)", id)
			must(t, s.subject, sql)
			s.keptStaff(t, sql)
			must(t, s.subject, "DELETE FROM staff WHERE id = 0")
		}
	})
}

// What an UPDATE gives by the clock is the same in the row and in its entry.
func TestIndexesOfClocks(t *testing.T) {
	onStaff(t, func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO staff (id, email, n, seen) VALUES (1, 'a', 1, NOW(6)), (2, 'b', 1, '2024-01-02'), (3, 'c', 1, NULL)")
		for _, sql := range []string{
			"UPDATE staff SET seen = NOW(6), n = n + 1 WHERE id < 3",
			"UPDATE staff SET n = 5, seen = CURRENT_TIMESTAMP(6) - INTERVAL 1 DAY",
			"INSERT INTO staff (id, email, n) VALUES (9, 'A', 1) ON DUPLICATE KEY UPDATE seen = UTC_TIMESTAMP(6)",
			"UPDATE staff SET seen = IF(n > 1, NOW(6), seen)",
			"UPDATE staff SET seen = SYSDATE(6)",
		} {
			must(t, s.subject, sql)
			s.keptStaff(t, sql)
		}
		fails(t, s.subject, "UPDATE staff SET seen = SYSDATE(6), id = id + 100", 9012)
		s.keptStaff(t, "refused")
	})
}

// A table with one shard counts its ids by itself, which no entry could have.
func TestIndexesOfOneShard(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, valuesSchema, strings.Replace(valuesRule, "nodes: [n0, n1], locations: [2, 1]", "nodes: [n1], locations: [1]", 1), atomicConfig)
			for k, n := range s.nodes {
				must(t, n, fmt.Sprintf("DROP TABLE staff_%04d", k))
			}
			must(t, s.subject, valuesSchema)
			for _, sql := range []string{"INSERT INTO staff (id, email, n) VALUES (0, 'a', 1)", "INSERT INTO staff (id, email, n) VALUES (5, 'a', 1), (0.4, 'b', 1)", "REPLACE INTO staff SET id = FALSE, email = 'a', n = 1"} {
				fails(t, s.subject, sql, 9012)
			}
			for _, sql := range []string{"INSERT INTO staff (id, email, n) VALUES (5, 'a', 1), (6, 'b', 1)", "INSERT INTO staff (id, email, n) VALUES (7, 'A', 1)", "UPDATE staff SET n = n + 1, email = 'c' WHERE id = 6"} {
				s.inStep(t, sql, "")
				s.keptStaff(t, sql)
			}
		})
	}
}
