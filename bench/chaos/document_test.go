package chaos

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A table has a row for each result, of each server apart, and says what broke a guarantee.
func TestTable(t *testing.T) {
	text := Table([]Result{
		{Fault: "cut", Server: "MariaDB 10", Revision: "abc", Operations: 7, Errors: map[string]int{"9002": 2, "1213": 1}, Broken: map[string]string{Lost: "one\nrow"}},
		{Fault: "cut", Server: "MySQL 9", Revision: "abc"},
	})
	for _, want := range []string{
		"### MariaDB 10\n", "### MySQL 9\n", "| cut | yes | **no** | yes | yes | yes | yes | 0.0 s | 7 | 1213: 1, 9002: 2 |", "| cut | yes | yes | yes | yes | yes | yes |",
		"- cut, no lost write: one row\n", "revision `abc`,", "| half-open | nothing gets through",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A soak is a row with what broke and with its slopes.
func TestSoakTable(t *testing.T) {
	soak := Soak{Server: "MariaDB 10", Revision: "abc", Lasted: 300, Rate: 150, Broken: map[string]string{Leak: "heap"}, Slopes: []Slope{{What: "heap, MiB", Mean: 9, Hour: 1.5, Error: 0.5}, {What: "goroutines", Mean: 40, Hour: -1}}}
	early := soak
	early.Broken, early.Early = nil, "read_only: no moment"
	if text := SoakTable([]Soak{early}); !strings.Contains(text, "| nothing; ended early: read_only: no moment |") {
		t.Error(text)
	}
	if text := SoakTable([]Soak{soak}); !strings.Contains(text, "| no leak: heap | +1.5 ± 1.0 of 9.0 MiB | -1.0 ± 0.0 of 40.0 |") {
		t.Error(text)
	}
}

// What is written is read again; a file that is not there has nothing.
func TestReadWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	if all, err := Read[Result](path); err != nil || all != nil {
		t.Errorf("%v, %v", all, err)
	}
	want := []Result{{Fault: "a", Began: time.Unix(5, 0).UTC(), Broken: map[string]string{Alone: "x"}}, {Fault: "b", Recovery: 0.5}}
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	if got, err := Read[Result](path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
