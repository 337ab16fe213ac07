package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/router"
)

// A statement ends on a node that has most of the sub-tables which it reads, and may as well end on others that have as many.
func TestFinishNodes(t *testing.T) {
	r := finishNodesRouter(t, "")
	for sql, want := range map[string]string{
		"SELECT GROUP_CONCAT(n) FROM even":                                                              "a b c",
		"SELECT GROUP_CONCAT(n) FROM even WHERE id IN (2, 3, 4)":                                        "b",
		"SELECT GROUP_CONCAT(n) FROM odd":                                                               "b c",
		"SELECT GROUP_CONCAT(n) FROM odd WHERE id IN (0, 1)":                                            "a b",
		"SELECT GROUP_CONCAT(n) FROM years":                                                             "a",
		"SELECT GROUP_CONCAT(n) FROM years WHERE at >= '2022-01-01'":                                    "a b",
		"SELECT GROUP_CONCAT(n), owned(1) FROM odd":                                                     "a",
		"SELECT GROUP_CONCAT(n), d.owned(1) FROM odd":                                                   "a",
		"SELECT n, COUNT(*) FROM odd GROUP BY n HAVING COUNT(*) > 1":                                    "b c",
		"SELECT n, COUNT(*) FROM odd WHERE id IN (0, 1) GROUP BY n HAVING COUNT(*) > 1":                 "a b",
		"SELECT COUNT(*) FROM even x JOIN odd y ON x.n = y.n":                                           "b c",
		"SELECT COUNT(*) FROM even x JOIN years y ON x.n = y.n":                                         "a",
		"SELECT COUNT(*) FROM even x JOIN far y ON x.n = y.n":                                           "c",
		"SELECT COUNT(*) FROM even x JOIN one y ON x.n = y.n JOIN even z ON z.n = x.n":                  "c",
		"SELECT COUNT(DISTINCT x.n, z.id) FROM even x JOIN ref y ON x.n = y.n JOIN even z ON z.n = x.n": "b c",
		"SELECT COUNT(*) FROM years x JOIN far y ON x.n = y.n":                                          "a",
		"SELECT COUNT(*) FROM far x JOIN here y ON x.n = y.n JOIN even z ON z.n = x.n":                  "b",
		"SELECT COUNT(*) FROM one x JOIN here y ON x.n = y.n JOIN even z ON z.n = x.n":                  "c b",
		"SELECT COUNT(*), owned(1) FROM one x JOIN here y ON x.n = y.n":                                 "the tables of the statement are on several nodes, with a function",
	} {
		endsOn(t, r, sql, want)
	}
}

// With a scratch node statements end there whose rows would be moved anyway, but for those that need a table of another kind, or a function, where these are.
func TestScratchNode(t *testing.T) {
	r := finishNodesRouter(t, "  scratch: s")
	for sql, want := range map[string]string{
		"SELECT GROUP_CONCAT(n) FROM even":                                                              "s a b c",
		"SELECT GROUP_CONCAT(n) FROM even WHERE id IN (2, 3, 4)":                                        "s b",
		"SELECT GROUP_CONCAT(n) FROM even WHERE id IN (2, 3)":                                           "b",
		"SELECT GROUP_CONCAT(n) FROM even WHERE id IN (2, 3) FOR UPDATE":                                "b",
		"SELECT GROUP_CONCAT(n) FROM even FOR UPDATE":                                                   "a b c",
		"SELECT GROUP_CONCAT(n), owned(1) FROM odd":                                                     "a",
		"SELECT n, COUNT(*) FROM odd GROUP BY n HAVING COUNT(*) > 1":                                    "b c",
		"SELECT COUNT(*) FROM even x JOIN years y ON x.n = y.n":                                         "s a",
		"SELECT COUNT(*) FROM far x JOIN far y ON x.n = y.n":                                            "c",
		"SELECT COUNT(*) FROM even x JOIN one y ON x.n = y.n JOIN even z ON z.n = x.n":                  "c",
		"SELECT COUNT(DISTINCT x.n, z.id) FROM even x JOIN ref y ON x.n = y.n JOIN even z ON z.n = x.n": "s b c",
		"SELECT COUNT(*) FROM even x JOIN everywhere y ON x.n = y.n JOIN even z ON z.n = x.n":           "s a b c",
	} {
		endsOn(t, r, sql, want)
	}
	if on := tablesOn(r, "s"); len(on) > 0 {
		t.Errorf("on the scratch node are %v", on)
	}
}

