package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// idTexts makes random INSERTs into users, whose key is the id, and orders, whose key is not. Names are never the same twice, so that no row is there.
type idTexts struct {
	r     *rand.Rand
	names int
	given int // the largest id
}

func (g *idTexts) one(of ...string) string { return of[g.r.IntN(len(of))] }

// gap is what may stand between two words.
func (g *idTexts) gap() string { return g.one(" ", " ", " ", "\n", " /* (id) values (1) */ ", "\t ") }

// next makes one statement and, of one to be prepared, its values.
func (g *idTexts) next(prepared bool) (text string, values []any) {
	table, brings := g.one("users", "orders"), g.r.IntN(5) == 0 // all rows or none: what a server loses of mixed ones is its own
	value := func(text string, v any) string {
		if prepared && g.r.IntN(2) == 0 {
			values = append(values, v)
			return "?"
		}
		return text
	}
	cell := func(column string) string {
		switch column {
		case "id":
			if brings {
				g.given += 1 + g.r.IntN(3)
				return value(fmt.Sprint(g.given), g.given)
			}
			switch g.r.IntN(8) {
			case 1:
				return value("0", 0)
			case 2:
				return g.one("DEFAULT", "default")
			}
			return value(g.one("NULL", "null"), nil)
		case "user_id":
			n := g.r.IntN(9)
			return value(fmt.Sprint(n), n)
		case "n":
			return value(g.one("7", "1+2", "LENGTH('(a), (b')"), g.r.IntN(9))
		}
		g.names++
		name := fmt.Sprintf("%s%d", g.one("a", "it''s ", "(x), ", "é", "values "), g.names)
		return value("'"+name+"'", strings.ReplaceAll(name, "''", "'"))
	}
	columns := map[string][]string{"users": {"id", "name", "n"}, "orders": {"id", "user_id", "v"}}[table]
	listed := g.r.IntN(5) > 0
	if listed {
		columns = append([]string(nil), columns...)
		g.r.Shuffle(len(columns), func(a, b int) { columns[a], columns[b] = columns[b], columns[a] })
		if g.r.IntN(3) > 0 && !brings {
			for k, c := range columns {
				if c == "id" {
					columns = append(columns[:k], columns[k+1:]...)
					break
				}
			}
		}
	}
	verb := g.one("INSERT INTO", "INSERT INTO", "insert", "REPLACE INTO", "INSERT LOW_PRIORITY INTO")
	name := g.one(table, "`"+table+"`", "shop."+table, "shop . `"+table+"`")
	if listed && g.r.IntN(6) == 0 {
		text = verb + g.gap() + name + g.gap() + "SET"
		sep := " "
		for _, c := range columns {
			if c == "id" {
				brings = true // the rest is refused there
			}
			v := cell(c)
			text += sep + c + " = " + v
			sep = ", "
		}
		return text, values
	}
	text = verb + g.gap() + name
	if listed {
		text += g.gap() + "(" + g.one("", " ") + strings.Join(columns, ","+g.gap()) + ")"
	}
	text += g.gap() + g.one("VALUES", "values", "VALUE") + g.one("", " ")
	for k := range 1 + g.r.IntN(4)*g.r.IntN(2) {
		if k > 0 {
			text += g.one(",", ", ", " ,\n")
		}
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = cell(c)
		}
		text += "(" + strings.Join(cells, g.one(",", ", ")) + ")"
	}
	return text + g.one("", " ", " -- end"), values
}

// Random INSERTs that leave ids to their tables, or bring some, give the rows, the ids and the answers that one server gives.
func TestRandomDrawnIDs(t *testing.T) {
	statements := 250
	if everyCase {
		statements = 5000
	}
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		g := &idTexts{r: rand.New(rand.NewPCG(7, uint64(len(t.Name())))), given: 1}
		both := func(sql string) (want, got *mysqltest.RawResult) {
			return must(t, s.oracle, sql), must(t, s.subject, sql)
		}
		refused := 0
		for n := range statements {
			if g.r.IntN(20) == 0 {
				both(g.one("SET sql_mode = 'ANSI_QUOTES,NO_ZERO_DATE'", "SET sql_mode = DEFAULT", "SET NAMES latin1", "SET NAMES utf8mb4"))
			}
			_, _ = fmt.Sscan(fmt.Sprintf("%s", must(t, s.oracle, "SELECT GREATEST((SELECT COALESCE(MAX(id), 1) FROM users), (SELECT COALESCE(MAX(id), 1) FROM orders))").Rows[0][0]), &g.given)
			prepared := g.r.IntN(3) == 0
			text, values := g.next(prepared)
			if strings.Contains(text, "é") {
				both("SET NAMES utf8mb4")
			}
			var want, got *mysqltest.RawResult
			if prepared {
				for side, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					st, err := c.Prepare(text)
					if err != nil {
						t.Fatal(text, err)
					}
					r, err := st.Execute(values...)
					if err != nil {
						t.Fatal(text, err)
					}
					if side == 0 {
						want = r
					} else {
						got = r
					}
				}
			} else {
				var err error
				if want, err = s.oracle.Query(text); err != nil {
					t.Fatal(err)
				}
				if got, err = s.subject.Query(text); err != nil {
					t.Fatal(err)
				}
			}
			if got.Err != nil || want.Err != nil {
				refused++
			}
			if w, g := toldWithID(want, text), toldWithID(got, text); w != g {
				t.Errorf("%d: %s %v\n got %s %v\nwant %s", n, text, values, g, got.Err, w)
			}
			if w, g := must(t, s.oracle, "SELECT LAST_INSERT_ID()"), must(t, s.subject, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", w.Rows) != fmt.Sprintf("%s", g.Rows) {
				t.Errorf("%d: %s %v: LAST_INSERT_ID() is %s, not %s", n, text, values, g.Rows, w.Rows)
			}
			if n%10 == 0 || t.Failed() {
				s.sameTables(t, text, "users", "orders")
			}
			if t.Failed() {
				return
			}
		}
		s.sameTables(t, "all", "users", "orders")
		if refused > statements/5 {
			t.Errorf("%d of %d failed", refused, statements)
		}
	})
}
