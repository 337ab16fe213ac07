package differential

import (
	"fmt"
	"testing"

	"kingshard/mysql/mysqltest"
)

// aggregateTables are a table of texts that are equal and look different, of numbers whose quotients and products are longer than
// what is shown, and of the extremes of their types.
func aggregateTables(kind mysqltest.Kind) []string {
	collation := "utf8mb4_unicode_ci"
	if kind == mysqltest.MySQL9 {
		collation = "utf8mb4_0900_ai_ci"
	}
	return []string{
		`CREATE TABLE h (id INT NOT NULL PRIMARY KEY, a INT, b INT, s VARCHAR(20) COLLATE ` + collation + `, t VARCHAR(20) COLLATE utf8mb4_bin,
			l VARCHAR(20) CHARACTER SET latin1, c DECIMAL(10, 2), w DECIMAL(65, 30), f DECIMAL(38, 20), d DOUBLE, r FLOAT)`,
		`INSERT INTO h (id, a, b, s, t, l, c, w, f, d, r) VALUES
			(1, 1, 3, 'a', 'x', 'e', 1.10, 1, 0.00000000000000000003, 0e0, 0.1), (2, 1, 3, 'A', 'X', 'E', 2.20, 2, 1.00000000000000000007, -0e0, 0.2),
			(3, 2, 3, 'á', 'x', 'é', 3.30, 3, 2.5, 1.25, 0.3), (4, 2, 13, 'a', 'x ', 'e', 4.40, 99999999999999999999999999999999999, 1.1, -0e0, 0.4),
			(5, 3, 14, '1', '1', '1', 5.50, 99999999999999999999999999999999999.999999999999999999999999999999, 1.1, 0e0, 0.5),
			(6, 3, 7, '１', '１', '2', 6.60, -5, 1.3, 2.5, 0.6), (7, NULL, 7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
			(8, 4, 3, 'A', 'x', 'È', 8.80, 7, 1.7, -0e0, 0.1), (9, 1, 9, 'b', 'y', 'b', 9.99, 1, 1.9, 3.5, 0.2),
			(10, 5, 11, 'B', 'Y', 'B', 0.01, 1, 2.1, 4.5, 0.7)`,
	}
}

// TestDistinctOfWhatTellsEqualTextsApart counts and lists distinct values of functions of texts.
func TestDistinctOfWhatTellsEqualTextsApart(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: aggregateTables(kind)}
			for _, column := range []string{"s", "t", "l"} {
				for _, f := range []string{
					"%s", "BINARY %s", "HEX(%s)", "MD5(%s)", "CAST(%s AS BINARY)", "LENGTH(%s)", "CHAR_LENGTH(%s)", "CONVERT(%s USING utf8mb4) COLLATE utf8mb4_bin",
					"UPPER(HEX(%s))", "ORD(%s)", "CRC32(%s)", "CONCAT(%s, 'x') COLLATE utf8mb4_bin", "%s = BINARY 'a'", "%s + 0", "REVERSE(%s)", "SHA1(%s)",
					"TO_BASE64(%s)", "QUOTE(%s)", "ASCII(%s)", "IF(%s = 'a', 1, 2)", "LOWER(%s)", "LEFT(%s, 1)", "CASE %s WHEN BINARY 'a' THEN 1 ELSE 2 END",
				} {
					f = fmt.Sprintf(f, column)
					e.asked = append(e.asked, "SELECT COUNT(DISTINCT "+f+") FROM h", "SELECT COUNT(DISTINCT "+f+", a) AS n, COUNT(*) FROM h",
						"SELECT b, COUNT(DISTINCT "+f+") FROM h GROUP BY b ORDER BY b", "SELECT SUM(DISTINCT LENGTH("+f+")), AVG(DISTINCT LENGTH("+f+")) FROM h",
						"SELECT LENGTH(GROUP_CONCAT(DISTINCT HEX("+f+"))) FROM h", "SELECT COUNT(*) FROM (SELECT DISTINCT HEX("+f+") FROM h) x",
						"SELECT COUNT(*) FROM (SELECT 1 FROM h GROUP BY HEX("+f+")) x", "SELECT MIN(HEX("+f+")), MAX(HEX("+f+")) FROM h",
						"SELECT COUNT(*) n FROM h GROUP BY HEX("+f+") HAVING n > 1 ORDER BY n", "SELECT a, COUNT(DISTINCT "+f+") + 0 n FROM h GROUP BY a HAVING COUNT(DISTINCT "+f+") > 0 ORDER BY n, a")
				}
			}
			e.asked = append(e.asked, "SELECT COUNT(DISTINCT CONCAT(d)) FROM h", "SELECT COUNT(DISTINCT d) FROM h", "SELECT COUNT(DISTINCT HEX(s), HEX(t)) FROM h")
			e.examined(t, kind)
		})
	}
}

