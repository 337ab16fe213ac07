package session_test

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

const invisibleConfig = `
addr: 127.0.0.1:0
user_list: [{user: app, password: app}]
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: h, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: k, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: every, type: reference}
      - {db: shop, table: odd, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: p, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
`

// oddTable has invisible columns whose definitions take some care to say again.
const oddTable = "CREATE TABLE odd (id INT PRIMARY KEY, s VARCHAR(9) CHARACTER SET latin1 COLLATE latin1_german2_ci NOT NULL DEFAULT 'a''s, \\\\é' INVISIBLE, e ENUM('a,b', 'ü') INVISIBLE, " +
	"z DATETIME NOT NULL DEFAULT '2000-01-01' INVISIBLE, p DECIMAL(6, 2) UNSIGNED NOT NULL DEFAULT 1.5 INVISIBLE, j JSON INVISIBLE)"

// invisibleTables have columns that a star does not stand for, named by the client or made by the server.
var invisibleTables = map[mysqltest.Kind][]string{
	mysqltest.MariaDB: {
		oddTable,
		"CREATE TABLE h (id INT PRIMARY KEY, d INT, v INT NOT NULL DEFAULT 7 INVISIBLE, w VARCHAR(9) INVISIBLE, ts TIMESTAMP NULL INVISIBLE)",
		"CREATE TABLE k (id INT PRIMARY KEY, d INT) WITH SYSTEM VERSIONING",
		"CREATE TABLE p (id INT PRIMARY KEY, d INT, w INT INVISIBLE DEFAULT 3, b TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END INVISIBLE, PERIOD FOR SYSTEM_TIME (b, e)) WITH SYSTEM VERSIONING",
	},
	mysqltest.MySQL9: {
		oddTable,
		"CREATE TABLE h (id INT PRIMARY KEY, d INT, v INT NOT NULL DEFAULT 7 INVISIBLE, w VARCHAR(9) INVISIBLE, ts TIMESTAMP NULL INVISIBLE)",
		"CREATE TABLE k (id INT NOT NULL, d INT, KEY (id))", // with sql_generate_invisible_primary_key
	},
}

