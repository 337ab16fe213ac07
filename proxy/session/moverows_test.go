package session_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// inPlace wants each row of a sharded table where it is looked for, by a key of whole numbers.
func (s *shards) inPlace(t *testing.T, after, table, key string) {
	t.Helper()
	parts := 0
	for _, n := range s.nodes {
		parts += len(must(t, n, "SHOW TABLES LIKE '"+table+"\\_0%'").Rows)
	}
	for _, n := range s.nodes {
		for _, row := range must(t, n, "SHOW TABLES LIKE '"+table+"\\_0%'").Rows {
			part := row[0].(string)
			var number int
			if _, err := fmt.Sscanf(part, table+"_%d", &number); err != nil {
				t.Fatal(err)
			}
			if astray := mustInt(t, n, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE MOD(%s, %d) <> %d", part, key, parts, number)); astray != 0 {
				t.Errorf("%s: %d rows of %s lie wrong", after, astray, part)
			}
		}
	}
}

// moves are statements that give rows another sharding key, and some that might.
var moves = []struct{ sql, table, key string }{
	{"UPDATE users SET id = 101 WHERE id = 1", "users", "id"},
	{"UPDATE users SET id = 5 WHERE id = 5", "users", "id"},
	{"UPDATE users SET id = 5, name = 'five' WHERE id = 5", "users", "id"},
	{"UPDATE users SET name = 'x', id = 102, n = n + 1 WHERE n = 3 AND id = 8", "users", "id"},
	{"UPDATE users SET id = id + 100", "users", "id"},
	{"UPDATE users SET id = id + 101, n = id WHERE n IN (1, 2) ORDER BY name", "users", "id"},
	{"UPDATE users AS u SET u.id = u.id * 3 + 1000, u.n = 1 WHERE u.n > 2", "users", "id"},
	{"UPDATE users SET id = 7 WHERE id = 3", "users", "id"},              // 1062 wherever the other one is
	{"UPDATE users SET id = 6 WHERE id IN (3, 4)", "users", "id"},        //
	{"UPDATE users SET id = 201 WHERE id IN (3, 4, 5)", "users", "id"},   // of which the second one is too much
	{"UPDATE users SET id = 4 WHERE id = 4000", "users", "id"},           // no row
	{"UPDATE users SET id = 4 WHERE 1 = 0", "users", "id"},               //
	{"UPDATE users SET id = '009' WHERE id = 9", "users", "id"},          //
	{"UPDATE users SET id = '0301' WHERE id = 9", "users", "id"},         //
	{"UPDATE users SET id = 302.6 WHERE id = 9", "users", "id"},          //
	{"UPDATE users SET id = id / 2 + 1000 WHERE id < 12", "users", "id"}, // rounded
	{"UPDATE users SET id = 500 + u, u = 3 WHERE d IS NOT NULL", "users", "id"},
	{"UPDATE users SET id = CONCAT('6', id) WHERE id BETWEEN 10 AND 30", "users", "id"},
	{"UPDATE users SET id = 77, n = 'x' WHERE id = 1", "users", "id"}, // 1366
	{"UPDATE users SET id = 77, n = n + '1x' WHERE name = 'n1'", "users", "id"},
	{"UPDATE users SET id = id + 1000 ORDER BY id LIMIT 7", "users", "id"},
	{"UPDATE users SET id = id + 1001 WHERE n = 2 ORDER BY name DESC, id LIMIT 3", "users", "id"},
	{"UPDATE users SET id = 300 WHERE id = 1 LIMIT 1", "users", "id"},
	{"UPDATE users SET id = 300 ORDER BY id LIMIT 0", "users", "id"},
	{"UPDATE users SET id = 300 WHERE id > 1000 ORDER BY id LIMIT 2", "users", "id"},
	{"UPDATE users SET id = 300 ORDER BY id DESC LIMIT 1", "users", "id"},
	{"UPDATE orders SET user_id = 5, amount = 3 WHERE id = 17", "orders", "user_id"}, // as Django's save()
	{"UPDATE orders SET user_id = 6, note = 'é' WHERE id = 17", "orders", "user_id"}, // which it is already
	{"UPDATE orders SET user_id = user_id + 1", "orders", "user_id"},
	{"UPDATE orders SET user_id = 11 - user_id, amount = amount + user_id WHERE amount > 2", "orders", "user_id"},
	{"UPDATE orders SET user_id = amount WHERE user_id IN (1, 2, 3)", "orders", "user_id"},
	{"UPDATE orders SET user_id = 3 WHERE amount < 4", "orders", "user_id"},
	{"UPDATE orders SET user_id = user_id + 3 WHERE amount > 1 ORDER BY id DESC LIMIT 12", "orders", "user_id"},
	{"UPDATE order_items SET user_id = v + 1 WHERE v > 0", "order_items", "user_id"}, // rows that are the same
	{"UPDATE order_items SET user_id = 2", "order_items", "user_id"},
	{"UPDATE payments SET merchant_id = merchant_id + 1 WHERE w LIKE 'a%'", "payments", "merchant_id"},
	{"UPDATE payments SET merchant_id = 8 ORDER BY at, w, v LIMIT 9", "payments", "merchant_id"},
}

