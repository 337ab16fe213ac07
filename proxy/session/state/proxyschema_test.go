package state

import (
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// The tables that list schemas are read without the proxies' own, where they stand as tables and nothing names them otherwise.
func TestWithoutProxySchema(t *testing.T) {
	const schemata, routines = "(SELECT * FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'ks_meta')", "(SELECT * FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA <> 'ks_meta')"
	for _, c := range []struct{ text, db, want string }{
		{"SELECT * FROM information_schema.schemata", "d", "SELECT * FROM " + schemata + " AS schemata"},
		{"SELECT * FROM `Information_Schema` . `SCHEMATA` WHERE 1", "", "SELECT * FROM " + schemata + " AS `SCHEMATA` WHERE 1"},
		{"SELECT s.a FROM information_schema.schemata AS s, information_schema.routines r", "d", "SELECT s.a FROM " + schemata + " AS s, " + routines + " r"},
		{"SELECT * FROM schemata JOIN d.routines", "information_schema", "SELECT * FROM " + schemata + " AS schemata JOIN d.routines"},
		{"SELECT * FROM schemata, information_schema.tables", "d", "SELECT * FROM schemata, information_schema.tables"},
		{"WITH schemata AS (SELECT 1) SELECT * FROM schemata", "information_schema", "WITH schemata AS (SELECT 1) SELECT * FROM schemata"},
		{"SELECT schemata.a FROM information_schema.schemata", "d", "SELECT schemata.a FROM information_schema.schemata"},
		{"SELECT information_schema.SCHEMATA.a FROM information_schema.schemata", "d", "SELECT information_schema.SCHEMATA.a FROM information_schema.schemata"},
		{"SELECT 'information_schema.schemata'", "d", "SELECT 'information_schema.schemata'"},
		{"SELECT 1", "information_schema", "SELECT 1"},
	} {
		if got := WithoutProxySchema(c.text, sqltext.Mode{}, c.db); got != c.want {
			t.Errorf("%s in %q: %s, want %s", c.text, c.db, got, c.want)
		}
	}
}

// Rows of the proxies' own schema are left out, of texts and of prepared statements.
func TestSchemaRows(t *testing.T) {
	for text, want := range map[string]bool{
		"SHOW DATABASES": true, "show /* a */ schemas like 'a'": true, "SHOW PROCEDURE STATUS WHERE 1": true, "SHOW PROCEDURE CODE p": false, "SHOW TABLES": false, "SHOW": false,
	} {
		if got := ListsSchemas(text, sqltext.Mode{}); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	for _, binary := range []bool{false, true} {
		r := SchemaRows{Binary: binary}
		for range 11 {
			r.Column(&mysql.ColumnDefinition41{})
		}
		head := ""
		if binary {
			head = "\x00\x00\x08"
		}
		for row, want := range map[string]string{head + "\x04shop\x01a": head + "\x04shop\x01a", head + "\x07ks_meta\x01a": "", head + "\x07KS_META": ""} {
			if got, err := r.Row(nil, []byte(row)); err != nil || string(got) != want {
				t.Errorf("%q: %q, %v", row, got, err)
			}
		}
		if _, err := r.Row(nil, []byte(head+"\x09ks")); err == nil {
			t.Error("a row that ends too soon")
		}
	}
}
