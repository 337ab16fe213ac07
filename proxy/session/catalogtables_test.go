package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestInformationTables asks for every table of information_schema that a server has, and for what a few say of tables with checks.
func TestInformationTables(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, nodes := metadataRig(t, kind, nil)
			for _, sql := range []string{
				"CREATE TABLE stray (id INT, CONSTRAINT stray_check CHECK (id > 3))",
				"ALTER TABLE s ADD CONSTRAINT s_check CHECK (id > 0)",
				"ALTER TABLE r ADD CONSTRAINT r_check CHECK (id > 1 - 1)",
				"ALTER TABLE p ADD CONSTRAINT p_check CHECK (id > 2 - 2)",
				"ALTER TABLE v ADD CHECK (id < 1000)",
				"ALTER TABLE u ADD CHECK (price < 1001)",
			} {
				must(t, one, sql)
				if strings.Contains(sql, "stray") {
					must(t, nodes[1], sql) // no rule leads there
					must(t, one, "DROP TABLE stray")
					continue
				}
				must(t, c, sql)
			}
			tables, err := one.Query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'information_schema' ORDER BY 1")
			if err != nil || tables.Err != nil {
				t.Fatal(err, tables)
			}
			asked := 0
			for _, row := range tables.Rows {
				name := row[0].(string)
				columns, err := one.Query("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = '" + name + "'")
				if err != nil || columns.Err != nil {
					t.Fatal(err, columns)
				}
				named := slices.ContainsFunc(columns.Rows, func(row []any) bool { return strings.EqualFold(row[0].(string), "TABLE_NAME") })
				for _, sql := range []string{"SELECT * FROM information_schema." + name + " LIMIT 0", "select * from information_schema." + strings.ToLower(name) + " as x where 1 = 0"} {
					want, err := one.Query(sql)
					if err != nil {
						t.Fatal(sql, err)
					}
					got, err := c.Query(sql)
					if err != nil {
						t.Fatal(sql, err)
					}
					if got.Err != nil && got.Err.Code == 1227 && !named {
						break // of other sessions
					}
					asked++
					if w, g := columnNames(want), columnNames(got); w != g {
						t.Errorf("%s: %s instead of %s", sql, g, w)
					}
				}
			}
			if asked < 60 {
				t.Errorf("%d queries are answered", asked)
			}
			for _, sql := range []string{
				"SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' AND CONSTRAINT_NAME LIKE '%check' ORDER BY 1",
				"SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop' ORDER BY 1",
				"SELECT COUNT(*) FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA <> 'shop' AND CONSTRAINT_SCHEMA LIKE 'shop%'",
				"SELECT tc.TABLE_NAME, cc.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS cc, information_schema.TABLE_CONSTRAINTS tc WHERE tc.TABLE_SCHEMA = 'shop' AND " +
					"cc.CONSTRAINT_SCHEMA = tc.CONSTRAINT_SCHEMA AND cc.CONSTRAINT_NAME = tc.CONSTRAINT_NAME" + checksOfTable(kind) + " ORDER BY 1, 2",
			} {
				r, err := one.Query(sql)
				if err != nil || r.Err != nil || len(r.Rows) == 0 {
					t.Fatal(fmt.Sprint(sql, err, r))
				}
				for _, where := range []string{"BEGIN", "ROLLBACK"} {
					must(t, one, where)
					must(t, c, where)
					compareMetadata(t, one, c, where, sql)
				}
			}
		})
	}
}

// checksOfTable joins on the name of the table, too, where CHECK_CONSTRAINTS has it: there names of checks are a table's own.
func checksOfTable(kind mysqltest.Kind) string {
	if kind == mysqltest.MariaDB {
		return " AND cc.TABLE_NAME = tc.TABLE_NAME"
	}
	return ""
}

// columnNames shows the names of an answer's columns, or its error. An empty result's types are left out: MySQL has others where it sees at once that it is empty.
func columnNames(r *mysqltest.RawResult) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	var names []string
	for _, d := range r.Columns {
		names = append(names, d.Schema+"."+d.Table+"."+d.Name)
	}
	return strings.Join(names, " ")
}