// An UPDATE of the sharding key is what one server makes of it, and each row is looked for where it is: by text and prepared.
func TestRowsMove(t *testing.T) {
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		ways := map[string]int{}
		for _, m := range moves {
			ways[must(t, s.subject, "EXPLAIN "+m.sql).Rows[0][1].(string)]++
			for _, prepared := range []bool{false, true} {
				s.fillRows(t)
				if !prepared {
					s.both(t, m.sql, "")
				} else {
					st, err := s.subject.Prepare(m.sql)
					if err != nil {
						t.Fatalf("%s: %v", m.sql, err)
					}
					want, err := s.oracle.Query(m.sql)
					if err != nil {
						t.Fatal(err)
					}
					got, err := st.Execute()
					if err != nil || fmt.Sprint(got.Err) != fmt.Sprint(want.Err) || want.Err == nil && (got.OK.AffectedRows != want.OK.AffectedRows || string(got.OK.Info) != string(want.OK.Info)) {
						t.Errorf("prepared %s: %+v %v, want %+v", m.sql, got, err, want)
					}
				}
				s.sameTables(t, m.sql, m.table)
				s.inPlace(t, m.sql, m.table, m.key)
			}
		}
		if len(ways) != 2 || ways["forward"] < 3 || ways["move"] < 25 {
			t.Errorf("the plans are %v", ways)
		}
		s.nothingPrepared(t)
	})
}

// Values of parameters, in a statement that is executed again and again.
func TestRowsMoveByParameters(t *testing.T) {
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, c := range []struct {
			sql  string
			args [][]any
		}{
			{"UPDATE orders SET user_id = ?, note = ? WHERE id = ?", [][]any{{int64(5), "a", int64(17)}, {int64(6), "b", int64(17)}, {int64(6), "b", int64(17)}, {"8", "é", int64(18)}}},
			{"UPDATE users SET id = ? WHERE id = ?", [][]any{{int64(5), int64(5)}, {int64(105), int64(5)}, {int64(9), int64(105)}}},
			{"UPDATE users SET id = id + ?, name = ? WHERE n = ?", [][]any{{int64(100), "more", int64(2)}, {int64(0), "same", int64(2)}}},
			{"UPDATE users SET id = id + ? WHERE n < ? ORDER BY id DESC LIMIT ?", [][]any{{int64(1000), int64(4), int64(5)}, {int64(1000), int64(4), int64(2)}}},
		} {
			var sts [2]*mysqltest.RawStmt
			for k, on := range []*mysqltest.RawClient{s.oracle, s.subject} {
				st, err := on.Prepare(c.sql)
				if err != nil {
					t.Fatal(err)
				}
				sts[k] = st
			}
			for _, args := range c.args {
				want, err := sts[0].Execute(args...)
				if err != nil {
					t.Fatal(err)
				}
				got, err := sts[1].Execute(args...)
				if err != nil || fmt.Sprint(got.Err) != fmt.Sprint(want.Err) || want.Err == nil && (got.OK.AffectedRows != want.OK.AffectedRows || string(got.OK.Info) != string(want.OK.Info)) {
					t.Errorf("%s %v: %+v %v, want %+v", c.sql, args, got, err, want)
				}
				s.sameTables(t, c.sql, "users", "orders")
			}
		}
		s.inPlace(t, "all", "users", "id")
		s.inPlace(t, "all", "orders", "user_id")
	})
}

