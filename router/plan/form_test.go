package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"kingshard/mysql/sqltext"
	"kingshard/router"

	"pgregory.net/rapid"
)

// forms plans texts by their forms, each form once, in one Execution.
type forms struct {
	r       *router.Router
	catalog Catalog
	digest  sqltext.Digest
	e       Execution
	plans   map[string]*Plan
}

// route gives the route of a text by the plan of its form; ok is false for texts that have none.
func (f *forms) route(text string) (p *Plan, r Route, ok bool, err error) {
	if !f.digest.Scan(text, mysql8) {
		return nil, r, false, nil
	}
	key := string(f.digest.Key)
	p, known := f.plans[key]
	if !known {
		if form, ok := Form(text, &f.digest); ok {
			p, err = build(form, f.r, f.catalog)
		}
		if err != nil {
			p = nil
		}
		f.plans[key] = p
	}
	if p == nil || !f.e.BindText(p, text, &f.digest) {
		return nil, r, false, nil
	}
	r, err = f.e.Route()
	return p, r, true, err
}

func newForms(t testing.TB, c Catalog) *forms {
	return &forms{r: testRouter(t), catalog: c, plans: map[string]*Plan{}}
}

// sent is all that a route sends, in order.
func sent(r *Route) (queries []Query) {
	if r.One != nil {
		queries = append(queries, *r.One)
	}
	queries = append(queries, r.Queries...)
	f := r.Finishing
	if f == nil {
		return queries
	}
	for _, s := range append(f.Scratch, f.Rest...) {
		queries = append(queries, s.Queries...)
		if s.Like != nil {
			queries = append(queries, *s.Like, *f.Describe)
		}
	}
	return append(queries, f.Final(nil))
}

// reporter is a test or a draw of one.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// compareRoutes checks that the plan of a text's form sends what the plan of the text itself does.
func compareRoutes(t reporter, f *forms, text string) bool {
	t.Helper()
	p, got, ok, err := f.route(text)
	if !ok {
		return false
	}
	own, ownErr := build(text, f.r, f.catalog)
	if ownErr != nil || own == nil {
		if own == nil && ownErr == nil {
			t.Fatalf("%s: the form has a plan, the text none", text)
		}
		return false // a form may be read where the text is not: the server says what is wrong with it
	}
	want, wantErr := own.Route(nil)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s: %v, and by its form %v", text, wantErr, err)
	}
	if err != nil {
		return true
	}
	same := got.Operator.String() == want.Operator.String()
	if _, inserts := got.Operator.(*Insert); inserts {
		same = got.Operator.Name() == want.Operator.Name() // the form has one row for all
	}
	if !same || own.Reason != p.Reason || got.Offset != want.Offset || got.Limit != want.Limit {
		t.Fatalf("%s: %+v, and by its form %+v", text, want, got)
	}
	g, w := sent(&got), sent(&want)
	if len(g) != len(w) {
		t.Fatalf("%s: %d texts, and by its form %d", text, len(w), len(g))
	}
	for k := range g {
		if g[k].Text != w[k].Text || g[k].Node != w[k].Node || g[k].Describe != w[k].Describe || !reflect.DeepEqual(g[k].Shards, w[k].Shards) || len(g[k].Args) > 0 {
			t.Fatalf("%s:\n%+v\nby its form\n%+v", text, w[k], g[k])
		}
	}
	return true
}

// literalText draws a literal.
func literalText(t *rapid.T) string {
	return rapid.OneOf(
		rapid.Map(rapid.Int64Range(-20, 20), func(n int64) string { return fmt.Sprint(n) }),
		rapid.SampledFrom([]string{"10000", "9223372036854775808", "'5'", "'x''y'", `"abc"`, "1.5", "2e0", "x'41'", "'2016-03-07'", "-1", "+3"}),
	).Draw(t, "literal")
}

// texts draws statements with literals in the places where they decide the shards, and in others.
var texts = rapid.Custom(func(t *rapid.T) string {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "part") }
	lit := func() string { return literalText(t) }
	list := func() string {
		var b strings.Builder
		for k := range rapid.IntRange(1, 5).Draw(t, "elements") {
			b.WriteString(pick(", ", ",")[:min(k, 1)] + pick("", " ") + lit())
		}
		return "(" + strings.ReplaceAll(b.String(), "  ", " ") + ")"
	}
	table := pick("u", "h", "r", "kingshard.h", "y", "v")
	key := "id"
	if table == "y" {
		key = "d"
	}
	cond := func() string {
		return pick(key+" = "+lit(), key+" IN "+list(), key+" NOT IN "+list(), "a IN "+list()+" AND "+key+" = "+lit(), key+" BETWEEN "+lit()+" AND "+lit(),
			lit()+" = "+key, key+" <=> "+lit(), key+" > "+lit()+" OR a < "+lit(), "("+key+", a) = ("+lit()+", "+lit()+")", "a = 'it''s ?' AND "+key+"="+lit())
	}
	where := " WHERE " + cond() + pick("", " AND "+cond(), " OR "+cond(), " /* c */ and a LIKE 'u%'")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1:
		return rowsText(t, table, key)
	case 2:
		return "UPDATE " + table + " SET a = a + " + lit() + ", name = '`'" + where
	case 3:
		return "DELETE FROM " + table + where + pick("", " LIMIT 5")
	}
	from := table
	if table == "u" {
		from += pick("", " JOIN o ON u.id = o.u_id AND o.price > "+lit(), ", ref")
	}
	return "SELECT " + pick("*", "count(*)", key+", 1", "max(a)") + " FROM " + from + where + pick("", " ORDER BY "+key) + pick("", " LIMIT 7", " LIMIT 3, 4")
})

