package sqltext

import "testing"

func TestMayGiveID(t *testing.T) {
	for _, c := range []struct {
		sql  string
		id   uint64
		want bool
	}{
		{"INSERT INTO t (v) VALUES (1)", 7, false},
		{"INSERT INTO t (v) VALUES (7)", 7, true},
		{"INSERT INTO t VALUES (NULL, 'it''s', NOW(), UUID(), DEFAULT)", 7, false},
		{"INSERT INTO t VALUES (NULL, '7')", 7, true},
		{"INSERT INTO t VALUES (NULL, ' 7up')", 7, true},
		{"INSERT INTO t VALUES (NULL, '70')", 7, false},
		{"INSERT INTO t VALUES (NULL, '6.6')", 7, true},
		{"INSERT INTO t VALUES (NULL, '7e5b')", 70, true},
		{"INSERT INTO t VALUES (6.6)", 7, true},
		{"INSERT INTO t VALUES (3 + 4)", 7, true},
		{"INSERT INTO t VALUES (-7)", 7, true},
		{"INSERT INTO t VALUES (0x07)", 7, true},
		{"INSERT INTO t VALUES (b'111')", 7, true},
		{"INSERT INTO t VALUES (@x)", 7, true},
		{"INSERT INTO t VALUES (LENGTH('abcdefg'))", 7, true},
		{"INSERT INTO t VALUES (TRUE)", 1, true},
		{"INSERT INTO t VALUES (TRUE)", 7, false},
		{"INSERT INTO t (a, id) VALUES (7, a)", 3, true},
		{"INSERT INTO t (id) SELECT 3 + x FROM u", 7, true},
		{"INSERT INTO t (u) VALUES (1) ON DUPLICATE KEY UPDATE v = 1", 7, true},
		{"INSERT INTO t (u) VALUES (1) RETURNING id", 7, true},
		{"INSERT INTO `t` SET `a` = 1, t.b = 'x', c = _utf8mb4'y'", 7, false},
		{"INSERT INTO t SET a = b", 7, true},
		{"INSERT INTO db.t (a, b) VALUES (?, ?)", 7, false},
		{"REPLACE INTO t VALUES (1, 2), (3, 8)", 7, false},
		{"INSERT INTO t VALUES (18446744073709551616)", 7, true},
		{"INSERT INTO t VALUES ('abc", 7, true},
	} {
		if got := MayGiveID(c.sql, Mode{}, c.id); got != c.want {
			t.Errorf("%s: %v for %d", c.sql, got, c.id)
		}
	}
}

func TestMayInsertSome(t *testing.T) {
	for sql, want := range map[string]bool{
		"INSERT INTO t (a, b) VALUES (1, (2))":       false,
		"INSERT INTO t (a, b) VALUES (1, 2), (3, 4)": true,
		"INSERT INTO t VALUE (1), (2)":               true,
		"INSERT INTO t SET a = (1), b = (2)":         false,
		"REPLACE t SELECT 1":                         true,
		"INSERT INTO t TABLE u":                      true,
		"INSERT INTO t () VALUES ()":                 false,
	} {
		if got := MayInsertSome(sql, Mode{}); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