// In a transaction: what follows sees the rows where they are, ROLLBACK and savepoints take them back, and a statement that fails changes nothing.
func TestRowsMoveInTransactions(t *testing.T) {
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		for _, begin := range []string{"BEGIN", "SET autocommit = 0"} {
			for _, end := range []string{"COMMIT", "ROLLBACK"} {
				for _, level := range []string{"READ COMMITTED", "REPEATABLE READ"} {
					s.fillRows(t)
					for _, sql := range []string{
						"SET SESSION TRANSACTION ISOLATION LEVEL " + level, begin, "SELECT COUNT(*) FROM users", "UPDATE users SET id = id + 101 WHERE n = 1", "SELECT ROW_COUNT()",
						"SELECT id, name FROM users WHERE id > 100 ORDER BY id", "SAVEPOINT a", "UPDATE orders SET user_id = user_id + 5", "UPDATE orders SET user_id = 7 WHERE user_id = 8",
						"SELECT id, user_id FROM orders ORDER BY id, user_id", "ROLLBACK TO a", "UPDATE users SET id = 2 WHERE id = 3", "UPDATE users SET id = 503 WHERE id = 3", "SELECT LAST_INSERT_ID()",
						"UPDATE users SET name = 'moved', id = id + 1 WHERE id = 503", "SELECT id, name FROM users WHERE id > 500", "DELETE FROM users WHERE id = 504 LIMIT 1", end, "SET autocommit = 1",
						"SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
					} {
						s.both(t, sql, "")
					}
					s.sameTables(t, begin+" "+end, "users", "orders")
					s.inPlace(t, begin+" "+end, "users", "id")
					s.inPlace(t, begin+" "+end, "orders", "user_id")
				}
			}
		}
		s.nothingPrepared(t)
	})
}

// typesSchema has a column of each type, generated and invisible ones too, in tables of one shard and of several.
func typesSchema(mariaDB bool) string {
	columns := "id INT PRIMARY KEY, i1 TINYINT, i2 SMALLINT UNSIGNED, i3 MEDIUMINT, i8 BIGINT UNSIGNED, d1 DECIMAL(40,20), d2 DECIMAL(10,0) UNSIGNED, f FLOAT, g DOUBLE, g2 DOUBLE(10,3), f2 FLOAT(9,2), " +
		"bits BIT(17), b1 BIT(1), y YEAR, dt DATE, dtt DATETIME(6), ts TIMESTAMP(3) NULL DEFAULT NULL, ts0 TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, tm TIME(2), " +
		"c CHAR(10), v VARCHAR(20) CHARACTER SET latin1, w VARCHAR(20) CHARACTER SET ucs2, x VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, u3 VARCHAR(9) CHARACTER SET utf8mb3, sj VARCHAR(9) CHARACTER SET sjis, " +
		"bin BINARY(5), vb VARBINARY(300), tx TEXT, lb LONGBLOB, e ENUM('x','é','z''y'), st SET('a','b','d') CHARACTER SET latin1, j JSON, geo GEOMETRY, pt POINT, " +
		"gen INT AS (id + 1) STORED, virt VARCHAR(20) AS (CONCAT('v', i1)) VIRTUAL, hid INT INVISIBLE, n INT NOT NULL DEFAULT 5, `we``ird` INT"
	if mariaDB {
		columns += ", ip INET6, uu UUID"
	}
	return "CREATE TABLE users (" + columns + ")"
}

