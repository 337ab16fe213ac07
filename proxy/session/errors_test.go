package session

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
	b.WriteString("# The proxy's own errors\n\nGenerated from the table in `proxy/session/errors.go`. Errors of the servers pass unchanged; errors that MySQL has a number\nfor, such as 1045 or 1153, are sent with that number. These are the rest.\n\n")
	b.WriteString("| code | SQLSTATE | name | cause | what to do |\n| --- | --- | --- | --- | --- |\n")
	seen := map[uint16]bool{}
	for _, e := range Errors {
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
		t.Error("docs/errors.md is not what the table says: go test ./proxy/session -run TestErrorsDocument -update")
	}
}