// invisibleQueries name such columns where rows of all shards are needed in one place; # is a column of the table k that its server has made.
var invisibleQueries = []string{
	"SELECT GROUP_CONCAT(v ORDER BY id) FROM h", "SELECT GROUP_CONCAT(w ORDER BY id) FROM h", "SELECT STD(v) FROM h", "SELECT COUNT(DISTINCT v + 1) FROM h", "SELECT COUNT(DISTINCT w), SUM(DISTINCT v) FROM h",
	"SELECT a.v, b.w FROM h a JOIN h b ON a.v = b.v + 1 ORDER BY 1", "SELECT a.id FROM h a JOIN h b USING (v) ORDER BY 1", "SELECT a.id FROM h a NATURAL JOIN h b ORDER BY 1", "SELECT x.v FROM (SELECT v, w FROM h UNION SELECT 1, 2) x ORDER BY 1",
	"SELECT v, COUNT(*) FROM h GROUP BY v HAVING COUNT(*) > 0 ORDER BY v", "SELECT d, GROUP_CONCAT(v ORDER BY v) FROM h GROUP BY d ORDER BY d", "SELECT MAX(v) - MIN(v) FROM h", "SELECT v FROM h WHERE v > (SELECT AVG(v) FROM h) ORDER BY v", "SELECT id FROM h WHERE v IN (SELECT v FROM h WHERE w = 'b') ORDER BY id",
	"SELECT STD(UNIX_TIMESTAMP(ts)) FROM h", "SELECT GROUP_CONCAT(ts ORDER BY ts) FROM h", "SELECT GROUP_CONCAT(DEFAULT(v)) FROM h", "SELECT v, ROW_NUMBER() OVER (ORDER BY v) FROM h ORDER BY v", "WITH x AS (SELECT v, w FROM h) SELECT GROUP_CONCAT(w ORDER BY v) FROM x",
	"SELECT v, w FROM h ORDER BY id", "SELECT SUM(v), MAX(w) FROM h", "SELECT v FROM h WHERE id = 3", "SELECT * FROM h ORDER BY id", "SELECT *, v FROM h ORDER BY id", "SELECT DISTINCT a.* FROM h a JOIN h b ON a.d = b.d ORDER BY 1", "SELECT nothing, GROUP_CONCAT(v) FROM h",
	"SELECT a.*, b.v FROM h a JOIN h b ON a.v = b.v + 1 ORDER BY 1", "SELECT a.d FROM h a NATURAL JOIN h b WHERE a.v > 5 ORDER BY 1", // a star beside them
	"SELECT a.*, b.*, a.v + b.v FROM h a JOIN h b ON a.v = b.v + 1 ORDER BY a.id", "SELECT *, b.w, b.ts FROM h a LEFT JOIN h b ON a.v = b.v + 1 ORDER BY a.id", "SELECT d, a.v FROM h a NATURAL JOIN h b ORDER BY a.v",
	"SELECT x.*, v FROM (SELECT *, v FROM h UNION SELECT 1, 2, 3) x ORDER BY id, v", "SELECT * FROM h WHERE v > (SELECT AVG(v) FROM h) ORDER BY id", "SELECT *, (SELECT MAX(DEFAULT(v)) FROM h) AS m FROM h WHERE w <> 'a' ORDER BY id",
	"WITH x AS (SELECT *, w FROM h) SELECT a.*, b.w FROM x a JOIN x b ON a.id = b.id + 1 ORDER BY a.id", "WITH x AS (SELECT * FROM h WHERE v > 5) SELECT a.*, b.d FROM x a JOIN x b ON a.id = b.id + 1 ORDER BY a.id",
	"SELECT e.*, e.s FROM odd e JOIN odd f ON e.s = f.s AND e.id < f.id ORDER BY e.id, f.id", "SELECT *, HEX(e), z, p FROM odd WHERE s < (SELECT MAX(s) FROM odd) ORDER BY id", "SELECT *, JSON_ARRAY(j, s) FROM odd WHERE s < (SELECT MAX(s) FROM odd) ORDER BY id",
	"SELECT every.v, GROUP_CONCAT(h.v ORDER BY h.id) FROM every JOIN h ON h.d = every.id GROUP BY every.v ORDER BY 1", "SELECT every.*, GROUP_CONCAT(h.v ORDER BY h.id) FROM every JOIN h ON h.d = every.id GROUP BY every.id ORDER BY 1",
	"SELECT every.*, every.v, GROUP_CONCAT(h.v ORDER BY h.id) FROM every JOIN h ON h.d = every.id GROUP BY every.id, every.v ORDER BY 1",
	"SELECT every.id, every.g * 3, every.ts, GROUP_CONCAT(h.v ORDER BY h.id) FROM every JOIN h ON h.d = every.id GROUP BY every.id, every.g, every.ts ORDER BY 1",
	"SELECT a.*, b.# > 0 FROM k a JOIN k b ON a.d = b.id WHERE a.# > 0 ORDER BY a.id", "SELECT * FROM k a NATURAL JOIN k b WHERE a.# > 0 ORDER BY id",
	"SELECT GROUP_CONCAT(# > 0) FROM k", "SELECT COUNT(DISTINCT # > 0) FROM k", "SELECT a.id FROM k a JOIN k b ON a.d = b.d WHERE a.# > 0 AND b.# > 0 ORDER BY 1", "SELECT STD(# > 0) FROM k", "SELECT id FROM k WHERE # > 0 ORDER BY id",
}

// TestInvisibleColumns compares queries that name invisible columns with those on one server.
func TestInvisibleColumns(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := invisibleRig(t, kind)
			made := map[mysqltest.Kind]string{mysqltest.MariaDB: "row_end", mysqltest.MySQL9: "my_row_id"}[kind]
			refused := 0
			for _, sql := range invisibleQueries {
				sql = strings.ReplaceAll(sql, "#", made)
				want, err := one.Query(sql)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.Query(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				if got.Err != nil && got.Err.Code == 9012 {
					refused++
				} else if w, g := answerShown(want), answerShown(got); w != g {
					t.Errorf("%s:\n%s\ninstead of\n%s", sql, g, w)
				}
				must(t, c, "BEGIN")
				if got, err = c.Query(sql); err != nil {
					t.Fatal(sql, err)
				}
				if w, g := answerShown(want), answerShown(got); w != g {
					t.Errorf("in a transaction %s:\n%s\ninstead of\n%s", sql, g, w)
				}
				must(t, c, "COMMIT")
				st, err := c.Prepare(sql)
				if err != nil {
					continue
				}
				if got, err = st.Execute(); err != nil {
					t.Fatal(sql, err)
				}
				ws, err := one.Prepare(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				if want, err = ws.Execute(); err != nil {
					t.Fatal(sql, err)
				}
				if w, g := answerShown(want), answerShown(got); w != g && !(got.Err != nil && got.Err.Code == 9012) {
					t.Errorf("prepared %s:\n%s\ninstead of\n%s", sql, g, w)
				}
			}
			if refused > 0 {
				t.Errorf("%d of %d are refused", refused, len(invisibleQueries))
			}
		})
	}
}

