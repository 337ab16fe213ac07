package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// namedItems are items of a select list whose names, without an alias, are their text: the session's own functions and variables in every place, and
// what the proxy computes in another form.
var namedItems = []string{
	"USER()", "user ( )", "SESSION_USER()", "SYSTEM_USER()", "CURRENT_USER()", "CURRENT_USER", "DATABASE()", "SCHEMA()", "CONNECTION_ID()", "connection_id()", "(USER())", "( CONNECTION_ID() )", "CONNECTION_ID() + 1", "CONCAT(USER(), 'x')",
	"USER() = CURRENT_USER()", "(SELECT USER())", "(SELECT CONNECTION_ID() + 1)", "UPPER(USER())", "USER() x", "USER() AS `y z`", "'x' = USER()", "CASE USER() WHEN 'x' THEN 1 END", "IF(CONNECTION_ID() > 0, 'a', 'b')", "EXISTS (SELECT USER())",
	"USER() /* c */", "/* c */ USER()", "USER() COLLATE utf8mb3_bin", "CAST(CONNECTION_ID() AS CHAR)", "-CONNECTION_ID()", "NOT CONNECTION_ID()", "@@pseudo_thread_id", "@@session.pseudo_thread_id", "@@pseudo_thread_id + 1", "LAST_INSERT_ID()", "LAST_INSERT_ID() + 1", "@@identity", "@@last_insert_id",
	"ROW_COUNT()", "ROW_COUNT() + 1", "FOUND_ROWS()", "FOUND_ROWS() + 1", "@@warning_count", "@@error_count", "@@session.warning_count", "@@warning_count + 1", "@@autocommit", "@@sql_mode", "@@tx_isolation", "@@transaction_isolation", "@@timestamp", "@@version_comment", "@@hostname",
	"NOW()", "CURRENT_TIMESTAMP", "UNIX_TIMESTAMP()", "VERSION()", "UUID() IS NULL", "RAND() < 2", "1", "'x'", "'x' 'y'", "1+1", "1  +  1", "NULL", "TRUE", "`n`", "n", "#.n", "shop.#.n", "`#`.`n` + 1", "#.n + 1", "shop.#.n + 1", "-#.n", "(#.n)", "'#'", "'u_0003'", "n AS u_0003", "n `u`", "#.*", "*",
	"COUNT(*)", "count( * )", "COUNT(#.n)", "SUM(n) + 1", "MAX(name)", "MAX(#.name)", "AVG(n) * 2", "AVG(#.d)", "COUNT(DISTINCT name)", "COUNT(DISTINCT #.name, n)", "GROUP_CONCAT(name)", "GROUP_CONCAT(#.name ORDER BY #.id SEPARATOR '-')", "STD(n)", "BIT_OR(n)", "MIN(n) + CONNECTION_ID()", "SUM(n)/COUNT(*)", "COUNT(*) + LENGTH(USER())", "JSON_ARRAYAGG(n)",
	"name, COUNT(*)", "(SELECT MAX(x.n) FROM # x)", "(SELECT #.n + MAX(x.n) FROM # x)", "EXISTS (SELECT 1 FROM # x WHERE x.id = #.id)", "n IN (SELECT x.n FROM # x)", "ROW_NUMBER() OVER (ORDER BY #.id)", "SUM(#.n) OVER ()", "CONVERT(#.name USING latin1)", "#.name LIKE 'x%'", "CASE WHEN #.n > 1 THEN #.n ELSE #.d END", "INTERVAL 1 DAY + day", "DATE_FORMAT(#.day, '%Y')",
}

// namedForms are places for such an item, %s.
var namedForms = []string{
	"SELECT %s FROM # WHERE id = 3", "SELECT %s FROM #", "SELECT %s FROM # LIMIT 2", "SELECT %s FROM # ORDER BY # .id", "SELECT DISTINCT %s FROM #", "SELECT %s FROM # GROUP BY name", "SELECT * FROM (SELECT %s FROM #) x", "SELECT %s FROM # UNION ALL SELECT %[1]s FROM #",
	"WITH x AS (SELECT %s FROM #) SELECT * FROM x", "SELECT %s FROM # WHERE id IN (1, 2, 3)", "(SELECT %s FROM #) ORDER BY 1 LIMIT 1", "SELECT %s FROM # JOIN #c ON #c.u = #.name",
}

// namesOf shows the names of columns.
func namesOf(r *mysqltest.RawResult) string {
	if r.Err != nil {
		return fmt.Sprintf("%d %s %s", r.Err.Code, r.Err.State, r.Err.Message)
	}
	var b strings.Builder
	for _, d := range r.Columns {
		fmt.Fprintf(&b, "%s.%s.%s\n", d.Schema, d.Table, d.Name)
	}
	return b.String()
}

// TestNamesOfColumns compares the names of columns of a proxy's results with those of one server's, as text and prepared.
func TestNamesOfColumns(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c := namesRig(t, kind)
			cases, refused := 0, 0
			for k, table := range namedTables {
				for m, form := range append([]string{"SELECT %s"}, namedForms...) {
					if form == "SELECT %s" && table != "p" {
						continue
					}
					for n, item := range namedItems {
						if !everyCase && (k+m+n)%3 != 0 {
							continue // every form, and every item, with every third one
						}
						sql := forTable(fmt.Sprintf(form, item), table)
						want, err := one.Query(sql)
						if err != nil {
							t.Fatal(err)
						}
						got, err := c.Query(sql)
						if err != nil {
							t.Fatal(sql, err)
						}
						cases++
						w, g := namesOf(want), namesOf(got)
						if names := leaked(sql, w, g); names != nil {
							t.Errorf("%s: %v leak: %s", sql, names, g)
						}
						if strings.HasPrefix(g, "90") {
							refused++
						} else if w != g {
							t.Errorf("%s:\n  %s\ninstead of\n  %s", sql, g, w)
						}
						ws, werr := one.Prepare(sql)
						gs, gerr := c.Prepare(sql)
						if werr == nil && gerr == nil {
							w, g := namesOf(&mysqltest.RawResult{Columns: ws.Columns}), namesOf(&mysqltest.RawResult{Columns: gs.Columns})
							if w != g {
								t.Errorf("prepare %s:\n  %s\ninstead of\n  %s", sql, g, w)
							}
							ws.Close()
							gs.Close()
						}
					}
				}
			}
			if refused > cases/20 {
				t.Errorf("%d of %d are refused", refused, cases)
			}
		})
	}
}
