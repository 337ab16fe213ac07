package plan

import (
	"os"
	"path/filepath"
	"testing"

	"kingshard/mysql/value"
)

// FuzzBuild checks that no statement makes planning, routing or explaining panic, and that whatever is sent names a node.
func FuzzBuild(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, blocks := goldenBlocks(string(data))
		for _, b := range blocks {
			f.Add(b.sql)
		}
	}
	for _, fact := range extendedFacts {
		f.Add(fact.sql)
	}
	r := testRouter(f)
	arguments := [][]value.Value{nil, {value.NewInt(1)}, {{}, value.NewString("x"), value.NewInt(-1), value.NewFloat(1.5), value.NewBytes("\xff"), value.NewUint(1 << 63)}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, catalog := range []Catalog{typed, untyped} {
			p, err := build(text, r, catalog)
			if err != nil || p == nil {
				continue
			}
			for _, args := range arguments {
				route, err := p.Route(args)
				if err == nil {
					checkRoute(t, p, &route)
				}
			}
			if _, err := Explain(p); err != nil && err.Error() == "" {
				t.Error("an error without text")
			}
			p.MayBeOne()
			p.Sample()
			for _, ref := range p.Refs {
				p.KeyFlags(ref)
			}
		}
	})
}

// checkRoute checks that a route sends something, and each statement to the node that its tables are on.
func checkRoute(t *testing.T, p *Plan, r *Route) {
	queries := r.Queries
	if r.One != nil {
		queries = append(queries, *r.One)
	}
	if f := r.Finishing; f != nil {
		for _, s := range append(f.Scratch, f.Rest...) {
			queries = append(queries, s.Queries...)
		}
		queries = append(queries, f.Final(nil))
	}
	if len(queries) == 0 {
		t.Errorf("%q: %v sends nothing", p.Statement.Text, r.Operator)
	}
	for _, q := range queries {
		if q.Node == "" || q.Text == "" {
			t.Errorf("%q: sends %+v", p.Statement.Text, q)
		}
		for _, at := range q.Args {
			if at < 0 || at >= len(p.Statement.Params) {
				t.Errorf("%q: parameter %d", p.Statement.Text, at)
			}
		}
	}
}
