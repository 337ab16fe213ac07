package sqlparse

import (
	"slices"
	"testing"

	"kingshard/mysql/sqltext"
)

func TestAssignmentSpans(t *testing.T) {
	for _, test := range []struct {
		text      string
		duplicate bool
		want      []string
	}{
		{"UPDATE t SET a = 1, t.b = CONCAT(a, ',x') WHERE a = 2", false, []string{"1", "CONCAT(a, ',x')"}},
		{"UPDATE `set` AS s SET s.`where`=s.order LIMIT 3", false, []string{"s.order"}},
		{"UPDATE t SET a = (SELECT MAX(b) FROM u WHERE c = 1), b = CASE WHEN a = 1 THEN 2 ELSE 3 END ORDER BY a;", false,
			[]string{"(SELECT MAX(b) FROM u WHERE c = 1)", "CASE WHEN a = 1 THEN 2 ELSE 3 END"}},
		{"INSERT INTO t SET a = 'x', b = DEFAULT ON DUPLICATE KEY UPDATE a = VALUES(a), b = b + 1", false, []string{"'x'", "DEFAULT"}},
		{"INSERT INTO t SET a = 'x', b = DEFAULT ON DUPLICATE KEY UPDATE a = VALUES(a), b = b + 1", true, []string{"VALUES(a)", "b + 1"}},
		{"INSERT INTO t (a) VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a", true, []string{"new.a"}},
		{"INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2 RETURNING a", true, []string{"2"}},
		{"INSERT INTO t (a) VALUES (1)", true, nil},
		{"INSERT INTO t (a) VALUES (1)", false, nil},
		{"UPDATE t SET a", false, nil},
	} {
		var got []string
		for _, s := range AssignmentSpans(test.text, sqltext.Mode{}, test.duplicate) {
			got = append(got, test.text[s.Pos:s.End])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q", test.text, got)
		}
	}
}
