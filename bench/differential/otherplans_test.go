package differential

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// TestWarnedApart wants a number of warnings of another plan to do where clocks change, and one that no plan gives nowhere.
func TestWarnedApart(t *testing.T) {
	answered := func(row string, warnings uint16) answer {
		return answer{RawResult: &mysqltest.RawResult{Columns: make([]mysql.ColumnDefinition41, 1), Rows: [][]any{{row}}, Warnings: warnings}}
	}
	d := differ("warnings", "1, but 0")
	for _, tt := range []struct {
		zone  string
		plans []otherPlan
		got   answer
		want  *Difference
	}{
		{zone, []otherPlan{{answer: answered("a", 1)}, {answer: answered("b", 0)}}, answered("a", 0), nil},
		{zone, []otherPlan{{answer: answered("a", 1)}, {answer: answered("a", 1)}}, answered("a", 0), d},
		{zone, []otherPlan{{answer: answered("a", 1)}, {answer: answered("b", 0), columnsOnly: true}}, answered("a", 0), d},
		{zone, []otherPlan{{answer: answered("a", 1)}, {answer: answered("b", 0)}}, answered("c", 0), d},
		{"", []otherPlan{{answer: answered("a", 1)}, {answer: answered("b", 0)}}, answered("a", 0), d},
	} {
		w := &worker{oracle: side{zone: tt.zone}}
		if left := w.amongPlans(&statement{}, tt.plans, tt.got, d); left != tt.want {
			t.Errorf("%q, %v: %v", tt.zone, tt.got.RawResult, left)
		}
	}
}

// TestWrittenPlans wants no difference between a server that holds a common table expression once and one that is told its query twice, whose flags of columns are others.
func TestWrittenPlans(t *testing.T) {
	r := alone(t, mysqltest.MySQL9, 1)
	w, err := r.open(r.Databases[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.close() }()
	var st *statement
	w.subject.alter = func(sql string) string {
		if strings.HasPrefix(sql, "WITH ") {
			return st.written.render(w.subject.db, false).sql
		}
		return sql
	}
	if err := w.create(); err != nil {
		t.Fatal(err)
	}
	if err := w.refresh(0); err != nil {
		t.Fatal(err)
	}
	for w.report.Planned["metadata: flags"] == 0 && w.report.Statements < 300 {
		if st = w.grammar.expressionTables(); st.written == nil {
			continue
		}
		if d, err := w.try(scenario{st}, w.report); d != nil || err != nil {
			t.Fatalf("%v: %v, %v", w.texts(scenario{st}), d, err)
		}
	}
	if w.report.Planned["metadata: flags"] == 0 {
		t.Error(w.report)
	}
}

// TestExcuseInfo wants what MariaDB says of an UPDATE that an index tells to find no row to be that of an UPDATE without the index, and nothing else to be excused.
func TestExcuseInfo(t *testing.T) {
	r := alone(t, mysqltest.MariaDB, 1)
	w, err := r.open(r.Databases[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.close() }()
	if err := w.create(); err != nil {
		t.Fatal(err)
	}
	if err := w.refresh(0); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ sql, other, kind string }{
		{"UPDATE loc SET a = 2 WHERE id < (SELECT MAX(id) FROM h1 WHERE id < -5)", "UPDATE loc USE INDEX () SET a = 2 WHERE id < (SELECT MAX(id) FROM h1 WHERE id < -5)", ""},
		{"UPDATE loc SET a = 2 LIMIT 0", "UPDATE loc SET a = 2 WHERE a = 77", "info"},
	} {
		w.subject.alter = func(sql string) string { return strings.ReplaceAll(sql, tt.sql, tt.other) }
		kind := ""
		d, err := w.try(scenario{{root: words(tt.sql), writes: []string{"loc"}}}, w.report)
		if d != nil {
			kind = d.Kind
		}
		if kind != tt.kind || err != nil {
			t.Errorf("%s: %v, %v", tt.sql, d, err)
		}
	}
	if w.report.Planned["info"] != 1 {
		t.Error(w.report)
	}
}
