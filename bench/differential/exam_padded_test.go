package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// paddedRules place a text key in every way, without a fold and by one.
var paddedRules = []string{
	"type: crc32", "type: hash", "type: murmur3", "type: slots", "type: crc32, strings: utf8mb4_bin_v1", "type: hash, strings: utf8mb4_bin_v1",
}

// paddedWrites are ways to write 'a ', which a _bin collation with PAD SPACE calls equal to 'a'. %s is the table.
var paddedWrites = []string{
	"INSERT INTO %s (code, n) VALUES ('a ', 2)", "INSERT INTO %s (code, n) VALUES ('b', 2), ('a  ', 2)", "INSERT IGNORE INTO %s (code, n) VALUES ('a ', 2)", "INSERT INTO %s SET code = 'a ', n = 2",
	"INSERT INTO %s (code, n) VALUES ('a' ' ', 2)", "INSERT INTO %s (code, n) VALUES (_utf8mb4'a ', 2)", "INSERT INTO %s (code, n) VALUES (N'a ', 2)", "INSERT INTO %s (code, n) VALUES (x'6120', 2)",
	"INSERT INTO %s (code, n) VALUES (0x6120, 2)", "INSERT INTO %s (code, n) VALUES (b'0110000100100000', 2)", "INSERT INTO %s (code, n) VALUES (CONCAT('a', ' '), 2)", "INSERT INTO %s (code, n) VALUES (@a, 2)",
	"INSERT INTO %s (code, n) VALUES (CAST('a ' AS CHAR), 2)", "INSERT INTO %s (code, n) VALUES (DEFAULT, 2)", "INSERT INTO %s (code, n) VALUES (DEFAULT(code), 2)", "INSERT INTO %s (n) VALUES (2)",
	"INSERT INTO %s () VALUES ()", "REPLACE INTO %s (code, n) VALUES ('a ', 3)", "REPLACE INTO %s (code, n) VALUES ('a', 3)", "REPLACE INTO %s SET code = 'a '", "REPLACE INTO %s (n) VALUES (3)",
	"INSERT INTO %s (code, n) VALUES ('a ', 2) ON DUPLICATE KEY UPDATE n = n + 10", "INSERT INTO %s (code, n) VALUES ('a', 2) ON DUPLICATE KEY UPDATE n = n + 10",
	"INSERT INTO %s (code, n) VALUES ('a', 1) ON DUPLICATE KEY UPDATE code = 'a '", "INSERT INTO %s (code, n) VALUES ('a', 1) ON DUPLICATE KEY UPDATE code = CONCAT(code, ' ')",
	"INSERT INTO %s (code, n) SELECT code, n FROM loc", "INSERT INTO %s (code, n) SELECT code, id FROM h", "REPLACE INTO %s (code, n) SELECT code, n FROM loc", "INSERT INTO %s (code, n) SELECT 'a ', 3",
	"INSERT INTO %s (code, n) SELECT CONCAT(code, ' '), n FROM %[1]s", "INSERT INTO %s (code, n) SELECT DEFAULT(code), 1 FROM loc", "INSERT INTO %s (code, n) (SELECT * FROM (SELECT 'a ' AS x, 4) AS y)",
	"UPDATE %s SET code = 'a '", "UPDATE %s SET code = 'a ' WHERE code = 'a'", "UPDATE %s SET code = CONCAT(code, ' ')", "UPDATE %s JOIN loc SET %[1]s.code = loc.code", "UPDATE %s AS x, loc SET x.code = 'a '",
	"UPDATE %s SET n = n + 1 WHERE code = 'a '", "UPDATE %s SET n = n + 1 WHERE code = 'a'", "DELETE FROM %s WHERE (code, 1) = ('a ', 1)", "DELETE FROM %s WHERE code IN ('b', 'a  ')", "DELETE FROM %s WHERE code = 'a'",
}

// TestPaddedKeys writes keys with a space at the end in every way to tables whose key has a _bin collation that pads. What is not
// refused is found by every equal key, as on one server.
func TestPaddedKeys(t *testing.T) {
	collations := []string{"utf8mb4 COLLATE utf8mb4_bin", "utf8mb3 COLLATE utf8mb3_bin", "latin1 COLLATE latin1_bin", "gbk COLLATE gbk_bin"}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: []string{
				"SET NAMES utf8mb4", "CREATE TABLE loc (code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, n INT)", "INSERT INTO loc VALUES ('a ', 7)",
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)", "INSERT INTO h (id, code) VALUES (1, 'a ')",
			}, settings: "SET @a = 'a '"}
			writes := paddedWrites
			if kind == mysqltest.MariaDB {
				writes = append(writes[:len(writes):len(writes)], "SET STATEMENT sql_mode = '' FOR INSERT INTO %s (code, n) VALUES ('a ', 2)", "EXECUTE IMMEDIATE 'INSERT INTO %s (code, n) VALUES (''a '', 2)'")
			} else {
				writes = append(writes[:len(writes):len(writes)], "INSERT INTO %s (code, n) VALUES ROW('a ', 2)", "INSERT INTO %s (code, n) TABLE loc", "INSERT INTO %s (code, n) VALUES ('a ', 2) AS x ON DUPLICATE KEY UPDATE n = x.n + 10")
			}
			for k, rule := range paddedRules {
				for i, collation := range collations {
					if k > 0 && i > 0 {
						break
					}
					name := fmt.Sprintf("p%d%d", k, i)
					e.rules += fmt.Sprintf("  - {db: exam, table: %s, key: code, %s, nodes: [n1, n2]", name, rule)
					if strings.Contains(rule, "slots") {
						e.rules += ", locations: [2, 2]}\n"
					} else {
						e.rules += ", locations: %[1]s}\n"
					}
					e.setup = append(e.setup, fmt.Sprintf("CREATE TABLE %s (code VARCHAR(20) CHARACTER SET %s NOT NULL DEFAULT 'a ', n INT, PRIMARY KEY (code))", name, collation))
					for _, write := range writes {
						e.asked = append(e.asked, "DELETE FROM "+name, "INSERT INTO "+name+" (code, n) VALUES ('a', 1)", "?"+fmt.Sprintf(write, name),
							"SELECT code, n FROM "+name+" WHERE code = 'a'", "SELECT code, n FROM "+name+" WHERE (code, n) = ('a', n)", "SELECT HEX(code) FROM "+name+" WHERE code IN ('a', 'x')",
							"SELECT code, COUNT(*), MAX(n) FROM "+name+" GROUP BY code ORDER BY code", "DELETE FROM "+name+" WHERE code = 'a'", "SELECT COUNT(*) FROM "+name)
					}
				}
			}
			server, pair := oracle(t, kind), twoNodes(t, kind)
			e.over(t, server, pair, "[2, 2]")
		})
	}
}

// TestRowsOfPaddedKeys wants tables to begin with no rows that the proxy would have refused to write.
func TestRowsOfPaddedKeys(t *testing.T) {
	padded := 0
	for seed := range uint64(300) {
		for _, d := range []dialect{{mariaDB: true}, {}} {
			for _, table := range newSchema(rand.New(rand.NewPCG(seed, 0)), d).tables {
				if table.kind != exactText || !table.keys[0].folds {
					continue
				}
				padded++
				for _, row := range table.rows {
					if key := row[0].text(); strings.HasSuffix(key, " ") {
						t.Fatalf("seed %d: %s has the key %q, %s", seed, table.name, key, table.keys[0].decl)
					}
				}
			}
		}
	}
	if padded < 100 {
		t.Errorf("%d tables with keys that pad", padded)
	}
}
