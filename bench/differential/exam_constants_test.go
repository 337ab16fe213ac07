package differential

import (
	"fmt"
	"testing"
)

// TestConstantsAreNoGroups groups by, and counts, functions of constants: servers work them out once, and tell of them as they are, not as
// columns of a table of groups.
func TestConstantsAreNoGroups(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			e := exam{differ: "warnings", setup: []string{
				"SET sql_mode = 'NO_ENGINE_SUBSTITUTION'", "CREATE TABLE h (id INT NOT NULL PRIMARY KEY, a INT)",
				"INSERT INTO h (id, a) VALUES (1, 1), (2, 1), (3, 2), (4, NULL), (6, 2)",
			}}
			for _, constant := range []string{
				"DAYOFMONTH(-2)", "YEAR('2024-02-30')", "QUARTER('2024-02-03')", "1 + 1", "CONCAT('a', 'b')", "HEX('x')", "ABS(-3)", "'a' = 1", "DATE('2024-01-02')",
				"MONTHNAME('2024-01-02')", "UPPER('x')", "5 / 3", "HOUR('x')", "LAST_DAY('2024-02-01')", "WEEK(20240201)", "LEFT('abc', 1)",
			} {
				for _, form := range []string{
					"SELECT DISTINCT %s AS e FROM h", "SELECT DISTINCT %s AS e, a FROM h ORDER BY a", "SELECT %s AS e, COUNT(*) FROM h GROUP BY e", "SELECT a, COUNT(DISTINCT %s) FROM h GROUP BY a ORDER BY a",
					"SELECT a, MAX(%s) FROM h GROUP BY a HAVING COUNT(*) > 0 ORDER BY a", "SELECT COUNT(*) FROM h GROUP BY %s", "SELECT MIN(%s) FROM h", "SELECT a FROM h GROUP BY a, %s ORDER BY a",
					"SELECT COUNT(DISTINCT %s), COUNT(*) FROM h WHERE a > 99", "SELECT GROUP_CONCAT(DISTINCT %s), COUNT(a) FROM h WHERE a > 99", "SELECT SUM(DISTINCT %s), COUNT(a) FROM h WHERE a > 99 HAVING COUNT(*) >= 0",
					"SELECT a, GROUP_CONCAT(DISTINCT %s), COUNT(*) FROM h GROUP BY a ORDER BY a",
				} {
					e.asked = append(e.asked, fmt.Sprintf(form, constant))
				}
			}
			e.examined(t, kind)
		})
	}
}