// finishNodesRouter makes the router of a schema with tables on different ones of its nodes.
func finishNodesRouter(t *testing.T, scratch string) *router.Router {
	t.Helper()
	c, faults := config.Parse([]byte(`addr: 127.0.0.1:9696
user_list: [{user: app, password: sesame}]
nodes:
- {name: a, user: ks, master: "10.0.0.1:3306"}
- {name: b, user: ks, master: "10.0.0.2:3306"}
- {name: c, user: ks, master: "10.0.0.3:3306"}
- {name: s, user: ks, master: "10.0.0.4:3306"}
schema_list:
- user: app
  nodes: [a, b, c]
  default: a
`+scratch+`
  shard:
  - {db: d, table: even, key: id, nodes: [a, b, c], type: hash, locations: [2, 2, 2]}
  - {db: d, table: odd, key: id, nodes: [a, b, c], type: hash, locations: [1, 3, 3]}
  - {db: d, table: years, key: at, nodes: [a, b], type: date_year, date_range: [2020-2022, "2023"]}
  - {db: d, table: far, key: id, nodes: [c], type: hash, locations: [2]}
  - {db: d, table: one, nodes: [c], type: single}
  - {db: d, table: ref, nodes: [b, c], type: reference}
  - {db: d, table: here, nodes: [b], type: single}
  - {db: d, table: everywhere, type: reference}
`), "", config.Options{})
	if c == nil {
		t.Fatal(faults)
	}
	r, err := router.New(c.SchemaList[0], router.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// endsOn checks on which nodes a statement may end, and that it ends there.
func endsOn(t *testing.T, r *router.Router, sql, want string) {
	t.Helper()
	columns := func(*router.Table) (visible, invisible []mysql.ColumnDefinition41) {
		for name, d := range map[string]mysql.ColumnDefinition41{"id": bigint, "n": bigint, "at": datetime} {
			d.Name = name
			visible = append(visible, d)
		}
		return visible, nil
	}
	st, err := parse(sql, r, mysql8)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(st, mysql8, r, "d", columns)
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	route, err := p.Route(nil)
	got := fmt.Sprint(err)
	if f := route.Finishing; f != nil {
		got = strings.Join(f.Nodes, " ")
		for _, node := range f.Nodes {
			on := f.On(node)
			if end := on.Final(nil).Node; end != node {
				t.Errorf("%s: ends on %s, not %s", sql, end, node)
			}
			for _, s := range on.Scratch {
				if s.Like != nil && (s.Like.Node != node || on.Describe.Node != node) {
					t.Errorf("%s: on %s the columns are asked on %s and %s", sql, node, s.Like.Node, on.Describe.Node)
				} else if s.Plain != nil {
					if slices.Contains(tablesOn(r, node), s.Plain.Table) || s.Plain.Node == node {
						t.Errorf("%s: on %s a model is made like %v", sql, node, s.Plain)
					}
				} else if name := s.Model[strings.LastIndex(s.Model, ".")+1:]; s.Like == nil && !slices.Contains(tablesOn(r, node), strings.Trim(name, "`")) {
					t.Errorf("%s: on %s the model is %s", sql, node, s.Model)
				}
			}
		}
		if end := f.Final(nil).Node; end != f.Nodes[0] {
			t.Errorf("%s: ends on %s, not %s", sql, end, f.Nodes[0])
		}
	}
	if !strings.Contains(got, want) || len(want) < 6 && got != want {
		t.Errorf("%s: %s, want %s", sql, got, want)
	}
}

// tablesOn lists the physical tables on a node.
func tablesOn(r *router.Router, node string) (names []string) {
	for _, t := range r.Tables() {
		for _, s := range t.Shards {
			if s.Node == node {
				names = append(names, s.Table)
			}
		}
	}
	return names
}