// Every value is the same behind a move, of whatever type, sql_mode and time zone, from shard to shard of one node and of two.
func TestRowsMoveWhole(t *testing.T) {
	for _, kind := range bothKinds {
		for _, locations := range [][]int{{1, 1}, {2, 2}} {
			t.Run(fmt.Sprint(kind, locations), func(t *testing.T) {
				mariaDB := kind == mysqltest.MariaDB
				servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
				s := startShards(t, servers, locations, typesSchema(mariaDB), atomicConfig)
				s.everywhere(t, "SET time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'")
				list := "id, i1, i2, i3, i8, d1, d2, f, g, g2, f2, bits, b1, y, dt, dtt, ts, ts0, tm, c, v, w, x, u3, sj, bin, vb, tx, lb, e, st, j, geo, pt, hid, n, `we``ird`"
				rows := []string{
					"(%d, -128, 7, -8388608, 18446744073709551615, 12345678901234567890.12345678901234567891, 9999999999, 1e0/3, 1e0/3, 1234567.891, 123456.78, b'10000000011111111', b'1', 1901, '1000-01-01', '2024-02-29 23:59:59.999999', '2024-10-27 00:30:00.123', '2024-10-27 01:30:00', '-838:59:59.00', " +
						"'ab ', 'é€ÿ', 'ab😀', 'Ab ', 'łé', 'ｱ表', x'0001', x'00275c0a0dff22', 'line\\n\\'q\\' \\\\ \"', x'00ff', 'é', 'a,d', '{\"a\": [1, 1.5, \"é\\\\u0001\", null, true], \"b\": 18446744073709551615}', ST_GeomFromText('LINESTRING(1 2, 3 4.5)', 0), ST_GeomFromText('POINT(1 2)', 0), 42, 0, 1)",
					"(%d, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2038-01-19 03:14:07', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL)",
					"(%d, 0, 0, 0, 0, 0, 0, -3.4028235e38, 1.7976931348623157e308, 0, 0, 0, 0, 0, '0000-00-00', '0000-00-00 00:00:00', NULL, '1970-01-01 00:00:01', '00:00:00', '', '', '', '', '', '', '', '', '', '', 'x', '', '[]', NULL, NULL, 0, 2, 0)",
					"(%d, 127, 65535, 1, 1, -0.00000000000000000001, 1, 1.17549435e-38, 2.2250738585072014e-308, -1.5, 12345.67, 1, 1, 2155, '2024-02-31', '9999-12-31 23:59:59', '2024-03-31 01:30:00', '2024-10-27 00:30:00', '838:59:59', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', REPEAT('long ', 90), REPEAT(x'00f1', 200), 'z''y', 'b', '\"s\"', NULL, NULL, NULL, 3, NULL)",
				}
				id := 1
				for range 3 {
					for _, row := range rows {
						s.everywhere(t, "INSERT INTO users ("+list+") VALUES "+fmt.Sprintf(row, id))
						id++
					}
				}
				if mariaDB {
					s.everywhere(t, "UPDATE users SET ts0 = ts0, ip = '2001:db8::ff00:42:8329', uu = '123e4567-e89b-12d3-a456-426655440000' WHERE id < 6")
				}
				check := func(after string) {
					t.Helper()
					sums := "SELECT id, f + 0e0, g + 0e0, HEX(v), HEX(w), HEX(x), HEX(sj), HEX(c), bits + 0, HEX(geo), HEX(pt), HEX(lb), HEX(tx), UNIX_TIMESTAMP(ts), UNIX_TIMESTAMP(ts0), hid, e + 0, st + 0, HEX(bin), j, gen, virt FROM users ORDER BY id"
					if w, g := shownAnswer(must(t, s.oracle, sums), sums, false), shownAnswer(must(t, s.subject, sums), sums, false); w != g {
						t.Errorf("%s\n got %s\nwant %s", after, g, w)
					}
					s.sameTables(t, after, "users")
					s.inPlace(t, after, "users", "id")
				}
				check("filled")
				for k, set := range []string{
					"time_zone = '+00:00'", "time_zone = '+05:30', sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'", "sql_mode = 'ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH'", "sql_safe_updates = 1",
					"NAMES latin1", "character_set_results = binary", "sql_select_limit = 1", "sql_mode = 'NO_BACKSLASH_ESCAPES,TRADITIONAL'",
				} {
					s.everywhere(t, "SET "+set)
					s.both(t, fmt.Sprintf("UPDATE users SET ts0 = ts0, id = id + %d WHERE id > 0", 101+k%2*100+k), "")
					s.everywhere(t, "SET NAMES utf8mb4, time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES', sql_safe_updates = 0, sql_select_limit = DEFAULT")
					check(set)
				}
			})
		}
	}
}

