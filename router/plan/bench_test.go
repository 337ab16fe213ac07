package plan

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/value"
)

// BenchmarkBuildPointSelect is a plan that is made for the first time, the text's parsing included.
func BenchmarkBuildPointSelect(b *testing.B) {
	r := testRouter(b)
	b.ReportAllocs()
	for b.Loop() {
		if p, err := build("SELECT name, age FROM u WHERE id = 42", r, typed); err != nil || p == nil {
			b.Fatal(err)
		}
	}
}

// insert100 has rows for 8 of the 12 sub-tables of h.
func insert100() string {
	var rows []string
	for k := range 100 {
		rows = append(rows, fmt.Sprintf("(%d, %d, 'a name of a row')", k%8+12*(k/8), k))
	}
	return "INSERT INTO h (id, a, name) VALUES " + strings.Join(rows, ", ")
}

// BenchmarkInsert100Rows plans and splits one INSERT.
func BenchmarkInsert100Rows(b *testing.B) {
	r := testRouter(b)
	text := insert100()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		p, err := build(text, r, typed)
		if err != nil {
			b.Fatal(err)
		}
		if route, err := p.Route(nil); err != nil || len(route.Queries) != 8 {
			b.Fatal(len(route.Queries), err)
		}
	}
}

// BenchmarkRouteInsert100Rows splits rows of a known plan.
func BenchmarkRouteInsert100Rows(b *testing.B) {
	p, err := build(insert100(), testRouter(b), typed)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Route(nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRoutePointSelect is a known plan with new values: literals in the place of parameters, as in texts, and
// arguments of a prepared statement.
func BenchmarkRoutePointSelect(b *testing.B) {
	p, err := build("SELECT name, age FROM u WHERE id = ?", testRouter(b), typed)
	if err != nil {
		b.Fatal(err)
	}
	args, literals := []value.Value{value.NewInt(42)}, []string{"42"}
	b.Run("text", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			route, err := p.WithLiterals(literals).Route(args)
			if err != nil || route.One == nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prepared", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			route, err := p.Route(args)
			if err != nil || route.One == nil {
				b.Fatal(err)
			}
		}
	})
}