// rowsText draws an INSERT of several rows.
func rowsText(t *rapid.T, table, key string) string {
	pick := func(texts ...string) string { return rapid.SampledFrom(texts).Draw(t, "part") }
	layout := pick("(%s, %s)", "( %s , %s )", "(%s, now(), %s)", "(%s, lower('X'), %s)")
	columns := " (" + key + ", a)"
	if strings.Count(layout, ",") > 1 {
		columns = " (" + key + ", name, a)"
	}
	var b strings.Builder
	b.WriteString(pick("INSERT INTO ", "REPLACE INTO ", "insert ignore ") + table + columns + pick(" VALUES ", " values\n"))
	for k := range rapid.IntRange(1, 6).Draw(t, "rows") {
		if k > 0 {
			b.WriteString(pick(", ", ",", " ,/* x */\n"))
		}
		fmt.Fprintf(&b, layout, pick(literalText(t), "NULL", "7", "8"), pick(literalText(t), "NULL"))
	}
	if strings.HasPrefix(b.String(), "INSERT") {
		b.WriteString(pick("", " ON DUPLICATE KEY UPDATE a = "+literalText(t), " ON DUPLICATE KEY UPDATE a = VALUES(a) + 5, name = IF(a IN (1, 2), 'x', "+table+".name)", ";"))
	}
	return b.String()
}

// TestFormsRouteAsTexts draws texts: by the plan of their form, which other texts use too, they go where they go by a plan of
// their own, letter for letter.
func TestFormsRouteAsTexts(t *testing.T) {
	for _, c := range []Catalog{typed, untyped} {
		f := newForms(t, c)
		compared := 0
		rapid.Check(t, func(t *rapid.T) {
			if compareRoutes(t, f, texts.Draw(t, "text")) {
				compared++
			}
		})
		t.Logf("%d texts compared with %d forms", compared, len(f.plans))
		if compared < 20 {
			t.Errorf("only %d texts had a form", compared)
		}
	}
}

// TestFormsThatSettleLess: a value that is not of its column's kind has a form settle nothing, and its own text all conditions but that one. Such texts are planned by themselves.
func TestFormsThatSettleLess(t *testing.T) {
	f := newForms(t, typed)
	for _, text := range []string{
		"SELECT max(a) FROM u JOIN o ON u.id = o.u_id AND o.price > 5 WHERE id = %s",
		"SELECT id FROM u WHERE age IN (SELECT age FROM u WHERE MATCH (note) AGAINST ('x y' IN BOOLEAN MODE)) AND age <> %s",
	} {
		if !compareRoutes(t, f, strings.Replace(text, "%s", "7", 1)) {
			t.Errorf("%s: a number is not planned by the form", text)
		}
		text = strings.Replace(text, "%s", "'abc'", 1)
		if compareRoutes(t, f, text) {
			t.Errorf("%s: planned by the form", text)
		}
		if own, err := build(text, f.r, f.catalog); err != nil {
			t.Error(err)
		} else if _, err := own.Route(nil); err != nil {
			t.Error(err)
		}
	}
}

// FuzzForm is TestFormsRouteAsTexts for any text.
func FuzzForm(f *testing.F) {
	for _, text := range []string{
		"SELECT * FROM u WHERE id IN (1, 2, 'x') AND age = 5 LIMIT 3, 4",
		"INSERT INTO h (id, a) VALUES (1, 2), (3, NULL),( -4 , 'x') ON DUPLICATE KEY UPDATE a = h.a + 5",
		"UPDATE h SET a = 1 WHERE (id, a) = (5, 6) OR id BETWEEN 7 AND 8",
		"SELECT u.name FROM u JOIN o ON u.id = o.u_id WHERE o.u_id = 7 AND u.price < 1.5 ORDER BY u.age",
		"DELETE FROM v WHERE id = 3 AND a NOT IN (4, 5)",
	} {
		f.Add(text)
	}
	known := newForms(f, typed)
	f.Fuzz(func(t *testing.T, text string) {
		clear(known.plans)
		compareRoutes(t, known, text)
	})
}

// TestBindForgetsTheText plans rows by a form and then by their own text, as a session does where the form's plan does not serve: the
// rows of the first are not those of the second.
func TestBindForgetsTheText(t *testing.T) {
	f := newForms(t, typed)
	for _, text := range []string{
		"INSERT INTO h (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')", "INSERT INTO h (id, name) VALUES (1, 'a'), (2, 'b')",
	} {
		if _, _, ok, err := f.route("INSERT INTO h (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')"); !ok || err != nil {
			t.Fatalf("no form: %v", err)
		}
		p, err := build(text, f.r, f.catalog)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Route(nil)
		if err != nil {
			t.Fatal(err)
		}
		f.e.Bind(p, nil)
		got, err := f.e.Route()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(queryTexts(&want)), fmt.Sprint(queryTexts(&got)); a != b {
			t.Errorf("%s: %s, but %s", text, b, a)
		}
	}
}

func queryTexts(r *Route) (list []string) {
	for _, q := range sent(r) {
		list = append(list, q.Text)
	}
	return list
}