// What would see that a row is deleted and inserted keeps it from moving, and only then.
func TestRowsThatCannotMove(t *testing.T) {
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		eachPart := func(table, sql string) {
			t.Helper()
			for _, n := range s.nodes {
				for _, row := range must(t, n, "SHOW TABLES LIKE '"+table+"\\_0%'").Rows {
					number := strings.TrimPrefix(row[0].(string), table)
					must(t, n, strings.ReplaceAll(sql, "%", number))
				}
			}
		}
		refused := func(sql, why string) {
			t.Helper()
			r, err := s.subject.Query(sql)
			if err != nil || r.Err == nil || r.Err.Code != 9012 || !strings.Contains(r.Err.Message, why) {
				t.Errorf("%s: %+v %v, want %s", sql, r.Err, err, why)
			}
		}
		eachPart("orders", "CREATE TRIGGER tr% AFTER DELETE ON orders% FOR EACH ROW SET @x = 1")
		refused("UPDATE orders SET user_id = user_id + 1", "the trigger tr")
		s.both(t, "UPDATE orders SET user_id = 6, note = 'kept' WHERE id = 17", "", "orders")
		eachPart("orders", "DROP TRIGGER tr%")
		s.everywhere(t, "DELETE FROM orders WHERE user_id = 0")
		eachPart("orders", "ALTER TABLE orders% ADD CONSTRAINT fk% FOREIGN KEY (user_id) REFERENCES users% (id)")
		refused("UPDATE orders SET user_id = 2 WHERE user_id = 1", "a foreign key to users")
		refused("UPDATE users SET id = 1002 WHERE id = 39", "a foreign key of orders refers to it")
		s.both(t, "UPDATE orders SET user_id = 6, note = 'again' WHERE id = 17", "", "orders")
		s.both(t, "UPDATE users SET id = 6, name = 'again' WHERE name = 'n6' AND id = 6", "", "users")
		eachPart("orders", "ALTER TABLE orders% DROP FOREIGN KEY fk%")
		s.both(t, "UPDATE orders SET user_id = user_id + 1", "", "orders")
		s.inPlace(t, "without", "orders", "user_id")
		// One that refers to a table which is on all nodes.
		eachPart("orders", "ALTER TABLE orders% ADD code CHAR(2), ADD CONSTRAINT fc% FOREIGN KEY (code) REFERENCES countries (code)")
		must(t, s.oracle, "ALTER TABLE orders ADD code CHAR(2), ADD CONSTRAINT fc FOREIGN KEY (code) REFERENCES countries (code)")
		s.both(t, "UPDATE orders SET code = 'DE', user_id = user_id + 1", "", "orders")
		s.inPlace(t, "countries", "orders", "user_id")
		for _, sql := range []string{
			"UPDATE IGNORE users SET id = 1002 WHERE id = 5", "UPDATE users SET id = @a WHERE id = 5", "UPDATE users SET id = NULL WHERE id = 5", "UPDATE users SET id = 'x' WHERE id = 5",
			"UPDATE users SET id = 99999999999 WHERE id = 5", "UPDATE users SET n = 4, id = n + 4 WHERE id = 5", "UPDATE users SET id = 3 + RAND()", "UPDATE users u JOIN orders o ON u.id = o.user_id SET u.id = 5",
			"UPDATE users SET id = 44 WHERE id = (@a := 5)",
		} {
			fails(t, s.subject, sql, 9012)
		}
		s.sameTables(t, "what is refused", "users", "orders")
	})
}

// With a transaction that changes one node a row does not leave it, and the transaction goes on.
func TestRowsMoveOnOneNode(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		must(t, s.subject, "SET ks_transaction_mode = 'single'")
		r, err := s.subject.Query("UPDATE users SET id = id + 1 WHERE n = 1 ORDER BY id DESC LIMIT 1000")
		if err != nil || r.Err == nil || r.Err.Code != 9004 || !strings.Contains(r.Err.Message, "could be lost on the way") {
			t.Errorf("%+v, %v", r, err)
		}
		s.both(t, "UPDATE orders SET user_id = 6, note = 'kept' WHERE id = 17", "", "orders") // where it is
		s.both(t, "UPDATE users SET id = id + 100 WHERE n > 1", "", "users")                  // to the same shards
		from, to := "UPDATE users SET id = 1001 WHERE n = 1 AND id = 16", "UPDATE users SET id = 1000 WHERE id = 36"
		two := len(must(t, s.nodes[0], "SHOW TABLES LIKE 'users\\_0%'").Rows) == 2
		must(t, s.subject, "BEGIN")
		if two { // from the first to the second shard of one node
			if r := must(t, s.subject, from); r.OK.AffectedRows != 1 || !r.Status.Has(mysql.ServerStatusInTrans) {
				t.Errorf("%+v", r)
			}
			must(t, s.oracle, from)
			fails(t, s.subject, "UPDATE users SET id = 1003 WHERE id = 16 OR id = 36", 9004)
		} else {
			fails(t, s.subject, from, 9004)
		}
		must(t, s.subject, to)
		must(t, s.oracle, to)
		must(t, s.subject, "COMMIT")
		s.sameTables(t, "single", "users")
		s.inPlace(t, "single", "users", "id")
	})
}

