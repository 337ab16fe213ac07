package twophase

import (
	"strings"
	"testing"
)

func TestBranchAuditor(t *testing.T) {
	key := Secret("k")
	g := GTRID{Anchor: 1, Proxy: 9, Sequence: 1}
	x := XID{g, 2}
	branch := key.sign(Row{Key: g.BranchKey(2), State: BranchRow, Parts: "00000001,00000002"})
	own := Answer{Do: DoRead, Node: 2, Key: branch.Key, Result: OK, Row: &branch}
	anchor := func(state State) Answer {
		a := Answer{Do: DoRead, Node: 1, Key: g.String(), Result: OK}
		if state != 0 {
			row := key.sign(Row{Key: g.String(), State: state, Parts: branch.Parts})
			a.Row = &row
		}
		return a
	}
	gone, silent := own, anchor(0)
	gone.Row, silent.Result = nil, NoAnswer
	for _, c := range []struct {
		name    string
		answers []Answer
		want    string // what is asked for, or reported, behind each
	}{
		{"committed", []Answer{anchor(Committed)}, "read 1; "},
		{"done", []Answer{anchor(Done)}, "read 1; "},
		{"not reached", []Answer{silent}, "read 1; "},
		{"lost", []Answer{anchor(0), own}, "read 1; read 2; report"},
		{"deleted meanwhile", []Answer{anchor(0), gone}, "read 1; read 2; "},
		{"an answer that came twice", []Answer{anchor(0), anchor(Done), gone}, "read 1; read 2; ; "},
		{"rolled back", []Answer{anchor(Aborted)}, "read 1; report"},
	} {
		u := NewBranchAuditor(key)
		todo := u.Listed(2, []Row{branch})
		asked := []string{brief(todo)}
		for _, a := range c.answers {
			todo = u.Answered(x, a)
			asked = append(asked, brief(todo))
		}
		if got := strings.Join(asked, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		kind := map[string]IncidentKind{"lost": IncidentUndecided, "rolled back": IncidentHalf}[c.name]
		if kind != 0 && (len(todo) != 1 || todo[0].Incident != (Incident{Kind: kind, XID: x})) {
			t.Errorf("%s: %+v", c.name, todo)
		}
		if len(u.rows) != 0 {
			t.Errorf("%s: %d rows are remembered", c.name, len(u.rows))
		}
	}

	u := NewBranchAuditor(key)
	forged := branch
	forged.MAC = "x"
	if todo := u.Listed(2, []Row{forged}); brief(todo) != "report" || todo[0].Incident.Kind != IncidentForged {
		t.Errorf("%+v", todo)
	}
	if todo := u.Listed(3, []Row{branch}); len(todo) != 0 {
		t.Errorf("of another node: %+v", todo)
	}
}
