package admin

import (
	"fmt"
	"testing"

	"github.com/google/pprof/profile"
)

// stack makes a location for each function, the innermost first; two in one slice are one inlined into the other.
func stack(p *profile.Profile, nanos int64, functions ...[]string) {
	s := &profile.Sample{Value: []int64{1, nanos}}
	for _, names := range functions {
		l := &profile.Location{}
		for _, name := range names {
			l.Line = append(l.Line, profile.Line{Function: &profile.Function{Name: name}})
		}
		s.Location = append(s.Location, l)
	}
	p.Sample = append(p.Sample, s)
}

func TestProfileTree(t *testing.T) {
	p := new(profile.Profile)
	stack(p, 30, []string{"inner", "outer"}, []string{"main"})
	stack(p, 50, []string{"other"}, []string{"main"})
	stack(p, 10_000, []string{"other"}, []string{"idle"})
	stack(p, 1, []string{"tiny"}) // less than a share of 0.0005
	p.Sample = append(p.Sample, new(profile.Sample))
	var show func(f *frame) string
	show = func(f *frame) string {
		text := fmt.Sprintf("%s=%d", f.Name, f.Value)
		for _, c := range f.Children {
			text += " (" + show(c) + ")"
		}
		return text
	}
	want := "all=10081 (idle=10000 (other=10000)) (main=80 (other=50) (outer=30 (inner=30)))"
	if got := show(tree(p, false)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.Sample[0].Label = map[string][]string{"user": {"app"}, "digest": {"SELECT ?"}, "plan": {"merge"}}
	p.Sample[1].Label = map[string][]string{"user": {"app"}, "digest": {"SELECT ?"}}
	want = "all=10081 (no statement=10001 (idle=10000 (other=10000))) (app: SELECT ?=80 (main=50 (other=50)) (plan merge=30 (main=30 (outer=30 (inner=30)))))"
	if got := show(tree(p, true)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	deep := make([][]string, 10*depthMax)
	for k := range deep {
		deep[k] = []string{"again"}
	}
	stack(p, 1_000_000, deep...)
	depth := 0
	for f := tree(p, false); len(f.Children) > 0; f = f.Children[0] {
		depth++
	}
	if depth != depthMax {
		t.Errorf("%d frames deep", depth)
	}
}
