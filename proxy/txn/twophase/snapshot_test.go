package twophase

import "testing"

func TestConsistent(t *testing.T) {
	key := Secret("k")
	g := GTRID{Anchor: 1, Sequence: 1}
	const parts = "00000001,00000002,00000003"
	anchor := func(s State) []Row { return []Row{key.sign(Row{Key: g.String(), State: s, Parts: parts})} }
	branch := func(n NodeID) []Row {
		return []Row{key.sign(Row{Key: g.BranchKey(n), State: BranchRow, Parts: parts})}
	}
	done := anchor(Done)[0]
	committed := anchor(Committed)[0]
	forged := Row{Key: g.String(), State: Committed, Parts: parts, MAC: "x"}
	for name, c := range map[string]struct {
		snapshots []Snapshot
		asked     map[GTRID]*Row
		want      Reading
	}{
		"nothing":                  {[]Snapshot{{1, nil}, {2, nil}}, nil, Whole},
		"all":                      {[]Snapshot{{1, anchor(Committed)}, {2, branch(2)}, {3, branch(3)}}, nil, Whole},
		"all that is read":         {[]Snapshot{{1, anchor(Committed)}, {3, branch(3)}}, nil, Whole},
		"another node":             {[]Snapshot{{1, anchor(Committed)}, {4, nil}}, nil, Whole},
		"a branch is missing":      {[]Snapshot{{1, anchor(Committed)}, {2, branch(2)}, {3, nil}}, nil, Torn},
		"the anchor is missing":    {[]Snapshot{{1, nil}, {2, branch(2)}, {3, branch(3)}}, nil, Torn},
		"done":                     {[]Snapshot{{1, anchor(Done)}, {2, branch(2)}, {3, nil}}, nil, Whole},
		"two branches":             {[]Snapshot{{2, branch(2)}, {3, branch(3)}}, nil, Whole},
		"one of two branches":      {[]Snapshot{{2, branch(2)}, {3, nil}}, nil, Ask},
		"one of two, done":         {[]Snapshot{{2, branch(2)}, {3, nil}}, map[GTRID]*Row{g: &done}, Whole},
		"one of two, committed":    {[]Snapshot{{2, branch(2)}, {3, nil}}, map[GTRID]*Row{g: &committed}, Torn},
		"one of two, gone":         {[]Snapshot{{2, branch(2)}, {3, nil}}, map[GTRID]*Row{g: nil}, Torn},
		"a row that no proxy made": {[]Snapshot{{1, []Row{forged}}, {2, nil}}, nil, Whole},
	} {
		got, ask := Consistent(key, c.snapshots, c.asked)
		if got != c.want || (got == Ask) != (len(ask) == 1 && ask[0] == g) {
			t.Errorf("%s: %d, asks %v, want %d", name, got, ask, c.want)
		}
	}
}
