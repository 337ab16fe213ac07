package differential

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// TestRefusedLater wants the sides to be the same again behind a text of which the subject has run one statement and refused the next one.
func TestRefusedLater(t *testing.T) {
	r := alone(t, mysqltest.MariaDB, 1)
	r.Refusals = refusals
	w, err := r.open(r.Databases[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.close() }()
	w.subject.alter = func(sql string) string {
		return strings.ReplaceAll(sql, "SELECT 'refused'", "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 9012")
	}
	if err := w.create(); err != nil {
		t.Fatal(err)
	}
	if err := w.refresh(0); err != nil {
		t.Fatal(err)
	}
	for _, list := range []scenario{
		{{root: words("INSERT INTO loc (id, a) VALUES (7001, 1); SELECT 'refused'"), writes: []string{"loc"}}, {root: words("SELECT COUNT(*) FROM loc")}},
		{{root: words("SET @u = 5; SELECT 'refused'")}, {root: words("SELECT 1")}},
		{{root: words("SELECT 'refused'; SELECT 1")}, {root: words("SELECT 2")}},
		{{root: words("SELECT COUNT(*) FROM loc")}, {root: words("SELECT @u")}},
		{{root: words("SELECT CAST('x' AS SIGNED)")}},
		{{root: words("SELECT 'refused'")}},
		{{root: words("SHOW WARNINGS")}, {root: words("SELECT ROW_COUNT()")}, {root: words("SELECT FOUND_ROWS()")}},
	} {
		if d, err := w.try(list, w.report); d != nil || err != nil {
			t.Errorf("%v: %v, %v", w.texts(list), d, err)
		}
	}
	if w.report.Statements != 10 || w.report.Equal != 6 { // behind each that is refused the scenario is over
		t.Error(w.report)
	}
}