// TestGeneratedInvisiblePrimaryKey adds rows without a value for a key that each sub-table would count for itself: the values are drawn.
func TestGeneratedInvisiblePrimaryKey(t *testing.T) {
	_, c := invisibleRig(t, mysqltest.MySQL9)
	for _, sql := range []string{"INSERT INTO k (id, d) VALUES (5, 5), (6, 6)", "INSERT INTO k VALUES (5, 5)", "INSERT INTO k SET id = 5", "REPLACE INTO k (my_row_id, id) VALUES (NULL, 5)"} {
		before := must(t, c, "SELECT my_row_id FROM k").Rows
		got := must(t, c, sql)
		after := must(t, c, "SELECT my_row_id FROM k ORDER BY my_row_id").Rows
		if n := len(after) - len(before); n != strings.Count(sql, "5, 5")+strings.Count(sql, "6, 6")+strings.Count(sql, "= 5")+strings.Count(sql, "NULL") ||
			fmt.Sprintf("%s", after[len(after)-n][0]) != fmt.Sprint(got.OK.LastInsertID) {
			t.Errorf("%s: the id is %d, and %s are there behind %s", sql, got.OK.LastInsertID, after, before)
		}
	}
}

// TestPeriodOfOwnNames asks for invisible columns of a system-versioned table whose period has names of its own.
func TestPeriodOfOwnNames(t *testing.T) {
	one, c := invisibleRig(t, mysqltest.MariaDB)
	for _, x := range []*mysqltest.RawClient{one, c} {
		must(t, x, "INSERT INTO p (id, d, w) VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7), (4, 2, 8)")
	}
	for _, sql := range []string{"SELECT GROUP_CONCAT(w ORDER BY id) FROM p", "SELECT STD(e > 0), STD(b > 0) FROM p", "SELECT a.w FROM p a JOIN p b ON a.w = b.w + 1 AND a.e > 0 ORDER BY 1"} {
		want, err := one.Query(sql)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Query(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		if w, g := answerShown(want), answerShown(got); w != g || want.Err != nil {
			t.Errorf("%s:\n%s\ninstead of\n%s", sql, g, w)
		}
	}
}

// answerShown shows the names and rows of an answer.
func answerShown(r *mysqltest.RawResult) string {
	if r.Err != nil {
		return fmt.Sprintf("%d %s", r.Err.Code, r.Err.Message)
	}
	return namesOf(r) + fmt.Sprint(r.Rows)
}

var createName = regexp.MustCompile(`^CREATE TABLE (\w+)`)

// invisibleRig gives clients of one server and of a proxy, with the tables, which are made beside the proxy.
func invisibleRig(t *testing.T, kind mysqltest.Kind) (one, c *mysqltest.RawClient) {
	t.Helper()
	servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
	var direct []*mysqltest.RawClient
	for _, server := range servers {
		d := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		must(t, d, "DROP DATABASE IF EXISTS shop")
		must(t, d, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		must(t, d, "USE shop")
		if kind == mysqltest.MySQL9 {
			must(t, d, "SET sql_generate_invisible_primary_key = ON")
		}
		direct = append(direct, d)
	}
	for _, sql := range invisibleTables[kind] {
		must(t, direct[0], sql)
		for k := range 4 {
			must(t, direct[1+k/2], createName.ReplaceAllString(sql, fmt.Sprintf("CREATE TABLE ${1}_%04d", k)))
		}
	}
	for _, d := range direct {
		must(t, d, "CREATE TABLE every (id INT PRIMARY KEY, n INT, v INT INVISIBLE, g FLOAT, ts TIMESTAMP NULL)")
		must(t, d, "INSERT INTO every (id, n, v, g, ts) VALUES (1, 11, 21, 1e0/3, '2024-10-27 02:30:00'), (2, 12, 22, 5, NULL)")
	}
	c = dial(t, startProxyLog(t, fmt.Sprintf(invisibleConfig, servers[1].Addr, servers[2].Addr), io.Discard), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	for _, x := range []*mysqltest.RawClient{direct[0], c} {
		must(t, x, "INSERT INTO h (id, d, v, w, ts) VALUES (1, 1, 5, 'a', '2024-01-01 00:00:00'), (2, 1, 6, 'b', NULL), (3, 2, 7, 'c', '2024-06-01 00:00:00'), (4, 2, 8, NULL, '2024-02-01 12:00:00')")
		must(t, x, "INSERT INTO odd (id, s, e, j) VALUES (1, 'ä', 'ü', '[1]'), (2, 'ae', 'a,b', '{}'), (3, 'b', NULL, NULL)")
		must(t, x, "INSERT INTO odd (id) VALUES (4)")
		if kind == mysqltest.MySQL9 {
			must(t, x, "INSERT INTO k (my_row_id, id, d) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)")
		} else {
			must(t, x, "INSERT INTO k (id, d) VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
		}
	}
	return direct[0], c
}
