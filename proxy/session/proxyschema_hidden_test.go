package session_test

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/decisions"
)

// listing are statements that list schemas, or what is in all of them; asked tells a server for as many rows as are to be there, "" where it cannot be told.
var listing = []struct{ sql, asked string }{
	{"SHOW DATABASES", "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'ks_meta'"}, {"SHOW SCHEMAS LIKE '%'", "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'ks_meta'"},
	{"/* a */ show databases where `Database` like 'ks%' or `Database` = 'shop'", "SELECT 1"}, {"SHOW DATABASES LIKE 'ks\\_meta'", "SELECT 0"},
	{"SHOW PROCEDURE STATUS", "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_SCHEMA <> 'ks_meta'"}, {"SHOW PROCEDURE STATUS WHERE Db LIKE 'ks%'", "SELECT 0"},
	{"SELECT * FROM information_schema.schemata", "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> 'ks_meta'"},
	{"SELECT s.SCHEMA_NAME FROM `INFORMATION_SCHEMA`.`SCHEMATA` AS s WHERE s.SCHEMA_NAME IN ('ks_meta', 'shop')", "SELECT 1"},
	{"SELECT a.SCHEMA_NAME FROM information_schema.schemata a JOIN information_schema.schemata b ON a.SCHEMA_NAME = b.SCHEMA_NAME WHERE b.SCHEMA_NAME LIKE 'ks%'", "SELECT 0"},
	{"SELECT SCHEMA_NAME FROM information_schema.schemata WHERE 'ks_meta' LIKE CONCAT(SCHEMA_NAME, '%') UNION SELECT SPECIFIC_SCHEMA FROM information_schema.parameters WHERE PARAMETER_NAME = 'in_gtrid'", "SELECT 0"},
	{"WITH s AS (SELECT * FROM information_schema.Routines) SELECT ROUTINE_SCHEMA FROM s WHERE ROUTINE_NAME LIKE 'ks%'", "SELECT 0"},
	{"SELECT SPECIFIC_SCHEMA, PARAMETER_NAME FROM information_schema.PARAMETERS WHERE PARAMETER_NAME LIKE 'in\\_%'", ""},
	{"SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.tables WHERE TABLE_NAME IN ('dtx', 'secret', 'sequence')", "SELECT 0"}, {"SELECT TABLE_SCHEMA FROM information_schema.columns WHERE COLUMN_NAME = 'gtrid'", "SELECT 0"},
	{"SELECT COUNT(*) FROM information_schema.schemata WHERE SCHEMA_NAME = 'ks_meta' HAVING COUNT(*) > 0", "SELECT 0"},
}

// What lists schemas does not list the proxies' own, in texts and prepared, and lists all others.
func TestProxySchemaIsHidden(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, node := range s.nodes {
			must(t, node, "DROP DATABASE IF EXISTS ks_meta")
			for _, one := range decisions.Statements(decisions.Accounts{User: "root"}) {
				must(t, node, one.SQL)
			}
			must(t, node, "SET NAMES utf8mb4")
			must(t, node, "SET sql_mode = DEFAULT")
		}
		defer func() {
			for _, node := range s.nodes {
				must(t, node, "DROP DATABASE ks_meta")
			}
		}()
		must(t, s.subject, "INSERT INTO users (name) VALUES ('a')")
		look := func(what, sql, want string, r *mysqltest.RawResult) {
			t.Helper()
			if r.Err != nil {
				t.Errorf("%s %s: %v", what, sql, r.Err)
				return
			}
			for _, row := range r.Rows {
				for _, cell := range row {
					if text, ok := cell.(string); ok && strings.EqualFold(text, "ks_meta") {
						t.Errorf("%s %s: %q", what, sql, row)
					}
				}
			}
			if want == "" {
				return
			}
			if n := must(t, s.nodes[0], want).Rows[0][0]; n != strconv.Itoa(len(r.Rows)) {
				t.Errorf("%s %s: %d rows, want %v: %v", what, sql, len(r.Rows), n, r.Rows)
			}
		}
		for _, db := range []string{"shop", "information_schema"} {
			must(t, s.subject, "USE "+db)
			for _, one := range listing {
				r, err := s.subject.Query(one.sql)
				if err != nil {
					t.Fatal(err)
				}
				look(db, one.sql, one.asked, r)
				st, err := s.subject.Prepare(one.sql)
				if err != nil {
					t.Errorf("prepare %s: %v", one.sql, err)
					continue
				}
				packets, err := s.subject.Command(mysql.ComStmtExecute, string(append(binary.LittleEndian.AppendUint32(nil, st.StatementID), 0, 1, 0, 0, 0)))
				if err != nil {
					t.Fatal(err)
				}
				if r, err = s.subject.Decode(packets, true); err != nil {
					t.Fatalf("%s: %v", one.sql, err)
				}
				look(db+", prepared", one.sql, one.asked, r)
			}
		}
		if r := must(t, s.subject, "SELECT SCHEMA_NAME FROM schemata WHERE SCHEMA_NAME LIKE 'ks%'"); len(r.Rows) > 0 {
			t.Errorf("in information_schema: %v", r.Rows)
		}
		must(t, s.subject, "USE shop")
	})
}
