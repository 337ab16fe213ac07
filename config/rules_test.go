package config

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestNameTemplates(t *testing.T) {
	names := Names{DB: "shop", Table: "orders", Index: 7}
	for text, want := range map[string]string{
		"{table}_{index:04}":  "orders_0007",
		"{table}":             "orders",
		"{db}x{index}":        "shopx7",
		"{index:02}-{index}y": "07-7y",
		"plain":               "plain",
	} {
		p, err := ParseNameTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := p.Name(names); got != want || p.indexed() != strings.Contains(text, "{index") {
			t.Errorf("%s: %q, indexed %v", text, got, p.indexed())
		}
	}
	if p, _ := ParseNameTemplate("{index:04}"); p.Name(Names{Index: 20160306}) != "20160306" {
		t.Error("an index longer than its digits is cut")
	}
	for _, text := range []string{"", "{", "}", "{}", "{index:0}", "{index:00}", "{index:010}", "{index:4}", "{Table}", "a}b", "{{table}}"} {
		if _, err := ParseNameTemplate(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestSlotMap(t *testing.T) {
	s := Shard{}
	even, err := s.SlotMap(3)
	if err != nil || even[0] != 0 || even[1365] != 0 || even[1366] != 1 || even[4095] != 2 {
		t.Errorf("even shares: %v", err)
	}
	s.Slots = []string{"0-9, 4095", "10-4094"}
	given, err := s.SlotMap(2)
	if err != nil || given[9] != 0 || given[10] != 1 || given[4094] != 1 || given[4095] != 0 {
		t.Errorf("given: %v", err)
	}
	for _, slots := range [][]string{{"", "0-4095"}, {"0--1", "1"}, {"5-4", "0-4095"}, {"x", "0-4095"}} {
		s.Slots = slots
		if _, err := s.SlotMap(2); err == nil {
			t.Errorf("%q are taken", slots)
		}
	}
}

func TestTimeZones(t *testing.T) {
	at := time.Unix(1457242646, 0)
	for name, want := range map[string]string{"UTC": "05:37", "+08:00": "13:37", "-03:30": "02:07", "Asia/Shanghai": "13:37"} {
		zone, err := TimeZone(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.In(zone).Format("15:04"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, name := range []string{"", "Local", "+8", "../etc/passwd", "nowhere"} {
		if _, err := TimeZone(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestResolved(t *testing.T) {
	c := mustParse(t, strings.Replace(minimal, "default: node1}", `default: node1, shard: [
  {db: d, table: a, key: id, nodes: [node1], type: slots, locations: [4], strings: ascii_ci, pin: {7: node1, Ab: node1}},
  {db: e, table: b, key: [ID], colocate_with: d.a, sub_db: "{db}_x"}, {db: d, table: c, type: reference}, {db: d, table: s, type: single}, {key: ""}]}`, 1))
	s := c.SchemaList[0]
	if len(s.Shard) != 4 {
		t.Fatalf("%d rules: an empty one was kept", len(s.Shard))
	}
	want := []Shard{
		{DB: "d", Table: "a", Key: Columns{"id"}, Nodes: []string{"node1"}, Type: "slots", Locations: []int{4}, Strings: "ascii_ci", Pin: Pins{"7": "node1", "Ab": "node1"}, SubTable: "{table}_{index:04}", SubDB: "{db}"},
		{
			DB: "e", Table: "b", Key: Columns{"ID"}, Nodes: []string{"node1"}, Type: "slots", Locations: []int{4}, Strings: "ascii_ci", Pin: Pins{"7": "node1", "Ab": "node1"},
			ColocateWith: "d.a", SubTable: "{table}_{index:04}", SubDB: "{db}_x",
		},
		{DB: "d", Table: "c", Type: "reference", Nodes: []string{"node1"}, SubTable: "{table}", SubDB: "{db}"},
		{DB: "d", Table: "s", Type: "single", Nodes: []string{"node1"}, SubTable: "{table}", SubDB: "{db}"},
	}
	for k := range want {
		if got, err := s.Resolved(k); err != nil || !reflect.DeepEqual(got, want[k]) {
			t.Errorf("%d: %+v, %v", k, got, err)
		}
	}
}

// TestDiffOfTables checks that the order of a rule's own tables and values counts, which is their placement.
func TestDiffOfTables(t *testing.T) {
	file := func(tables, values, pin string) *Config {
		return mustParse(t, strings.Replace(minimal, "default: node1}", `default: node1, shard: [
  {db: d, table: a, key: id, type: mod, tables: [`+tables+`]}, {db: d, table: b, key: k, type: list, nodes: [node1, node1], values: [`+values+`]},
  {db: d, table: c, key: k, type: hash, nodes: [node1], pin: {`+pin+`}}]}`, 1))
	}
	old := file("{node: node1, table: x}, {node: node1, db: e, table: y}", "[a, b], [c]", "7: node1, Ab: node1")
	new := file("{node: node1, db: e, table: y}, {node: node1, table: x}", "[a], [b, c]", "7: node1")
	want := []Change{
		{"schema_list[app].shard[d.a].tables", "node1/x, node1/e.y", "node1/e.y, node1/x", true},
		{"schema_list[app].shard[d.b].values", "[a, b], [c]", "[a], [b, c]", true},
		{"schema_list[app].shard[d.c].pin", "7: node1, Ab: node1", "7: node1", true},
	}
	if got := Diff(old, new); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
