package session_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

var update = flag.Bool("update", false, "write the table of shapes into docs/sql-support.md")

// shapeOutcomes are the outcomes of each shape, by its ID, and the layouts and kinds of servers where each was seen.
type shapeOutcomes map[string]*shapeOutcome

type shapeOutcome struct {
	one  outcomeSet // all shards on one node, one of each table
	many outcomeSet // several shards
}

// outcomeSet are the kinds of servers by outcome.
type outcomeSet map[string]map[mysqltest.Kind]bool

func (o shapeOutcomes) add(q shape, kind mysqltest.Kind, several bool, outcome string) {
	if o[q.ID] == nil {
		o[q.ID] = &shapeOutcome{one: make(outcomeSet), many: make(outcomeSet)}
	}
	set := o[q.ID].one
	if several {
		set = o[q.ID].many
	}
	if set[outcome] == nil {
		set[outcome] = make(map[mysqltest.Kind]bool)
	}
	set[outcome][kind] = true
}

// String names the outcomes in a fixed order; one that only one kind of server has is marked with it.
func (o outcomeSet) String() string {
	var shown []string
	for outcome, kinds := range o {
		if outcome == "" {
			outcome = "as without shards"
		}
		if len(kinds) < len(bothKinds) {
			for kind := range kinds {
				outcome += " (" + string(kind) + ")"
			}
		}
		shown = append(shown, outcome)
	}
	slices.Sort(shown)
	return strings.ReplaceAll(strings.Join(shown, "; "), "|", "\\|")
}

const (
	shapesBegin = "<!-- written by: go test ./proxy/session -run TestShapes -update -->\n"
	shapesEnd   = "<!-- end -->\n"
)

// check compares the table in docs/sql-support.md with the outcomes, or writes it under -update.
func (o shapeOutcomes) check(t *testing.T, queries []shape) {
	t.Helper()
	const path = "../../docs/sql-support.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(doc), shapesBegin)
	_, foot, ok2 := strings.Cut(rest, shapesEnd)
	if !ok || !ok2 {
		t.Fatalf("%s: the marks of the table are missing", path)
	}
	var b strings.Builder
	b.WriteString("| shape | statement | one shard | several shards |\n| --- | --- | --- | --- |\n")
	for _, q := range queries {
		if o[q.ID] == nil {
			return // a run of some shapes only
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", q.ID, strings.ReplaceAll(q.SQL, "|", "\\|"), o[q.ID].one, o[q.ID].many)
	}
	want := head + shapesBegin + b.String() + shapesEnd + foot
	if want == string(doc) {
		return
	}
	if !*update {
		t.Errorf("the table of shapes in %s is not that of this run: run the command in its first line", path)
		return
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