// keyRules are of tables with keys of other types than whole numbers.
const keyRules = `
      - {db: shop, table: names, key: name, nodes: [n0, n1], type: slots, locations: [%[1]d, %[1]d], strings: utf8mb4_general_ci_v1}
      - {db: shop, table: chars, key: code, nodes: [n0, n1], type: crc32, locations: [%[1]d, %[1]d], strings: latin1_swedish_ci_v1}
      - {db: shop, table: bins, key: b, nodes: [n0, n1], type: slots, locations: [%[1]d, %[1]d]}
      - {db: shop, table: decs, key: d, nodes: [n0, n1], type: slots, locations: [%[1]d, %[1]d]}
      - {db: shop, table: pairs, key: [a, b], nodes: [n0, n1], type: slots, locations: [%[1]d, %[1]d], strings: utf8mb4_bin_v1}
      - {db: shop, table: exacts, key: name, nodes: [n0, n1], type: slots, locations: [%[1]d, %[1]d]}
`

const keySchema = `
CREATE TABLE users (id INT PRIMARY KEY)
CREATE TABLE names (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, n INT)
CREATE TABLE chars (code CHAR(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci PRIMARY KEY, n INT)
CREATE TABLE bins (b BINARY(4) PRIMARY KEY, n INT)
CREATE TABLE decs (d DECIMAL(12,2) PRIMARY KEY, n INT)
CREATE TABLE pairs (a BIGINT UNSIGNED, b VARCHAR(10) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin, n INT, PRIMARY KEY (n))
CREATE TABLE exacts (name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY, n INT)`

