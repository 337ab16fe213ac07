package differential

import (
	"regexp"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestCounted wants the ids behind an INSERT ... SELECT to be the same again on both sides, of which one has had the rows as a list.
func TestCounted(t *testing.T) {
	rows := regexp.MustCompile(`SELECT NULL, 1 UNION .*`)
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		r := alone(t, kind, 1)
		w, err := r.open(r.Databases[0])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.close() }()
		w.subject.alter = func(sql string) string {
			return rows.ReplaceAllString(sql, "VALUES (NULL, 1), (NULL, 2), (NULL, 3), (NULL, 4)")
		}
		if err := w.create(); err != nil {
			t.Fatal(err)
		}
		if err := w.refresh(0); err != nil {
			t.Fatal(err)
		}
		insert := func(table string) *statement {
			return &statement{root: words("INSERT INTO " + table + " (id, a) SELECT NULL, 1 UNION ALL SELECT NULL, 2 UNION ALL SELECT NULL, 3 UNION ALL SELECT NULL, 4"), writes: []string{table}, bulk: true}
		}
		next := func(table string) *statement {
			return &statement{root: words("INSERT INTO " + table + " (a) VALUES (5)"), writes: []string{table}}
		}
		list := scenario{insert("loc"), next("loc"), {root: words("BEGIN")}, insert("one"), next("loc"), next("one"), {root: words("COMMIT")}, next("one")}
		if d, err := w.try(list, w.report); d != nil || err != nil {
			t.Errorf("%s: %v, %v", kind, d, err)
		}
		if w.report.Equal != len(list)-1 { // the one in the transaction is left out
			t.Errorf("%s: %v", kind, w.report)
		}
	}
}
