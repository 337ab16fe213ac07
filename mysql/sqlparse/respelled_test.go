package sqlparse

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

// What servers read is read, whatever the parser calls it, with all columns and tables that are named.
func TestRespelled(t *testing.T) {
	maria := sqltext.Mode{MariaDB: true, ServerVersion: 101100}
	for _, c := range []struct {
		expr    string
		mode    sqltext.Mode
		columns string
	}{
		{"CHARACTER(a, b)", maria, "a b"}, {"character (a using utf8mb4)", mysql8, "a"}, {"CONCAT(CHARACTER(a), CAST(CHARACTER(b) AS NCHAR(3)))", mysql8, "a b"},
		{"a SOUNDS LIKE b", maria, "a b"}, {"sounds LIKE b", maria, "b sounds"}, {"a AND sounds LIKE b", mysql8, "a b sounds"}, {"value + a", maria, "a value"},
		{"CAST(a AS CHAR ASCII)", mysql8, "a"}, {"CAST(a AS CHAR BYTE)", maria, "a"}, {"CAST(a AS NATIONAL CHARACTER(3))", mysql8, "a"}, {"CAST(a AS VARCHAR(3) CHARACTER SET utf8mb4)", maria, "a"},
		{"CONVERT(a, VARCHAR(3))", maria, "a"}, {"CONVERT(IF(a, 1, b), INT)", maria, "a b"}, {"CAST(a AS INTEGER) + CAST(b AS INT)", maria, "a b"}, {"CAST(a AS DOUBLE PRECISION)", mysql8, "a"},
		{"CAST(a AS DOUBLE(5, 2))", maria, "a"}, {"CAST(a AS UUID)", maria, "a"}, {"CAST(a AS INTERVAL DAY_SECOND(3))", maria, "a"}, {"CAST((SELECT users.b AS x FROM users) AS INT)", maria, "b"}, {"CAST(a AS POINT)", mysql8, "a"},
		{"WEIGHT_STRING(a AS CHAR(3) LEVEL 1 DESC)", maria, "a"}, {"WEIGHT_STRING(level LEVEL 1)", maria, "level"}, {"GROUP_CONCAT(a ORDER BY b LIMIT 2)", maria, "a b"},
		{"GROUP_CONCAT(DISTINCT a, CHARACTER(b) SEPARATOR ';' LIMIT 2 OFFSET 1)", maria, "a b"}, {"GROUP_CONCAT(a LIMIT ?)", maria, ""}, {"COLUMN_CREATE('x', a AS CHAR(3), 'y', b AS DECIMAL(3, 1))", maria, "a b"},
		{"COLUMN_GET(a, 'x' AS CHAR(3) CHARSET utf8mb4)", maria, "a"}, {"JSON_VALUE(a, '$.x' RETURNING CHAR(3) NULL ON EMPTY ERROR ON ERROR)", mysql8, "a"}, {"JSON_VALUE(a, b DEFAULT 3 ON EMPTY)", mysql8, "a b"},
		{"CAST(a AS NOSUCH)", maria, ""}, {"CHARACTER(a", maria, ""}, {"GROUP_CONCAT(a LIMIT", maria, ""}, {"CAST(a AS", mysql8, ""},
	} {
		text := "SELECT " + c.expr + " FROM users WHERE users.id > ?"
		st, err := Parse(text, c.mode, watchedNames("users"))
		if (err == nil) != (c.columns != "") {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if err != nil {
			continue
		}
		var columns []string
		for name := range st.columns {
			if name != "id" {
				columns = append(columns, name)
			}
		}
		slices.Sort(columns)
		if got := strings.Join(columns, " "); got != c.columns || st.Text != text || len(st.Params) != 1 {
			t.Errorf("%s: columns %s, text %q, %d parameters", c.expr, got, st.Text, len(st.Params))
		}
		for _, table := range st.Tables {
			if at := table.At; text[at.Pos:at.End] != "users" {
				t.Errorf("%s: the table is at %q", c.expr, text[at.Pos:at.End])
			}
		}
	}
}
