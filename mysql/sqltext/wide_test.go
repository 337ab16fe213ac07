package sqltext

import "testing"

func TestMayEqual(t *testing.T) {
	for _, c := range []struct {
		name string
		want bool
	}{
		{"sql_mode", true}, {"SQL_mode", true}, {"sql_modes", false}, {"sql_mod", false}, {"", false},
		{"sql_módé", true}, {"ſql_mode", true}, {"sql_mođ\u0117", true}, {"sql_\xf3", false}, {"sql_m\xf3d\xe9", true}, {"módé", false}, {"sql_mode\u0301", false},
		{"sql_möde_x", false}, {"día", false}, {"sql_mode ", true}, {"sql_modé  ", true}, {" sql_mode", false}, {"sql_mode\x01", true},
	} {
		if got := MayEqual(c.name, "sql_mode"); got != c.want {
			t.Errorf("%q: %v", c.name, got)
		}
	}
}

// Names of variables with letters beyond ASCII are a doubt: a server may take them for those of other variables.
func TestWideVariables(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT @@sql_mode": false, "SELECT @@sql_módé": true, "SELECT @@session.`autocommít`": true, "SET @@ſql_log_bin = 0": true, "SELECT 'é', @@identity": false,
		"SELECT @@`autocommit `": true, "SELECT @@session . `autocommit\t`": true, "SELECT @@session . `autocommit`": false,
	} {
		if got := Classify(sql, Mode{ServerVersion: 90700}).Has(Doubt); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
