package plan

import "testing"

// TestAnalyzer reads query blocks without a plan.
func TestAnalyzer(t *testing.T) {
	r := testRouter(t)
	for sql, want := range map[string]string{
		"SELECT u.id FROM u JOIN o ON u.id = o.u_id":               "",
		"SELECT u.id FROM u JOIN o ON u.age = o.u_id":              "u and o are not joined on their sharding keys",
		"SELECT id FROM u WHERE id IN (SELECT u_id FROM o)":        "",
		"SELECT id FROM u WHERE age IN (SELECT u_id FROM o)":       "a subquery over o that is not tied to the outer row by the sharding key",
		"SELECT id FROM u UNION SELECT u_id FROM o":                "a set operation over u",
		"SELECT x.id FROM (SELECT id FROM u ORDER BY 1 LIMIT 1) x": "a derived table with LIMIT over u",
	} {
		st, err := parse(sql, r, mysql8)
		if err != nil {
			t.Fatal(err)
		}
		refs, _ := references(st, mysql8, r, "kingshard", typed)
		a := newAnalyzer(refs)
		a.query(st.Query, nil)
		if a.subqueries(); a.apart != want {
			t.Errorf("%s: %q, want %q", sql, a.apart, want)
		}
	}
}

// TestPrecision bounds expressions by the columns of a scope alone.
func TestPrecision(t *testing.T) {
	r := testRouter(t)
	for text, want := range map[string]bool{"price": true, "price * price * price": true, "age * age * age": false, "score / 3": true, "age / 3": false, "name": true, "uuid()": false} {
		st, err := parse("SELECT "+text+" FROM u", r, mysql8)
		if err != nil {
			t.Fatal(err)
		}
		refs, _ := references(st, mysql8, r, "kingshard", typed)
		n := &precision{scope: &scope{entries: []entry{{label: "u", ref: refs[0]}}}}
		if got := n.addsUp(st.Query.Select.Fields[0].Expr); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
