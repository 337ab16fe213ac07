package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

var benchMode = sqltext.Mode{ServerVersion: 80400}

// found finds the plan of a text that has one and its route.
func found(t testing.TB, p *Plans, l *lookup, text string) plan.Route {
	t.Helper()
	return foundBy(t, p, l, text, nil)
}

// foundBy is found for a text with a template.
func foundBy(t testing.TB, p *Plans, l *lookup, text string, template *sqltext.Template) plan.Route {
	t.Helper()
	q := query{text: text, info: sqltext.Classify(text, benchMode)}
	made, known, err := p.find(l, &q, template, "d", benchMode)
	if err != nil || !known || made == nil {
		t.Fatalf("%.80s: %v %v %v", text, made, known, err)
	}
	r, err := l.execution.Route()
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	return r
}

func TestPlanHitAllocatesNothing(t *testing.T) {
	for name, form := range hitTexts() {
		p, l := benchPlans(t), new(lookup)
		text := fmt.Sprintf(form, 7)
		if n := testing.AllocsPerRun(100, func() { found(t, p, l, text) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	s := benchSession(t)
	s.client.task()
	var q query
	text := fmt.Sprintf(hitTexts()["point"], 7)
	if n := testing.AllocsPerRun(100, func() {
		q = query{text: text, info: sqltext.Classify(text, benchMode)}
		if handled, _, err := s.sharded(&q); handled || err != nil || q.node == nil || len(q.rename) != 1 {
			t.Fatal(handled, q.node, q.rename, err)
		}
	}); n != 0 {
		t.Errorf("a session's statement: %v allocations", n)
	}
	st := &stmt{text: "SELECT column_number_001 FROM t WHERE id = ?", db: "d", mode: benchMode}
	args := []value.Value{value.NewInt(7)}
	if n := testing.AllocsPerRun(100, func() {
		made, err := s.routing.planOfStmt(st)
		if err != nil {
			t.Fatal(err)
		}
		s.client.lookup().execution.Bind(made, args)
		if r, err := s.client.lookup().execution.Route(); err != nil || r.One == nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("prepared: %v allocations", n)
	}
}

// TestPlanHitByTemplate checks that a text has the route that it has without a template.
func TestPlanHitByTemplate(t *testing.T) {
	for name, form := range hitTexts() {
		if len(form) > 200 {
			continue // too long for a template
		}
		p, l, other := benchPlans(t), new(lookup), new(lookup)
		var templates sqltext.Templates
		_, template := templates.Classify(fmt.Sprintf(form, 3), benchMode)
		if template == nil {
			t.Fatalf("%s: no template", name)
		}
		for k := range 20 {
			text := fmt.Sprintf(form, k*k)
			if !template.Matches(text, &benchMode) {
				t.Fatalf("%s: another template", name)
			}
			want, got := found(t, p, other, text), foundBy(t, p, l, text, template)
			if fmt.Sprintf("%+v %+v", got.One, got.Queries) != fmt.Sprintf("%+v %+v", want.One, want.Queries) {
				t.Errorf("%s: %+v %+v, not %+v %+v", text, got.One, got.Queries, want.One, want.Queries)
			}
			if o := p.shapes.outlined(template, "d"); o == nil || o.outline == nil || string(l.digest.Key) != string(other.digest.Key) || l.digest.Hash != other.digest.Hash {
				t.Errorf("%s: known by its template: %v, digest %q, not %q", text, o != nil, l.digest.Key, other.digest.Key)
			}
		}
		text := fmt.Sprintf(form, 5)
		if n := testing.AllocsPerRun(100, func() { foundBy(t, p, l, text, template) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		before := p.shapes.outlined(template, "d")
		if before == nil || p.shapes.outlined(template, "e") != nil {
			t.Errorf("%s: known %v, in another database %v", name, before != nil, p.shapes.outlined(template, "e") != nil)
		}
		p.shapes.clear()
		if p.shapes.outlined(template, "d") != nil || p.shapes.outlines[template.Number()%outlinesMax].Load() != nil {
			t.Errorf("%s: a shape that was forgotten is known by its template", name)
		}
	}
}

// TestOutlinesTakeTurns: templates, and databases, that have one place do not drive each other out with every statement.
func TestOutlinesTakeTurns(t *testing.T) {
	p, l := benchPlans(t), new(lookup)
	var templates sqltext.Templates
	text := "SELECT column_number_001 FROM d.t WHERE id = 7"
	_, template := templates.Classify(text, benchMode)
	changes, last := 0, (*outlined)(nil)
	for k := range 4000 {
		q := query{text: text, info: sqltext.Classify(text, benchMode)}
		if made, known, err := p.find(l, &q, template, []string{"d", "e"}[k%2], benchMode); err != nil || !known || made == nil {
			t.Fatal(made, known, err)
		}
		if o := p.shapes.outlineOf(template); o != last {
			changes, last = changes+1, o
		}
	}
	if changes < 20 || changes > 1000 {
		t.Errorf("the place changed hands %d times in 4000 statements", changes)
	}
}

// TestListsShareAPlan checks that lists of any length have one plan, which no text but the first was read for.
func TestListsShareAPlan(t *testing.T) {
	for _, c := range []struct {
		text func(n int) string
		want func(n int) int // shards
	}{
		{func(n int) string {
			var rows []string
			for k := range n {
				rows = append(rows, fmt.Sprintf("(%d, %d)", k, 1000*n+k))
			}
			return "INSERT INTO t (id, column_number_001) VALUES " + strings.Join(rows, ", ")
		}, func(n int) int { return min(n, 8) }},
		{func(n int) string {
			return "DELETE FROM t WHERE id IN (" + strings.Trim(strings.Repeat("3,", n), ",") + ")"
		}, func(int) int { return 1 }},
		{func(n int) string {
			return "DELETE FROM t WHERE id IN (3, 4" + strings.Repeat(", 5", n) + ")"
		}, func(int) int { return 3 }},
	} {
		p, l := benchPlans(t), new(lookup)
		for _, n := range []int{1, 2, 3, 100, 7, 1} {
			r := found(t, p, l, c.text(n))
			queries := len(r.Queries)
			if r.One != nil {
				queries = 1
			}
			if queries != c.want(n) {
				t.Errorf("%.60s of %d: %d shards", c.text(1), n, queries)
			}
		}
		if p.shapes.count != 1 || len(p.plans) != 0 {
			t.Errorf("%s: %d shapes, %d texts", c.text(1), p.shapes.count, len(p.plans))
		}
	}
}

// TestRoutesLiveUntilTheNext checks that a text for a server is not written over while it is sent, and that nothing is left of
// it after.
func TestRoutesLiveUntilTheNext(t *testing.T) {
	p, l := benchPlans(t), new(lookup)
	r := found(t, p, l, rowsText(99)[:strings.LastIndex(rowsText(99), "VALUES")]+"VALUES (1, 2, 'a', 'b'), (2, 3, 'c', 'd')")
	if len(r.Queries) != 2 || !strings.HasSuffix(r.Queries[0].Text, "(1, 2, 'a', 'b')") || !strings.HasSuffix(r.Queries[1].Text, "(2, 3, 'c', 'd')") {
		t.Errorf("%+v", r.Queries)
	}
	l.release()
	if again := found(t, p, l, "SELECT column_number_001 FROM t WHERE id = 9"); again.One.Text != "SELECT column_number_001 FROM `t_0001` AS `t` WHERE id = 9" || again.One.Node != "n1" {
		t.Errorf("%+v", again.One)
	}
}

func TestShapesAreBounded(t *testing.T) {
	var s shapes
	var d sqltext.Digest
	if found, _ := s.find(&d, "d"); found != nil {
		t.Error("an empty table has a shape")
	}
	for k := range plansMax + 5 {
		s.add(&shape{hash: uint64(k), db: "d", key: []byte{byte(k), byte(k >> 8)}})
	}
	if s.count != 5 {
		t.Errorf("%d shapes after %d", s.count, plansMax+5)
	}
	d.Hash, d.Key = plansMax+1, []byte{(plansMax + 1) & 0xff, (plansMax + 1) >> 8}
	if found, _ := s.find(&d, "d"); found == nil {
		t.Error("the last shapes are not found")
	}
	if found, _ := s.find(&d, "e"); found != nil {
		t.Error("a shape of another database is found")
	}
	d.Key = []byte("x")
	if found, _ := s.find(&d, "d"); found != nil {
		t.Error("a shape is found by its hash alone")
	}
	s.clear()
	for k := range 3 * shapesBytesMax / shapeKeyMax {
		s.add(&shape{hash: uint64(k), key: make([]byte, shapeKeyMax)})
		if s.bytes > shapesBytesMax {
			t.Fatalf("%d bytes", s.bytes)
		}
	}
}

// TestPlansAreForgotten checks that a plan made before a table was changed is used by no prepared statement after.
func TestPlansAreForgotten(t *testing.T) {
	p := benchPlans(t)
	columns := p.columns[p.exact.Tables()[0]]
	st := &stmt{text: "SELECT column_number_001 FROM t WHERE id = ?", db: "d", mode: benchMode}
	s := assemble()
	s.client.schema = &Schema{Plans: p}
	before, err := s.routing.planOfStmt(st)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.routing.planOfStmt(st); again != before {
		t.Error("a prepared statement does not keep its plan")
	}
	p.forget()
	p.columns[p.exact.Tables()[0]] = columns
	if after, _ := s.routing.planOfStmt(st); after == before {
		t.Error("a prepared statement has a plan that was forgotten")
	}
}

// TestShapesAreFoundWhileTheyChange has sessions find plans while others add them and forget them.
func TestShapesAreFoundWhileTheyChange(t *testing.T) {
	p := benchPlans(t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			l := new(lookup)
			var templates sqltext.Templates
			for k := range 200 {
				q := query{text: fmt.Sprintf("SELECT column_number_%03d FROM t WHERE id = %d", k%10, k)}
				info, template := templates.Classify(q.text, benchMode)
				q.info = info
				made, known, err := p.find(l, &q, template, "d", benchMode)
				if err != nil || !known || made == nil {
					t.Errorf("%s: %v %v %v", q.text, made, known, err)
					continue
				}
				if r, err := l.execution.Route(); err != nil || r.One == nil || !strings.HasSuffix(r.One.Text, fmt.Sprint(" = ", k)) {
					t.Errorf("%s: %+v %v", q.text, r.One, err)
				}
			}
		})
	}
	for range 100 {
		p.shapes.clear()
	}
	wg.Wait()
}