// TestSumsOfLongNumbers adds up quotients, products and extremes: a server adds more digits than it shows.
func TestSumsOfLongNumbers(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: aggregateTables(kind)}
			for _, x := range []string{
				"a / b", "a / 3", "c / 7", "ROUND(a / b, 2)", "FLOOR(a / 3)", "a DIV 3", "a / b * 3", "-(a / 3)", "IF(a > 1, a / 3, a)", "COALESCE(a / 3, 0)",
				"CASE WHEN a > 1 THEN c / 3 ELSE 0 END", "ABS(c / 7)", "a * c", "f * f", "f * c * c", "w", "w + 1", "w * 1", "-w", "GREATEST(c / 3, 1)", "MOD(c, 0.7)",
				"c * 0.000000000000000000000000000001", "c * 1.1", "a + 0.5", "c", "TRUNCATE(c / 3, 1)", "CAST(c AS DECIMAL(60, 20))", "CAST(a AS SIGNED)", "1 / 3", "a / 3e0",
				"99999999999999999999999999999999999.99999", "POW(a, 2)", "LENGTH(s)", "a > 1", "c / NULLIF(b, 3)", "r", "NULL", "c * c * c * c * c * c",
			} {
				for _, f := range []string{"SUM(%s)", "AVG(%s)", "SUM(DISTINCT %s)", "SUM(%s) + 0", "ROUND(AVG(%s), 3)", "MAX(%s)", "COUNT(DISTINCT %s)"} {
					call := fmt.Sprintf(f, x)
					e.asked = append(e.asked, "SELECT "+call+" FROM h", "SELECT b, "+call+" FROM h GROUP BY b ORDER BY b", "SELECT "+call+" FROM h HAVING COUNT(*) > 1")
				}
			}
			e.asked = append(e.asked, "SELECT SUM(x) FROM (SELECT id, a / 3 AS x FROM h) y",
				"SELECT AVG(x) FROM (SELECT b, AVG(a) AS x FROM h GROUP BY b) y", "SELECT SUM(a / 3) / COUNT(*) FROM h", "SELECT STD(a / 3) > 0 FROM h")
			e.examined(t, kind)
		})
	}
}

// TestAggregatesByOtherNames asks for aggregates that are called as functions of one row are.
func TestAggregatesByOtherNames(t *testing.T) {
	asked := map[mysqltest.Kind][]string{
		mysqltest.MariaDB: {
			"SELECT total(a) FROM h", "SELECT b, total(a) FROM h GROUP BY b ORDER BY b", "SELECT total(a) + 1 AS x FROM h WHERE a > 1", "SELECT exam.total(a) FROM h",
			"SELECT twice(a) FROM h ORDER BY id", "SELECT exam.twice(a) FROM h", "SELECT b FROM h GROUP BY b HAVING total(a) > 3 ORDER BY b",
			"SELECT x FROM (SELECT total(a) AS x FROM h) y", "SELECT id FROM h ORDER BY twice(id)", "SELECT (SELECT total(a) FROM h)", "SELECT `total`(a) FROM h",
			"SELECT id, total(a) FROM h GROUP BY id ORDER BY id", "SELECT twice(total(a)) FROM h", "SELECT DISTINCT total(b) FROM h", "SELECT MAX(twice(a)) FROM h",
			"SELECT total(a), COUNT(*) FROM h UNION ALL SELECT 1, 2", "?SELECT MEDIAN(a) OVER () FROM h LIMIT 1", "?SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER () FROM h LIMIT 1",
			"?SELECT ROWNUM() AS n FROM h", "SELECT any_value(a) FROM h",
		},
		mysqltest.MySQL9: {
			"SELECT ST_AsText(ST_Collect(POINT(a, b))) IS NOT NULL FROM h", "SELECT ST_NumGeometries(ST_Collect(POINT(a, b))) FROM h", "SELECT b, ST_NumGeometries(ST_Collect(POINT(a, b))) FROM h GROUP BY b ORDER BY b",
			"?SELECT ST_NumGeometries(ST_Collect(DISTINCT POINT(a, b))) FROM h", "SELECT exam.twice(a) FROM h", "SELECT twice(a) FROM h WHERE twice(a) > 2", "SELECT MAX(twice(a)) FROM h",
			"SELECT ANY_VALUE(b) FROM h WHERE b = 3", "SELECT JSON_LENGTH(JSON_ARRAYAGG(a)) FROM h", "SELECT b, JSON_LENGTH(JSON_OBJECTAGG(id, a)) FROM h GROUP BY b ORDER BY b",
		},
	}
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{setup: aggregateTables(kind), asked: asked[kind]}
			e.nodes = []string{"CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC NO SQL RETURN 2 * x"}
			if kind == mysqltest.MariaDB {
				for _, name := range []string{"total", "any_value"} {
					e.nodes = append(e.nodes, "CREATE AGGREGATE FUNCTION "+name+`(x INT) RETURNS INT DETERMINISTIC BEGIN DECLARE s INT DEFAULT 0;
						DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN s; LOOP FETCH GROUP NEXT ROW; SET s = s + COALESCE(x, 0); END LOOP; END`)
				}
			}
			for _, f := range []string{
				"BIT_AND(a)", "BIT_OR(a)", "BIT_XOR(a)", "STD(a)", "STDDEV_SAMP(a)", "VAR_POP(c)", "VARIANCE(a)", "JSON_LENGTH(JSON_ARRAYAGG(s))",
				"JSON_LENGTH(JSON_OBJECTAGG(id, s))", "LENGTH(GROUP_CONCAT(s))", "COUNT(*)", "MIN(HEX(s))", "MAX(d)",
			} {
				e.asked = append(e.asked, "SELECT "+f+" FROM h WHERE id < 5", "SELECT b, "+f+" AS x FROM h WHERE s IS NULL OR s <> 'a' GROUP BY b ORDER BY b")
			}
			e.examined(t, kind)
		})
	}
}
