package plan

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

var update = flag.Bool("update", false, "write the plans into testdata")

// TestGoldens compares the plans of the files' statements with those written there. A file is a list of blocks that begin
// with "SQL" and may have "args"; lines ahead of the first are its comment. -update writes what the planner says now.
func TestGoldens(t *testing.T) {
	r := testRouter(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, blocks := goldenBlocks(string(data))
		if len(blocks) == 0 {
			t.Errorf("%s: no blocks", file)
		}
		out := head
		for _, b := range blocks {
			now := b.show(r)
			if !*update && now != b.want {
				t.Errorf("%s: %s\n got\n%s\nwant\n%s", file, b.sql, now, b.want)
			}
			out += "SQL " + b.sql + "\n"
			if b.args != "" {
				out += "args " + b.args + "\n"
			}
			out += now + "\n"
		}
		if *update {
			if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// golden is a statement with its plan.
type golden struct{ sql, args, want string }

func goldenBlocks(text string) (head string, blocks []golden) {
	for _, line := range strings.SplitAfter(text, "\n") {
		sql, begins := strings.CutPrefix(line, "SQL ")
		args, has := strings.CutPrefix(line, "args ")
		switch {
		case begins:
			blocks = append(blocks, golden{sql: strings.TrimSpace(sql)})
		case len(blocks) == 0:
			head += line
		case has:
			blocks[len(blocks)-1].args = strings.TrimSpace(args)
		case strings.TrimSpace(line) != "":
			blocks[len(blocks)-1].want += line
		}
	}
	return head, blocks
}

// values reads the arguments of a block: numbers, 'text' and NULL, separated by blanks.
func (g golden) values() (args []value.Value) {
	for _, word := range strings.Fields(g.args) {
		n, err := strconv.ParseInt(word, 10, 64)
		switch {
		case word == "NULL":
			args = append(args, value.Value{})
		case err == nil:
			args = append(args, value.NewInt(n))
		default:
			args = append(args, value.NewString(strings.Trim(word, "'")))
		}
	}
	return args
}

// show prints the plan and, where there is one, the route.
func (g golden) show(r *router.Router) string {
	p, err := build(g.sql, r, typed)
	switch {
	case err != nil:
		return "error " + err.Error() + "\n"
	case p == nil:
		return "forwarded\n"
	}
	var b strings.Builder
	b.WriteString("plan " + p.Operator.Name())
	if p.Reason != "" {
		b.WriteString(": " + p.Reason)
	}
	b.WriteString("\n")
	for _, ref := range p.Refs {
		if ref.Table.Kind == router.Sharded {
			fmt.Fprintf(&b, "table %s %s\n", ref.Parsed.Label(), positions(ref.Shards(g.values())))
		}
	}
	route, err := p.Route(g.values())
	if errors.Is(err, ErrDraws) {
		return b.String() + "draws\n"
	}
	if err != nil {
		return b.String() + "error " + err.Error() + "\n"
	}
	showRoute(&b, p, &route)
	return b.String()
}

// positions writes a set: "-" when it is empty.
func positions(set rule.Set) string {
	if len(set) == 0 {
		return "-"
	}
	return strings.Trim(fmt.Sprint([]int(set)), "[]")
}

func showRoute(b *strings.Builder, p *Plan, r *Route) {
	if r.One != nil {
		showQuery(b, "one", r.One)
		return
	}
	for k := range r.Queries {
		showQuery(b, "send", &r.Queries[k])
	}
	var m *Merge
	limited := true
	switch o := r.Operator.(type) {
	case *Merge:
		m, limited = o, o.shape.limit != nil
	case *Choose:
		m = o.Merge
	case *Move:
		e := new(Execution)
		e.Bind(p, nil)
		q := e.NewKeys(r.Positions[0], "")
		if c, chosen := p.Operator.(*Choose); chosen {
			m = c.Merge
			q = e.NewKeys(r.Positions[0], "(chosen)")
		}
		fmt.Fprintf(b, "moves to %s\n", positions(r.Targets))
		showQuery(b, "ask", &q)
	}
	if m != nil {
		hidden := fmt.Sprintf("merge hidden %d", m.Hidden)
		b.WriteString(hidden)
		if limited {
			fmt.Fprintf(b, " offset %d limit %d", r.Offset, r.Limit)
		}
		b.WriteString(strings.TrimPrefix(m.String(), hidden) + "\n")
	}
	f := r.Finishing
	if f == nil {
		return
	}
	names := map[*Ref]string{}
	for k, s := range f.Scratch {
		names[s.Ref] = "scratch" + strconv.Itoa(k)
		if s.Like != nil {
			showQuery(b, "like", s.Like)
		} else {
			fmt.Fprintf(b, "collect %s like %s: %s\n", s.Ref.Parsed.Label(), s.Model, strings.Join(s.Columns, " "))
			if len(s.Key) > 0 {
				fmt.Fprintf(b, "  by %s\n", strings.Join(s.Key, " "))
			}
		}
		for i := range s.Queries {
			showQuery(b, "from", &s.Queries[i])
		}
	}
	if f.Describe != nil {
		showQuery(b, "describe", f.Describe)
	}
	q := f.Final(names)
	showQuery(b, "finish", &q)
}

func showQuery(b *strings.Builder, what string, q *Query) {
	fmt.Fprintf(b, "%s %s: %s\n", what, q.Node, q.Text)
	if len(q.Args) > 0 {
		fmt.Fprintf(b, "  args %s\n", strings.Trim(fmt.Sprint(q.Args), "[]"))
	}
	if q.Describe != "" {
		fmt.Fprintf(b, "  like %s\n", q.Describe)
	}
}

// TestGoldensCoverEveryWay says which ways the files must show.
func TestGoldensCoverEveryWay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			if way, ok := strings.CutPrefix(line, "plan "); ok {
				way, _, _ = strings.Cut(way, ":")
				seen = append(seen, way)
			}
		}
	}
	for _, name := range []string{"refuse", "merge", "write", "insert", "finish", "each", "first", "load", "choose", "number"} { // a move is a route of write and choose
		if !slices.Contains(seen, name) {
			t.Errorf("no plan is %q", name)
		}
	}
}
