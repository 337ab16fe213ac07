package session

import "testing"

func TestLiteralTypes(t *testing.T) {
	for _, c := range []struct{ literal, want string }{
		{"5", "signed"}, {"-5", "signed"}, {"CAST(5 AS SIGNED)", "signed"}, {"CAST(NULL AS SIGNED)", "signed"}, {"true", "signed"},
		{"CAST(5 AS UNSIGNED)", "unsigned"}, {"CAST(NULL AS UNSIGNED)", "unsigned"},
		{"1.5", "decimal"}, {"5.", "decimal"}, {"CAST(NULL AS DECIMAL(65,30))", "decimal"},
		{"1e0", "double"}, {"-1.5E-3", "double"}, {"NULL + 0e0", "double"},
		{"'5'", "utf8mb4_bin"}, {"_latin1 X'41' COLLATE latin1_swedish_ci", "latin1_swedish_ci"}, {"CONVERT(NULL USING latin1) COLLATE latin1_bin", "latin1_bin"},
		{"_binary X'41'", "binary"}, {"X'41'", "binary"}, {"CAST(NULL AS BINARY)", "binary"},
		{"", ""}, {"18446744073709551615", "18446744073709551615"}, {"0x41", "0x41"}, {"_latin1'2024-01-01'", "_latin1'2024-01-01'"},
	} {
		if got := literalType(c.literal, "utf8mb4_bin"); got != c.want {
			t.Errorf("%s is of type %q, not %q", c.literal, got, c.want)
		}
	}
}
