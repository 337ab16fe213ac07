package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// shardedShapes are statements on a sharded table; %X is an expression with an effect, or a function that has one.
var shardedShapes = []string{
	"SELECT id, %X FROM shop.orders", "SELECT id, %X FROM shop.orders WHERE id = 1", "SELECT %X FROM shop.orders ORDER BY id LIMIT 1", "SELECT COUNT(*), %X FROM shop.orders",
	"SELECT a, MAX(%X) FROM shop.orders GROUP BY a HAVING MAX(%X) > 0", "SELECT id FROM shop.orders WHERE %X >= 0", "SELECT DISTINCT %X FROM shop.orders",
	"SELECT x.id FROM shop.orders x JOIN shop.orders y ON x.a = y.a WHERE %X >= 0", "SELECT id, ROW_NUMBER() OVER (ORDER BY %X) FROM shop.orders",
	"SELECT id FROM shop.orders UNION SELECT %X", "SELECT (SELECT MAX(id) FROM shop.orders) + %X", "INSERT INTO shop.orders VALUES (21, %X)",
	"INSERT INTO shop.orders VALUES (22, %X), (23, %X)", "UPDATE shop.orders SET a = %X", "UPDATE shop.orders SET a = %X WHERE id = 1", "UPDATE shop.orders SET a = 1 ORDER BY %X LIMIT 1",
	"DELETE FROM shop.orders WHERE a = 100 + %X", "DELETE FROM shop.orders WHERE a = 100 + %X AND id = 2", "REPLACE INTO shop.orders VALUES (1, %X)",
	"SHOW COLUMNS FROM shop.orders WHERE %X >= 0", "SHOW INDEX FROM shop.orders WHERE %X >= 0", "SHOW TABLES FROM shop WHERE %X >= 0", "SHOW TABLE STATUS FROM shop WHERE %X >= 0",
	"SELECT table_name, %X FROM information_schema.tables WHERE table_schema = 'shop'", "EXPLAIN SELECT %X FROM shop.orders", "INSERT INTO shop.orders SELECT id + 100, %X FROM shop.orders",
	"SELECT a INTO @leak FROM shop.orders WHERE id = 1 + 0 * %X", "BEGIN;SELECT id, %X FROM shop.orders;COMMIT", "BEGIN;SELECT id, %X FROM shop.orders WHERE id = 1;ROLLBACK",
}

// triggerShapes reach the triggers of the sub-tables.
var triggerShapes = []string{
	"INSERT INTO shop.orders VALUES (31, 1)", "INSERT INTO shop.orders VALUES (32, 1), (33, 1)", "REPLACE INTO shop.orders VALUES (1, 2), (2, 2)", "UPDATE shop.orders SET a = a + 1",
	"UPDATE shop.orders SET a = a + 1 WHERE id = 1", "UPDATE shop.orders SET a = a + 1 ORDER BY id LIMIT 1", "INSERT INTO shop.orders VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 5",
	"INSERT INTO shop.orders VALUES (34, 1), (1, 1)", "BEGIN;UPDATE shop.orders SET a = 9 WHERE id = 1;ROLLBACK", "INSERT INTO shop.orders SELECT id + 50, a FROM shop.orders",
}

// Statements on sharded tables leave nothing behind on any node's connections, either.
func TestNothingLeaksOfShardedTables(t *testing.T) {
	effects := map[string]struct{ expression, statement string }{
		"variable": {"(@leak := 7)", "SET @leak = 7"}, "lock": {"GET_LOCK('ks_sharded', 0)", "DO GET_LOCK('ks_sharded', 0)"},
		"session variable": {"", "SET group_concat_max_len = 77"}, "temporary table": {"", "CREATE TEMPORARY TABLE IF NOT EXISTS leaked (a INT)"},
	}
	for _, lane := range []string{"fast_lane: false\n", laneOn + "\n"} {
		onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
			direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			for effect, e := range effects {
				for _, text := range []string{"DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "CREATE TABLE shop.plain (a INT)"} {
					must(t, direct, text)
				}
				for k := range 2 {
					table := fmt.Sprintf("shop.orders_%04d", k)
					must(t, direct, "CREATE TABLE "+table+" (id INT PRIMARY KEY, a BIGINT)")
					for _, event := range []string{"INSERT", "UPDATE"} {
						must(t, direct, "CREATE TRIGGER "+table+strings.ToLower(event)+" BEFORE "+event+" ON "+table+" FOR EACH ROW BEGIN "+e.statement+"; END")
					}
				}
				must(t, direct, "CREATE FUNCTION shop.leaks() RETURNS INT NOT DETERMINISTIC READS SQL DATA BEGIN "+e.statement+"; RETURN 1; END")
				must(t, direct, "INSERT INTO shop.orders_0000 VALUES (2, 1), (4, 1)")
				must(t, direct, "INSERT INTO shop.orders_0001 VALUES (1, 1), (3, 1)")
				p := startProxy(t, strings.ReplaceAll(shopText(server.Addr, server.Addr), "max_conns_limit: 8", "max_conns_limit: 1")+lane)
				look := func() string {
					other := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
					defer other.Close()
					seen := ""
					for _, node := range []string{"/*a*/ ", "/*b*/ "} {
						seen += outcomeOf(t, other, node+"SELECT @leak, @@group_concat_max_len") + outcomeOf(t, other, node+"SELECT * FROM shop.leaked")
					}
					return seen + outcomeOf(t, direct, "SELECT IS_FREE_LOCK('ks_sharded')")
				}
				want := look()
				var texts []string
				for _, shape := range shardedShapes {
					if e.expression != "" {
						texts = append(texts, strings.ReplaceAll(shape, "%X", e.expression))
					}
					texts = append(texts, strings.ReplaceAll(shape, "%X", "shop.leaks()"))
				}
				done := 0
				for k, text := range append(texts, triggerShapes...) {
					for _, binary := range []bool{false, true} {
						c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
						for part := range strings.SplitSeq(text, ";") {
							if !binary {
								if r, err := c.Query(part); err != nil {
									t.Fatalf("%s: %v", part, err)
								} else if r.Err == nil {
									done++
								}
							} else if st, err := c.Prepare(part); err == nil {
								if r, err := st.Execute(); err != nil {
									t.Fatalf("%s: %v", part, err)
								} else if r.Err == nil {
									done++
								}
							}
						}
						c.Close()
						if got := look(); got != want {
							t.Errorf("%s, %d: %s, prepared %v: the next client sees %s, want %s", effect, k, text, binary, got, want)
							p.quiet(0)
							for _, node := range []string{"a", "b"} {
								p.primary(node).HoldDown(true)
								p.primary(node).HoldDown(false)
							}
						}
						must(t, direct, "DELETE FROM shop.orders_0000 WHERE id > 4")
						must(t, direct, "DELETE FROM shop.orders_0001 WHERE id > 4")
					}
				}
				t.Logf("%s: %d statements were carried out", effect, done)
				if done < len(texts)/2 {
					t.Errorf("%s: only %d statements were carried out", effect, done)
				}
			}
		})
	}
}
