package router

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql/value"
	"kingshard/router/rule"
)

func parse(t testing.TB, rules string) config.Schema {
	t.Helper()
	c, faults := config.Parse([]byte(`addr: 127.0.0.1:9696
user_list:
- {user: app, password: sesame}
nodes:
- {name: node1, user: ks, master: "10.0.0.1:3306"}
- {name: node2, user: ks, master: "10.0.0.2:3306"}
- {name: node3, user: ks, master: "10.0.0.3:3306"}
schema_list:
- user: app
  nodes: [node1, node2, node3]
  default: node1
  shard:
`+rules), "", config.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return c.SchemaList[0]
}

func mustNew(t testing.TB, rules string) *Router {
	t.Helper()
	r, err := New(parse(t, rules), Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOtherPlacements(t *testing.T) {
	router := mustNew(t, `
  - {db: k, table: plain, key: id, nodes: [node1, node2], type: mod, sub_table: "{table}"}
  - {db: k, table: dbs, key: id, nodes: [node1, node2], type: hash, locations: [2, 1], sub_db: "{db}_{index:02}", sub_table: "{table}"}
  - {db: k, table: map, key: id, type: mod, tables: [{node: node3, table: map_a}, {node: node1, db: x, table: map_b}]}
  - {db: k, table: months, key: at, type: date_month, date_range: [201601-201602], tables: [{node: node2, table: jan}, {node: node1, table: feb}]}
  - {db: k, table: list, key: c, nodes: [node1, node2], type: list, values: [[de, "1"], [us]]}
  - {db: k, table: ref, type: reference}
  - {db: k, table: one, nodes: [node3], type: single}
  - {db: k, table: big, key: id, nodes: [node1], type: hash, locations: [10001]}
  - {db: k, table: order, key: id, nodes: [node3, node1], type: hash, locations: [1, 1]}
`)
	for name, want := range map[string]string{
		"plain":  "node1/k.plain node2/k.plain",
		"dbs":    "node1/k_00.dbs node1/k_01.dbs node2/k_02.dbs",
		"map":    "node3/k.map_a node1/x.map_b",
		"months": "node2/k.jan node1/k.feb",
		"list":   "node1/k.list_0000 node2/k.list_0001",
		"ref":    "node1/k.ref node2/k.ref node3/k.ref",
		"one":    "node3/k.one",
		"order":  "node3/k.order_0000 node1/k.order_0001", // not a beginning of the schema's nodes, and not in their order
	} {
		var got []string
		for _, s := range router.Table("k", name).Shards {
			got = append(got, s.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if s := router.Table("k", "big").Shards[10000]; s.Table != "big_10000" {
		t.Errorf("%v", s)
	}
	if ref, one := router.Table("k", "ref"), router.Table("k", "one"); ref.Kind != Reference || one.Kind != Single {
		t.Errorf("%v, %v", ref.Kind, one.Kind)
	}
	var names []string
	for _, table := range router.Tables() {
		names = append(names, table.Name)
	}
	if len(names) != 9 || !slices.IsSorted(names) {
		t.Errorf("%v", names)
	}
	if got := eq("1")(router.Table("k", "list")); !slices.Equal(got, rule.Set{0}) {
		t.Errorf("list: %v", got)
	}
	if got := eq(1)(router.Table("k", "list")); !slices.Equal(got, rule.Set{0, 1}) {
		t.Errorf("list: %v, but text such as '01' and '1x' equals a number", got)
	}
}

func TestColocation(t *testing.T) {
	router := mustNew(t, `
  - {db: k, table: a, key: id, nodes: [node1, node2], type: hash, locations: [2, 2]}
  - {db: k, table: same, key: a_id, nodes: [node1, node2], type: hash, locations: [2, 2], sub_table: "{table}{index}"}
  - {db: j, table: with, key: a_id, colocate_with: k.a}
  - {db: k, table: moved, key: id, nodes: [node1, node2], type: hash, locations: [1, 3]}
  - {db: k, table: swapped, key: id, nodes: [node2, node1], type: hash, locations: [2, 2]}
  - {db: k, table: kind, key: id, nodes: [node1, node2], type: crc32, locations: [2, 2]}
  - {db: k, table: folds, key: id, nodes: [node1, node2], type: hash, locations: [2, 2], strings: ascii_ci}
  - {db: k, table: ref, type: reference}
`)
	a := router.Table("k", "a")
	for _, c := range []struct {
		db, name string
		want     bool
	}{
		{"k", "a", true},
		{"k", "same", true},
		{"j", "with", true},
		{"k", "moved", false},
		{"k", "swapped", false},
		{"k", "kind", false},
		{"k", "folds", false},
		{"k", "ref", false},
	} {
		other := router.Table(c.db, c.name)
		if a.Colocated(other) != c.want || other.Colocated(a) != c.want {
			t.Errorf("%s: not %v", c.name, c.want)
		}
	}
}

func TestSeveralKeyColumns(t *testing.T) {
	router := mustNew(t, `
  - {db: k, table: a, key: [tenant, id], nodes: [node1], type: slots, locations: [64], strings: ascii_ci}
`)
	table := router.Table("k", "a")
	place := func(vs ...any) (int, error) {
		var key []value.Value
		for _, v := range vs {
			key = append(key, literal(v))
		}
		position, err := table.Place(key, nil)
		return position, err
	}
	first, err := place("acme", 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range [][]any{{"ACME ", 5}, {"Acme", "005"}} {
		if got, err := place(same...); err != nil || got != first {
			t.Errorf("%v: %d, not %d, %v", same, got, first, err)
		}
	}
	seen := map[int]bool{}
	for id := range 1000 {
		position, _ := place("acme", id)
		seen[position] = true
	}
	if len(seen) != 64 {
		t.Errorf("%d shards are used", len(seen))
	}
	if a, b := mustPlace(t, table, "ab", "c"), mustPlace(t, table, "a", "bc"); a == b {
		t.Error("the columns run together")
	}
	if _, err := place("acme", value.Value{}); !errors.Is(err, rule.ErrNoShard) {
		t.Errorf("NULL: %v", err)
	}
	if got := table.Between(nil, nil, rule.Column{}); len(got) != 64 {
		t.Errorf("%v", got)
	}
}

func mustPlace(t *testing.T, table *Table, vs ...any) int {
	t.Helper()
	var key []value.Value
	for _, v := range vs {
		key = append(key, literal(v))
	}
	position, err := table.Place(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return position
}

func TestLowerCase(t *testing.T) {
	schema := parse(t, `
  - {db: K, table: Orders, key: id, nodes: [node1], type: hash, locations: [2]}
`)
	exact, err := New(schema, Options{Zone: time.UTC})
	if err != nil || exact.Table("k", "orders") != nil || exact.Table("K", "Orders") == nil {
		t.Errorf("names are not compared as they are: %v", err)
	}
	lower, err := New(schema, Options{Zone: time.UTC, LowerCase: true})
	if err != nil || lower.Table("k", "ORDERS") == nil || lower.Table("k", "orders").Shards[1].Table != "orders_0001" {
		t.Errorf("names are compared as they are: %v", err)
	}
	schema.Shard = append(schema.Shard, schema.Shard[0])
	schema.Shard[1].Table = "orders"
	if _, err := New(schema, Options{Zone: time.UTC, LowerCase: true}); err == nil {
		t.Error("two tables of one name are taken")
	}
}

func TestOneShardOfTwoTables(t *testing.T) {
	schema := parse(t, `
  - {db: k, table: a, key: id, nodes: [node1], type: hash, locations: [2]}
  - {db: k, table: b, key: id, type: mod, tables: [{node: node2, table: a_0001}, {node: node1, table: a_0001}]}
`)
	_, err := New(schema, Options{Zone: time.UTC})
	if err == nil || err.Error() != "table k.b: node1/k.a_0001 is already a shard of table k.a" {
		t.Error(err)
	}
}

// A physical table is one shard, by whichever node, table or case it is named, and has a name that servers take.
func TestOneTableOnce(t *testing.T) {
	long := strings.Repeat("é", 60)
	one := map[string]string{"node1": "10.0.0.1:3306", "node2": "10.0.0.1:3306", "node3": "10.0.0.3:3306"}
	for _, c := range []struct {
		rules   string
		opts    Options
		refused string // without a word: it is taken
	}{
		{"  - {db: k, table: r, type: reference}", Options{}, ""},
		{"  - {db: k, table: r, type: reference}", Options{Servers: one}, "table k.r: node2/k.r is the same table as node1/k.r, a shard of table k.r: both nodes are one server"},
		{"  - {db: k, table: r, type: reference, nodes: [node2, node3]}", Options{Servers: one}, ""},
		{"  - {db: k, table: r, type: reference, nodes: [node1, node2], sub_db: '{db}_{index}'}", Options{Servers: one}, ""},
		{"  - {db: k, table: a, key: id, type: mod, nodes: [node1, node2], sub_table: '{table}'}", Options{Servers: one}, "both nodes are one server"},
		{"  - {db: k, table: a, key: id, type: mod, nodes: [node1, node2], locations: [2, 2]}", Options{Servers: one}, ""},
		{"  - {db: k, table: a, key: id, type: mod, nodes: [node1, node2], sub_table: '{table}', sub_db: '{db}{index}'}", Options{Servers: one}, ""},
		{"  - {db: k, table: a, key: id, type: mod, tables: [{node: node1, table: x}, {node: node2, table: x}]}", Options{Servers: one}, "both nodes are one server"},
		{"  - {db: k, table: a, nodes: [node1], type: single}\n  - {db: k, table: b, key: id, type: mod, tables: [{node: node2, table: a}]}", Options{Servers: one}, "table k.b: node2/k.a is the same table as node1/k.a, a shard of table k.a: both nodes are one server"},
		{"  - {db: k, table: a, key: id, type: mod, nodes: [node1]}\n  - {db: k, table: A, key: id, type: mod, nodes: [node1]}", Options{}, ""},
		{"  - {db: k, table: a, key: id, type: mod, tables: [{node: node1, table: x}, {node: node1, table: X}]}", Options{}, ""},
		{"  - {db: k, table: a, key: id, type: mod, tables: [{node: node1, table: x}, {node: node1, table: X}]}", Options{LowerCase: true}, "node1/k.X is the same table as node1/k.x, a shard of table k.a, where case does not count"},
		{"  - {db: k, table: a, key: id, type: mod, tables: [{node: node1, db: d, table: x}, {node: node1, db: D, table: x}]}", Options{LowerCase: true}, "where case does not count"},
		{"  - {db: k, table: " + long + ", type: single}", Options{}, ""},
		{"  - {db: k, table: " + long + ", key: id, type: mod, nodes: [node1]}", Options{}, "has 65 characters: servers take 64"},
		{"  - {db: k, table: " + long + ", key: id, type: date_day, nodes: [node1], date_range: ['20240101']}", Options{}, "has 69 characters: servers take 64"},
		{"  - {db: k, table: a, key: id, type: mod, nodes: [node1], sub_db: '{db}" + long + "xxxx'}", Options{}, "has 65 characters: servers take 64"},
		{"  - {db: k, table: a, key: id, type: mod, nodes: [node1], sub_table: '{table} '}", Options{}, "servers take no name like"},
	} {
		c.opts.Zone = time.UTC
		_, err := New(parse(t, c.rules), c.opts)
		switch {
		case c.refused == "" && err != nil, c.refused != "" && err == nil:
			t.Errorf("%s: %v, want %q", c.rules, err, c.refused)
		case err != nil && !strings.Contains(err.Error(), c.refused):
			t.Errorf("%s: %v, want %q", c.rules, err, c.refused)
		}
	}
}

// TestSamples checks that the sample's rules can be built.
func TestSamples(t *testing.T) {
	c, faults := config.Load("../etc/full.yaml", config.Options{})
	if c == nil {
		t.Fatal(faults)
	}
	r, err := New(c.SchemaList[0], Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	lookups := len(r.Table("shop", "orders").Indexes)
	if lookups != 3 || len(r.Tables()) != len(c.SchemaList[0].Shard)+lookups || !r.Table("shop", "visits").AutoCreate {
		t.Errorf("%d tables", len(r.Tables()))
	}
	if !r.Table("shop", "letters").Colocated(r.Table("shop", "customers")) {
		t.Error("letters are not colocated with customers")
	}
}

func BenchmarkTableAndPlace(b *testing.B) {
	r := mustNew(b, predecessor)
	key := []value.Value{value.NewInt(123456789)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Table("k", "h").Place(key, nil); err != nil {
			b.Fatal(err)
		}
	}
}
