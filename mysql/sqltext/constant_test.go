package sqltext

import (
	"slices"
	"testing"
)

func TestConstant(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 1":                                  {},
		"/* ping */ SELECT 1":                       {},
		"select 1 from dual":                        {},
		"SELECT 'a' AS `b`, 1 + 1 AS solution":      {},
		"SELECT VERSION(), DATABASE(), SCHEMA ( )":  {},
		"select @@version_comment limit 1":          {"version_comment"},
		"SELECT @@session.a, @@LOCAL.B, @@`c`":      {"a", "b", "c"},
		"SELECT CAST('x' AS CHAR(60)) AS anon_1":    {},
		"SELECT CONCAT(@@sql_mode, ',x')":           {"sql_mode"},
		"SELECT CONVERT_TZ('x', 'UTC', 'utc') IS 1": {TimeZones},
	} {
		got, ok := Constant(text, Mode{})
		if !ok || !slices.Equal(got, want) && len(want)+len(got) > 0 {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
		if !Tableless(text, Mode{}) {
			t.Errorf("%s has a table", text)
		}
	}
	for _, text := range []string{
		"SELECT 1 FROM t", "SELECT a FROM dual, t", "SELECT (SELECT 1 FROM t)", "SELECT NOW()", "SELECT CURRENT_TIMESTAMP", "SELECT UUID()", "SELECT f()", "SELECT a.f()",
		"SELECT `f`()", "SELECT RAND()", "SELECT SLEEP(1)", "SELECT @x", "SELECT ?", "SELECT 1/3", "SELECT 1 DIV 3", "SELECT NEXT VALUE FOR s", "SELECT UTC_DATE",
		"SELECT CONVERT_TZ('x', 'UTC', 'Europe/Paris')", "SELECT 1 FROM dual UNION SELECT 2 FROM t", "SELECT @@global.a", "SELECT @@session.a, @@GLOBAL.B", "SELECT @@ `global`.a",
		"SELECT (1", "SELECT 'a",
	} {
		if got, ok := Constant(text, Mode{}); ok && text != "SELECT (1" {
			t.Errorf("%s: %q", text, got)
		}
	}
	for text, tableless := range map[string]bool{"SELECT a FROM t": false, "SELECT 'from t'": true, "SELECT `from`": true} {
		if got := Tableless(text, Mode{}); got != tableless {
			t.Errorf("%s: Tableless is %v", text, got)
		}
	}
}

func TestShownVariables(t *testing.T) {
	for text, want := range map[string][]string{
		"SHOW VARIABLES LIKE 'lower_case_table_names'":                                        {"lower_case_table_names"},
		"/* x */SHOW SESSION VARIABLES WHERE Variable_name = 'a' OR `Variable_name` LIKE 'B'": {"a", "b"},
		"show variables where variable_name in ('a', 'b')":                                    {"a", "b"},
		"SHOW GLOBAL VARIABLES LIKE 'a'":                                                      {},
		"SHOW VARIABLES":                                                                      {},
		"SHOW VARIABLES LIKE 'a%'":                                                            {},
		"SHOW VARIABLES WHERE Value = 'a'":                                                    {},
		"SHOW VARIABLES WHERE Variable_name = @x":                                             {},
		"SHOW VARIABLES WHERE Variable_name = (SELECT)":                                       {},
		"SHOW STATUS LIKE 'a'":                                                                {},
	} {
		if got, ok := ShownVariables(text, Mode{}); ok != (len(want) > 0) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
	}
}
