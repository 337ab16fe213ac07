package kserror

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/errors.md from the table")

// TestErrorsDocument keeps docs/errors.md equal to the table.
func TestErrorsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The proxy's own errors\n\nGenerated from the table in `proxy/kserror/kserror.go`. Errors of the servers pass unchanged; errors that MySQL has a number\nfor, such as 1045 or 1153, are sent with that number. These are the rest.\n\n")
	b.WriteString("| code | SQLSTATE | name | cause | what to do |\n| --- | --- | --- | --- | --- |\n")
	seen := map[uint16]bool{}
	for _, e := range Table {
		if seen[e.Code] || len(e.State) != 5 || e.Cause == "" || e.Cure == "" || !strings.HasPrefix(e.Name, "KS_") {
			t.Errorf("entry %d is not complete, or twice there", e.Code)
		}
		seen[e.Code] = true
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", e.Code, e.State, e.Name, e.Cause, e.Cure)
	}
	const file = "../../docs/errors.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Error("docs/errors.md is not what the table says: go test ./proxy/kserror -run TestErrorsDocument -update")
	}
}

// TestNew makes an error of every code, one that says more than the table, and one of a code that is not there.
func TestNew(t *testing.T) {
	for _, e := range Table {
		if got := New(e.Code, ""); got.Code != e.Code || got.State != e.State || got.Message != e.Cause {
			t.Errorf("%s: %+v", e.Name, got)
		}
	}
	if got := Refuse("why"); got.Code != RefusedStatement || got.State != "42000" || got.Message != "why" {
		t.Errorf("refused: %+v", got)
	}
	if got := New(1, "what"); got.Code != Internal || got.State != "HY000" || got.Message != "what" {
		t.Errorf("no such code: %+v", got)
	}
}
