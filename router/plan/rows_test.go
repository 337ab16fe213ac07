package plan

import (
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
)

// TestInOrder wants an INSERT for two shards to be written in the client's order too, and rows of its parts to be known by
// the numbers that they have there.
func TestInOrder(t *testing.T) {
	p, err := build("insert into u (id, age) values (1, 10), (3, 30), (2, 20), (5, 50)", testRouter(t), typed)
	if err != nil {
		t.Fatal(err)
	}
	var e Execution
	e.Bind(p, nil)
	r, err := e.Route()
	if err != nil || len(r.Queries) != 2 {
		t.Fatal(len(r.Queries), err)
	}
	for k, want := range [][]int{{3, 0}, {1, 2, 4, 0}} {
		for n, row := range want {
			if got := r.Queries[k].Row(n + 1); got != row {
				t.Errorf("row %d of %s is number %d, not %d", n+1, r.Queries[k].Text, got, row)
			}
		}
	}
	for k, q := range e.InOrder(3) {
		want := []string{"(1, 10), (3, 30)", "(2, 20)", "(5, 50)"}[k]
		if !strings.HasSuffix(q.Text, " values "+want) || q.Row(1) != []int{1, 3, 4}[k] {
			t.Errorf("%s begins with number %d", q.Text, q.Row(1))
		}
	}
	if queries := e.InOrder(2); len(queries) != 0 {
		t.Errorf("%d statements where 2 are the most", len(queries))
	}
	if whole := (&Query{}); whole.Row(1) != 0 {
		t.Error("a whole statement numbers rows")
	}
}

// TestOneTable wants a reference of which no row matters to be to the sub-table that another one is to: a server tells by the
// table whether a change reads what it changes.
func TestOneTable(t *testing.T) {
	p, err := build("update h as t set age = 1 where age <= (select max(x.age) from h as x where null) and id = 2", testRouter(t), typed)
	if err != nil {
		t.Fatal(err)
	}
	var e Execution
	e.Bind(p, nil)
	if r, err := e.Route(); err != nil || r.One == nil || strings.Count(r.One.Text, "`h_0002`") != 2 {
		t.Errorf("%+v, %v", r.One, err)
	}
}

// TestReturning wants a change with RETURNING to go to one server, to several, which 2 stands for, or nowhere.
func TestReturning(t *testing.T) {
	maria, r := sqltext.Mode{MariaDB: true, ServerVersion: 101100}, testRouter(t)
	for text, want := range map[string]int{
		"insert into u (id, age) values (1, 10) returning id":          1,
		"insert into u (id, age) values (1, 10), (2, 10) returning id": 2,
		"delete from u where id = 1 returning *":                       1,
		"delete from u where age = 1 returning *":                      2,
		"delete from ref where id = 1 returning *":                     2,
		"delete from u order by id limit 1 returning *":                0,
	} {
		st, err := parse(text, r, maria)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(st, maria, r, "kingshard", typed)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var e Execution
		e.Bind(p, nil)
		route, err := e.Route()
		got := len(route.Queries)
		if route.One != nil {
			got = 1
		}
		if got > 1 && want > 1 {
			got = want
		}
		if got != want || (err == nil) != (want > 0) || err != nil && !IsRefusal(err) {
			t.Errorf("%s: %d servers, %v", text, got, err)
		}
	}
}
