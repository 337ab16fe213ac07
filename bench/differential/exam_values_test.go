package differential

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestValuesThatTypesHaveNotRoom shows the extremes of every type as they are and by functions, where rows go through a UNION of
// sub-tables and through scratch tables: servers give some of these a type that has not all of their values.
func TestValuesThatTypesHaveNotRoom(t *testing.T) {
	columns := []struct{ name, decl, values string }{
		{"ti", "TINYINT", "-128|127"}, {"bi", "BIGINT", "9223372036854775807|-9223372036854775808"}, {"bu", "BIGINT UNSIGNED", "18446744073709551615|3"},
		{"d", "DOUBLE", "-1.7976931348623157e308|-2.2250738585072014e-308"}, {"d1", "DOUBLE", "1e15|100000000000000000"}, {"r", "FLOAT", "3.4e38|-1.17549e-38"},
		{"d2", "DOUBLE(255,30)", "1e200|1"}, {"c", "DECIMAL(65,30)", "99999999999999999999999999999999999.999999999999999999999999999999|-1"},
		{"c2", "DECIMAL(10,2)", "99999999.99|-99999999.99"}, {"s", "VARCHAR(20) CHARACTER SET utf8mb4", "'😀'|'1e400'"}, {"l", "VARCHAR(20) CHARACTER SET latin1", "'ß'|REPEAT('x',20)"},
		{"b", "VARBINARY(20)", "X'FF00'|''"}, {"dt", "DATETIME(6)", "'9999-12-31 23:59:59.999999'|'1000-01-01'"}, {"tm", "TIME(3)", "'-838:59:59'|'838:59:59'"},
		{"da", "DATE", "'9999-12-31'|'1000-01-01'"}, {"y", "YEAR", "2155|1901"}, {"e", "ENUM('a','ŉ')", "'ŉ'|'a'"}, {"j", "JSON", `'{"a": 1.7976931348623157e308}'|'"😀"'`},
	}
	functions := []string{
		"%s", "ABS(%s)", "FLOOR(%s)", "CEILING(%s)", "SIGN(%s)", "CRC32(%s)", "ASCII(%s)", "ORD(%s)", "LENGTH(%s)", "CHAR_LENGTH(%s)", "BIT_COUNT(%s)", "YEAR(%s)",
		"WEEK(%s)", "UNIX_TIMESTAMP(%s)", "UPPER(%s)", "LCASE(%s)", "HEX(%s)", "DATE(%s)", "LAST_DAY(%s)", "ROUND(%s)", "%s + 1", "%s - 1.5", "%s * 3", "%s / 3", "-%s",
		"%s DIV 3", "%s %% 7", "FIELD(%s, 'a')", "LOCATE('x', %s)", "LEFT(%s, 30)", "CONCAT(%s)", "CONCAT(%s, %[1]s)", "DATE_FORMAT(%s, '%%W %%M %%e')", "HOUR(%s)",
		"DATEDIFF(%s, '1000-01-01')", "CONCAT(%s + 0e0)", "TRUNCATE(%s, 2)", "POW(%s, 2)", "SQRT(ABS(%s))", "INSTR(%s, 'x')", "FIND_IN_SET('x', %s)", "QUARTER(%s)",
	}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: []string{"SET sql_mode = 'NO_ENGINE_SUBSTITUTION'"}, differ: "warnings"}
			create, first, second := "CREATE TABLE h (id INT NOT NULL PRIMARY KEY", "1", "2"
			for _, c := range columns {
				var a, b string
				for k := range c.values {
					if c.values[k] == '|' {
						a, b = c.values[:k], c.values[k+1:]
					}
				}
				create += ", " + c.name + " " + c.decl
				first, second = first+", "+a, second+", "+b
			}
			e.setup = append(e.setup, create+")")
			for _, shard := range []string{"0", "1", "2", "3"} {
				e.setup = append(e.setup, "INSERT INTO h (id) VALUES (1"+shard+")")
			}
			names := "(id"
			for _, c := range columns {
				names += ", " + c.name
			}
			e.setup = append(e.setup, "INSERT INTO h "+names+") VALUES ("+first+"), ("+second+")")
			for _, c := range columns {
				for _, f := range functions {
					x := fmt.Sprintf(f, c.name)
					e.asked = append(e.asked, "SELECT id, "+x+" AS x FROM h WHERE id < 10 ORDER BY id", "SELECT "+x+" AS x FROM h WHERE id = 1 GROUP BY x",
						"SELECT "+x+" AS x, COUNT(*) AS n FROM h WHERE id < 3 GROUP BY 1 HAVING n > 0", "SELECT COUNT(DISTINCT "+x+") FROM h WHERE id < 10")
				}
				if c.name != "j" && c.name != "e" {
					e.asked = append(e.asked, fmt.Sprintf("SELECT MIN(%[1]s), MAX(%[1]s), COUNT(%[1]s) FROM h", c.name), fmt.Sprintf("SELECT MAX(%[1]s) FROM h HAVING COUNT(*) > 1", c.name),
						fmt.Sprintf("SELECT MAX(CONCAT(%[1]s)), MIN(UPPER(%[1]s)) FROM h WHERE id = 1", c.name), fmt.Sprintf("SELECT SUM(%[1]s) FROM h WHERE id = 1", c.name),
						fmt.Sprintf("SELECT AVG(%[1]s) FROM h WHERE id = 1", c.name))
				}
			}
			e.examined(t, kind)
		})
	}
}

