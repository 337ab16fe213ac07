package differential

import (
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
