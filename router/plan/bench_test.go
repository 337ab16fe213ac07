package plan

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
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
	const text = "SELECT name, age FROM u WHERE id = 42"
	var d sqltext.Digest
	if !d.Scan(text, mysql8) {
		b.Fatal("no digest")
	}
	b.Run("text", func(b *testing.B) {
		var e Execution
		b.ReportAllocs()
		for b.Loop() {
			if !e.BindText(p, text, &d) {
				b.Fatal("another text")
			}
			if route, err := e.Route(); err != nil || route.One == nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prepared", func(b *testing.B) {
		var e Execution
		args := []value.Value{value.NewInt(42)}
		b.ReportAllocs()
		for b.Loop() {
			e.Bind(p, args)
			if route, err := e.Route(); err != nil || route.One == nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRouteInsert100RowsText splits the rows of a text of which the plan is there.
func BenchmarkRouteInsert100RowsText(b *testing.B) {
	text := insert100()
	var d sqltext.Digest
	if !d.Scan(text, mysql8) {
		b.Fatal("no digest")
	}
	form, ok := Form(text, &d)
	p, err := build(form, testRouter(b), typed)
	if !ok || err != nil {
		b.Fatal(form, err)
	}
	b.Run("route", func(b *testing.B) {
		var e Execution
		b.ReportAllocs()
		for b.Loop() {
			if !e.BindText(p, text, &d) {
				b.Fatal("another text")
			}
			if route, err := e.Route(); err != nil || len(route.Queries) != 8 {
				b.Fatal(err)
			}
		}
	})
	b.Run("digest", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d.Scan(text, mysql8)
		}
	})
}
