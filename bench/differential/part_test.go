package differential

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	p := phrase(words("SELECT"), listOf(1, words("a"), constant(intValue(5)), constant(null)), nil, words("FROM"), join(&part{isDB: true}, words(".t")))
	if got := p.render("d", false).sql; got != "SELECT a, 5, NULL FROM d.t" {
		t.Error(got)
	}
	r := p.render("d", true)
	if r.sql != "SELECT a, ?, NULL FROM d.t" || len(r.args) != 1 || r.args[0] != int8(5) {
		t.Error(r)
	}
}

// TestSteps takes all steps that can be taken: LIMIT goes before the ORDER BY that it needs, and lists keep their least.
func TestSteps(t *testing.T) {
	limit := maybe(words("LIMIT 1"))
	order := maybe(words("ORDER BY id"))
	order.neededBy = limit
	a, b := words("a"), words("b")
	where := maybe(phrase(words("WHERE"), phrase(a, words("AND"), b).or(a, b)))
	root := phrase(words("SELECT"), listOf(1, words("x"), words("y"), words("z")), where, order, limit)
	var seen []string
	root.steps(func(step func() func()) {
		undo := step()
		seen = append(seen, root.render("", false).sql)
		if undo != nil {
			undo()
		}
	})
	if strings.Contains(strings.Join(seen, "\n"), "b LIMIT") {
		t.Errorf("ORDER BY went before LIMIT:\n%s", strings.Join(seen, "\n"))
	}
	if all := strings.Join(seen, "\n"); !strings.Contains(all, "WHERE a ORDER") || !strings.Contains(all, "WHERE b ORDER") {
		t.Errorf("no operand stood for AND:\n%s", all)
	}
	for range 2 {
		root.steps(func(step func() func()) { step() })
	}
	if got := root.render("", false).sql; got != "SELECT z" {
		t.Errorf("%q is left", got)
	}
}

// TestClauses finds the conditions that a statement can do without, those of its subqueries that stay among them.
func TestClauses(t *testing.T) {
	where := func(condition ...*part) *part { return maybe(phrase(append([]*part{words("WHERE")}, condition...)...)) }
	inner := phrase(words("(SELECT x FROM u"), where(words("y = 1")), words(")"))
	root := phrase(words("SELECT a,"), inner, words("FROM t"), where(words("b IN (SELECT c FROM v"), where(words("d = 2")), words(")")), maybe(words("LIMIT 1")))
	n := 0
	root.clauses("WHERE", func(p *part) {
		p.gone = true
		n++
	})
	if got := root.render("", false).sql; got != "SELECT a, (SELECT x FROM u ) FROM t LIMIT 1" || n != 2 {
		t.Errorf("%q after %d clauses", got, n)
	}
}

// TestGrammar makes many statements without a server: each has a text, and never a LIMIT whose order can be taken away.
func TestGrammar(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		d := dialect{mariaDB: seed%2 == 0}
		g := newGrammar(r, newSchema(r, d), d, "")
		for range 100 {
			for _, st := range g.scenario() {
				sql := st.root.render("d", st.prepared).sql
				for _, word := range strings.Fields(sql) {
					seen[word]++
				}
				if st.limit.present() && st.order.present() && st.order.neededBy != st.limit {
					t.Errorf("the order of %s can be lost", sql)
				}
			}
		}
	}
	for _, word := range strings.Fields("SELECT INSERT REPLACE UPDATE DELETE UNION INTERSECT EXCEPT ROLLUP HAVING WITH RECURSIVE OVER DISTINCT EXISTS LEFT NATURAL DUPLICATE SAVEPOINT ROLLBACK SQL_CALC_FOUND_ROWS OFFSET BETWEEN LIKE COALESCE(") {
		if seen[word] < 3 {
			t.Errorf("%s came %d times in 40 schemas", word, seen[word])
		}
	}
}