// autumn is a time zone whose clocks were put back once, at 3 o'clock of 2024-10-27; servers come without the tables of others.
var autumn = []string{
	"DELETE FROM mysql.time_zone WHERE Time_zone_id = 990001", "DELETE FROM mysql.time_zone_name WHERE Time_zone_id = 990001",
	"DELETE FROM mysql.time_zone_transition WHERE Time_zone_id = 990001", "DELETE FROM mysql.time_zone_transition_type WHERE Time_zone_id = 990001",
	"INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (990001, 'N')",
	"INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Test/Autumn', 990001)",
	"INSERT INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (990001, 0, 0), (990001, 1729990800, 1)",
	"INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (990001, 0, 7200, 1, 'S'), (990001, 1, 3600, 0, 'W')",
}

// TestTimestampsOfTheRepeatedHour asks for TIMESTAMPs of the hour before and behind the change of the clocks, which have the same
// local times.
func TestTimestampsOfTheRepeatedHour(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{nodes: autumn, setup: []string{
				"SET time_zone = '+00:00', sql_mode = 'NO_ENGINE_SUBSTITUTION'",
				"CREATE TABLE h (id INT NOT NULL PRIMARY KEY, a INT, ts TIMESTAMP NULL, t3 TIMESTAMP(3) NULL)", "CREATE TABLE k (id INT NOT NULL PRIMARY KEY, a INT, ts TIMESTAMP NULL)",
				"CREATE TABLE loc (id INT NOT NULL PRIMARY KEY, a INT, ts TIMESTAMP NULL)",
				`INSERT INTO h (id, a, ts, t3) VALUES (1, 1, '2024-10-27 00:30:00', '2024-10-27 00:30:00.5'), (2, 1, '2024-10-27 01:30:00', '2024-10-27 01:30:00.5'),
					(3, 2, '2024-10-27 00:50:00', '2024-10-27 00:50:00.123'), (4, 2, '2024-10-27 01:10:00', '2024-10-27 01:10:00.9'), (5, 3, '2024-10-26 23:59:59', NULL),
					(6, 3, '2024-10-27 02:00:00', '2024-10-27 02:00:00'), (7, NULL, NULL, NULL), (8, 1, '2024-10-27 00:30:00', '1970-01-01 00:00:01'), (9, 2, '2038-01-19 03:14:07', '2024-10-27 00:50:00.123')`,
				"INSERT INTO k (id, a, ts) VALUES (1, 1, '2024-10-27 00:30:00'), (2, 2, '2024-10-27 01:30:00'), (3, 3, '2024-10-27 00:50:00')",
				"INSERT INTO loc (id, a, ts) VALUES (1, 1, '2024-10-27 00:30:00'), (2, 2, '2024-10-27 01:30:00'), (3, 3, '2024-10-27 00:50:00')",
			}}
			if kind == mysqltest.MariaDB {
				e.nodes = append(e.nodes, "FLUSH TABLES")
			}
			for _, c := range []string{"ts", "t3"} {
				for _, sql := range []string{
					"SELECT id, %s FROM h ORDER BY %[1]s, id", "SELECT %s, UNIX_TIMESTAMP(%[1]s) FROM h", "SELECT MIN(%s), MAX(%[1]s) FROM h", "SELECT MAX(%s) FROM h WHERE a < 3",
					"SELECT %s, COUNT(*) FROM h GROUP BY %[1]s", "SELECT DISTINCT %s FROM h WHERE id < 5", "SELECT COUNT(DISTINCT %s) FROM h", "SELECT SQL_BIG_RESULT a, MAX(%s) FROM h GROUP BY a ORDER BY a",
					"SELECT a, COUNT(DISTINCT %s) FROM h GROUP BY a HAVING COUNT(*) > 0 ORDER BY a", "SELECT SQL_BIG_RESULT a, MIN(%s) AS m FROM h GROUP BY a HAVING m IS NOT NULL ORDER BY a",
					"SELECT %s, UNIX_TIMESTAMP(%[1]s) AS u, ROW_NUMBER() OVER (ORDER BY UNIX_TIMESTAMP(%[1]s), id) AS n FROM h ORDER BY n",
					"SELECT h.id, k.id FROM h JOIN k ON h.%s = k.ts ORDER BY h.id, k.id", "SELECT id FROM h WHERE %s = '2024-10-27 02:30:00' ORDER BY id",
					"SELECT id FROM h WHERE %s > (SELECT ts FROM k WHERE id = 1) ORDER BY id", "SELECT id, UNIX_TIMESTAMP(%s) FROM h WHERE %[1]s BETWEEN '2024-10-27 02:00:00' AND '2024-10-27 02:59:59' AND a = (SELECT MIN(a) FROM k) ORDER BY id",
					"SELECT HOUR(%s), COUNT(*) AS n FROM h GROUP BY 1 HAVING n > 0", "SELECT a, GROUP_CONCAT(UNIX_TIMESTAMP(%s) ORDER BY id) FROM h GROUP BY a ORDER BY a",
					"SELECT COUNT(*) FROM (SELECT %s FROM h GROUP BY %[1]s HAVING COUNT(*) > 0) x", "SELECT UNIX_TIMESTAMP(%s) AS u, COUNT(*) FROM h GROUP BY u ORDER BY u", "SELECT MAX(UNIX_TIMESTAMP(%s)) FROM h HAVING COUNT(*) > 1",
					"SELECT UNIX_TIMESTAMP(h.%s), UNIX_TIMESTAMP(loc.ts) FROM h JOIN loc USING (id) ORDER BY id", "SELECT h.id FROM h JOIN loc ON h.%s = loc.ts ORDER BY h.id",
					"SELECT DISTINCT UNIX_TIMESTAMP(%s) FROM h", "SELECT DISTINCT %s FROM h", "SELECT DISTINCT a, %s FROM h", "SELECT %s, a, COUNT(*), MAX(id) FROM h GROUP BY a, %[1]s", "SELECT DISTINCT a + 1, UNIX_TIMESTAMP(%s) FROM h WHERE %[1]s IS NOT NULL ORDER BY 2", "SELECT id, UNIX_TIMESTAMP(%s) AS u, RANK() OVER (ORDER BY id) AS r FROM h ORDER BY id",
					"SELECT id, a, UNIX_TIMESTAMP(%s) FROM h WHERE a = (SELECT MAX(a) FROM k) ORDER BY id",
				} {
					e.asked = append(e.asked, fmt.Sprintf(sql, c))
				}
			}
			for _, sql := range e.asked[:len(e.asked):len(e.asked)] {
				e.asked = append(e.asked, "BEGIN", sql, "COMMIT")
			}
			e.asked = append(e.asked, "SELECT @@time_zone", "SELECT CONCAT(ts) FROM loc WHERE id = 1")
			for _, mode := range []string{"NO_ENGINE_SUBSTITUTION", "STRICT_TRANS_TABLES,NO_ZERO_DATE"} {
				e.settings = "SET time_zone = 'Test/Autumn', sql_mode = '" + mode + "'"
				e.examined(t, kind)
			}
		})
	}
}