// Keys of other types than whole numbers, as their columns keep them.
func TestRowsMoveByKeysOfAllTypes(t *testing.T) {
	for _, kind := range bothKinds {
		for _, locations := range []int{1, 2} {
			t.Run(fmt.Sprint(kind, locations), func(t *testing.T) {
				servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
				s := startShards(t, servers, []int{locations, locations}, keySchema, fmt.Sprintf(keyRules, locations), atomicConfig)
				for k := range 24 {
					s.everywhere(t, fmt.Sprintf("INSERT INTO names (name, n) VALUES ('%c%d', %d)", "aÀzß"[k%2*2], k, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO chars (code, n) VALUES ('é%d', %d)", k, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO bins (b, n) VALUES (x'%02x00', %d)", k, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO decs (d, n) VALUES (%d.25, %d)", k, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO pairs (a, b, n) VALUES (%d, 'B%d', %d)", k%7, k, k))
					s.everywhere(t, fmt.Sprintf("INSERT INTO exacts (name, n) VALUES ('e%d', %d)", k, k))
				}
				keys := map[string][][2]string{ // with what writes a value of them
					"names": {{"name", "QUOTE(name)"}}, "chars": {{"code", "QUOTE(code)"}}, "bins": {{"b", "CONCAT('x\\'', HEX(b), '\\'')"}}, "decs": {{"d", "d"}}, "pairs": {{"a", "a"}, {"b", "QUOTE(b)"}},
				}
				for _, c := range []struct{ table, sql string }{
					{"names", "UPDATE names SET name = UPPER(name)"},
					{"names", "UPDATE names SET name = CONCAT(name, 'ß 日本')"},
					{"names", "UPDATE names SET name = CONCAT('x', n) WHERE n < 10"},
					{"names", "UPDATE names SET name = n + 1000 WHERE n < 5"},
					{"names", "UPDATE names SET name = 'É' WHERE n = 7"},
					{"names", "UPDATE names SET name = 'e' WHERE n = 8"}, // 1062 by the collation
					{"names", "UPDATE names SET name = 'space ' WHERE n = 9"},
					{"names", "UPDATE names SET name = '' WHERE n = 10"},
					{"chars", "UPDATE chars SET code = CONCAT('ü', code, ' ')"},
					{"chars", "UPDATE chars SET code = CONCAT('~', n)"},
					{"chars", "UPDATE chars SET code = 'ÿ€ ' WHERE n = 3"},
					{"bins", "UPDATE bins SET b = CONCAT(x'27', LEFT(b, 1))"},
					{"bins", "UPDATE bins SET b = x'' WHERE n = 4"},
					{"bins", "UPDATE bins SET b = 'a\\'' WHERE n = 5"},
					{"decs", "UPDATE decs SET d = d * 10"},
					{"decs", "UPDATE decs SET d = d + 0.004"}, // rounded: they stay
					{"decs", "UPDATE decs SET d = '7.005' WHERE n = 3"},
					{"decs", "UPDATE decs SET d = -n - 1"},
					{"pairs", "UPDATE pairs SET a = a + 1"},
					{"pairs", "UPDATE pairs SET b = LOWER(b) WHERE n > 4"},
					{"pairs", "UPDATE pairs SET a = 18446744073709551615, b = 'é' WHERE n BETWEEN 3 AND 9"},
					{"pairs", "UPDATE pairs SET b = CONCAT(b, a), a = n ORDER BY n DESC LIMIT 9"},
				} {
					s.both(t, c.sql, "", c.table)
					var names, values []string
					for _, key := range keys[c.table] {
						names, values = append(names, key[0]), append(values, key[1])
					}
					for _, row := range must(t, s.oracle, "SELECT "+strings.Join(values, ", ")+" FROM "+c.table).Rows {
						by := ""
						for k, name := range names {
							by += fmt.Sprintf(" AND %s = %s", name, row[k])
						}
						s.both(t, "SELECT n FROM "+c.table+" WHERE 1 = 1"+by, "") // which is sent to one shard
					}
				}
				fails(t, s.subject, "UPDATE exacts SET name = CONCAT(name, 'x')", 9012) // A and a are apart there
				s.both(t, "UPDATE exacts SET name = 'e5', n = 100 WHERE name = 'e5'", "", "exacts")
			})
		}
	}
}

// Beside others that insert rows and move them, under each isolation level: every row is there once, where it is looked for.
func TestRowsMoveAtOnce(t *testing.T) {
	onAtomicShardsOf(t, true, rowsSchema, func(t *testing.T, s *shards) {
		for _, level := range []string{"READ COMMITTED", "REPEATABLE READ"} {
			must(t, s.subject, "DELETE FROM orders")
			const workers, rounds = 4, 25
			var all sync.WaitGroup
			var inserted, gaveWay atomic.Int64
			for w := range workers {
				c := s.clients(t)[1]
				must(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL "+level)
				all.Go(func() {
					for k := range rounds {
						sql := fmt.Sprintf("UPDATE orders SET user_id = user_id + %d WHERE amount = %d", 1+k%3, k%3)
						if (w+k)%2 == 0 {
							sql = fmt.Sprintf("INSERT INTO orders (user_id, id, amount) VALUES (%d, %d, %d), (%d, %d, %d)", k, 1000*w+2*k, k%3, k+1, 1000*w+2*k+1, k%2)
						}
						r, err := c.Query(sql)
						switch {
						case err != nil:
							t.Error(err)
							return
						case r.Err != nil && (r.Err.Code == mysql.ERLockDeadlock || r.Err.Code == 1205):
							gaveWay.Add(1)
						case r.Err != nil:
							t.Errorf("%s: %v", sql, r.Err)
						case strings.HasPrefix(sql, "INSERT"):
							inserted.Add(2)
						}
					}
				})
			}
			all.Wait()
			if n := mustInt(t, s.subject, "SELECT COUNT(DISTINCT id) FROM orders"); int64(n) != inserted.Load() || n != mustInt(t, s.subject, "SELECT COUNT(*) FROM orders") {
				t.Errorf("%d rows, %d were inserted", n, inserted.Load())
			}
			s.inPlace(t, level, "orders", "user_id")
			t.Logf("%s: %d rows, %d gave way", level, inserted.Load(), gaveWay.Load())
		}
		s.nothingPrepared(t)
	})
}
