package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql/value"
	"kingshard/router/rule"
)

// movedRules are rules that a table may have before and after a reload: every kind with every key of the configuration in
// several ways.
var movedRules = []string{
	"key: id, nodes: [node1, node2], type: hash, locations: [2, 2]", "key: id, nodes: [node1, node2], type: hash, locations: [2, 2], sub_table: 'x_{index}'",
	"key: id, nodes: [node2, node1], type: hash, locations: [2, 2]", "key: id, nodes: [node1, node2], type: hash, locations: [3, 2]", "key: ID, nodes: [node1, node2], type: hash, locations: [2, 2]",
	"key: id, nodes: [node1, node2], type: hash, locations: [4, 4]", "key: id, nodes: [node1, node2], type: hash, locations: [2, 2], strings: ascii_ci", "key: other, nodes: [node1, node2], type: hash, locations: [2, 2]",
	"key: id, type: hash, tables: [{node: node1, table: t_0000}, {node: node1, table: t_0001}, {node: node2, table: t_0002}, {node: node2, table: t_0003}]",
	"key: id, nodes: [node1, node2], type: hash, locations: [2, 2], sub_db: 'd_{db}'", "key: id, nodes: [node1], type: hash", "key: id, nodes: [node1], type: mod", "key: id, nodes: [node1], type: crc32",
	"key: id, nodes: [node1, node2], type: mod, locations: [2, 2]", "key: id, nodes: [node1, node2], type: crc32, locations: [2, 2]", "key: [id, b], nodes: [node1, node2], type: crc32, locations: [2, 2]",
	"key: [b, id], nodes: [node1, node2], type: crc32, locations: [2, 2]", "key: id, nodes: [node1, node2], type: murmur3, locations: [2, 2]", "key: id, nodes: [node1, node2], type: slots, locations: [2, 2]",
	"key: id, nodes: [node1, node2], type: slots, locations: [1, 1]", "key: id, nodes: [node1, node2], type: slots, locations: [1, 1], slots: [0-2047, 2048-4095]",
	"key: id, nodes: [node1, node2], type: slots, locations: [1, 1], slots: [0-2048, 2049-4095]", "key: id, nodes: [node1, node2], type: range, locations: [2, 2], table_row_limit: 100",
	"key: id, nodes: [node1, node2], type: range, locations: [2, 3], table_row_limit: 100", "key: id, nodes: [node1, node2], type: range, locations: [2, 2], table_row_limit: 200",
	"key: id, nodes: [node1], type: range, table_row_limit: 100", "key: id, nodes: [node1], type: range, table_row_limit: 200",
	"key: id, nodes: [node1, node2], type: hash, locations: [2, 2], pin: {2999: node1}", "key: id, nodes: [node1, node2], type: hash, locations: [2, 2], pin: {2999: node2}",
	"key: id, nodes: [node1, node2], type: hash, locations: [2, 2], pin: {2999: node1, KEY7: node1, key8: node2}", "key: id, nodes: [node1, node2], type: hash, locations: [2, 2], strings: ascii_ci, pin: {key7: node2}",
	"key: id, nodes: [node1, node2], type: range, locations: [2, 2], table_row_limit: 100, pin: {7: node1}", "key: id, nodes: [node1, node2], type: range, locations: [2, 2], table_row_limit: 100, pin: {7: node2, 399: node1}",
	"key: id, nodes: [node1, node2], type: crc32, locations: [2, 2], pin: {'7.5': node1, 8.50: node2}", "key: id, nodes: [node1, node2], type: slots, locations: [2, 2], pin: {7: node1, 8: node2}",
	"key: id, nodes: [node1, node2], type: list, values: [[a, '1'], [b]]", "key: id, nodes: [node1, node2], type: list, values: [[a, '1', c], [b, '2']]", "key: id, nodes: [node1, node2], type: list, values: [[a], [b, '1']]",
	"key: id, nodes: [node1, node2], type: list, values: [[a, '1'], [b]], strings: ascii_ci", "key: id, nodes: [node1, node2], type: list, values: [[a, '1'], [b], [c]], locations: [1, 2]",
	"key: id, nodes: [node1, node2], type: date_month, date_range: [202401-202402, 202403]", "key: id, nodes: [node1, node2], type: date_month, date_range: [202401-202402, 202403-202405]",
	"key: id, nodes: [node1, node2], type: date_month, date_range: [202401, 202402-202403]", "key: id, nodes: [node1, node2], type: date_month, date_range: [202401-202402, 202403], time_zone: '+08:00'",
	"key: id, nodes: [node1, node2], type: date_month, date_range: [202401-202402, 202403], auto_create: true", "key: id, nodes: [node1, node2], type: date_year, date_range: [2023, 2024]",
	"key: id, nodes: [node1, node2], type: date_day, date_range: [20240101-20240102, 20240103]", "type: reference, nodes: [node1, node2]", "type: reference, nodes: [node1]", "type: reference",
	"key: id, nodes: [node1, node2], type: hash, locations: [2, 2], lookup: [city], unique: [b]", "key: id, nodes: [node1, node2], type: hash, locations: [2, 2], lookup: [{columns: city, strings: ascii_ci}]",
	"type: single, nodes: [node2]", "type: single", "",
}

// changed replaces in a text what is written as old>new.
func changed(text, options string) string {
	if old, now, ok := strings.Cut(options, ">"); ok {
		return strings.ReplaceAll(text, old, now)
	}
	return text
}

func movedConfig(t *testing.T, rule, options string) *config.Config {
	t.Helper()
	text := "addr: 127.0.0.1:9696\nuser_list:\n- {user: app, password: sesame}\nnodes:\n"
	for k := 1; k <= 3; k++ {
		text += fmt.Sprintf("- {name: node%d, user: ks, master: \"10.0.0.%d:3306\"}\n", k, k)
	}
	text += "schema_list:\n- user: app\n  nodes: [node1, node2]\n  default: node1\n  shard:\n  - {db: k, table: never, key: id, nodes: [node1], type: hash}\n"
	if rule != "" {
		text += "  - {db: k, table: t, " + rule + "}\n"
	}
	c, faults := config.Parse([]byte(changed(text, options)), "", config.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return c
}

// rowsOf gives where each of many rows lies, "" for a row that would be refused.
func rowsOf(t *testing.T, c *config.Config, rows []map[string]value.Value) (places []string) {
	t.Helper()
	r, err := New(c.SchemaList[0], Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	table := r.Table("k", "t")
	for _, row := range rows {
		place := r.Default() + "/k.t"
		if table != nil {
			var key []value.Value
			for _, column := range table.Keys {
				key = append(key, row[column])
			}
			switch at, err := 0, error(nil); {
			case table.Kind == Reference:
				place = fmt.Sprint(table.Shards)
			default:
				v, err2 := rule.Join(table.Rule, key)
				if at, err = table.Rule.Find(v); err != nil || err2 != nil {
					place = ""
				} else {
					place = table.Shards[at].String()
				}
			}
		}
		places = append(places, place)
	}
	return places
}

// TestMoved changes every rule into every other one: the change is refused exactly where a row of many is elsewhere then.
func TestMoved(t *testing.T) {
	var rows []map[string]value.Value
	for n := range int64(3000) {
		for _, v := range []value.Value{
			value.NewInt(n), value.NewInt(-n), value.NewDecimal(fmt.Sprintf("%d.5", n)), value.NewInt(1704067200 - 40*86400 + n*7200), value.NewString(fmt.Sprintf("key%d", n)), value.NewString(fmt.Sprintf("KEY%d", n)),
			value.NewString(time.Unix(1704067200+n*7200, 0).UTC().Format("2006-01-02 15:04:05")), value.NewString([]string{"a", "b", "c", "A", "B", "1", "2"}[n%7]),
		} {
			rows = append(rows, map[string]value.Value{"id": v, "b": value.NewInt(n), "other": value.NewInt(n + 1)})
		}
	}
	refused, allowed := 0, 0
	var places [][]string
	for _, r := range movedRules {
		places = append(places, rowsOf(t, movedConfig(t, r, ""), rows))
	}
	for i, before := range movedRules {
		old, was := movedConfig(t, before, ""), places[i]
		for j, after := range movedRules {
			now, is := movedConfig(t, after, ""), places[j]
			elsewhere := false
			switch {
			case before == "": // a rule for a table that had none is for a new table
			case strings.Contains(before, "reference") && strings.Contains(after, "reference"):
				elsewhere = strings.Contains(before, "nodes: [node1]") && is[0] != was[0] // a copy that nobody has made
			default:
				for k := range was {
					elsewhere = elsewhere || was[k] != "" && was[k] != is[k]
				}
			}
			moved, err := Moved(old, now, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			if elsewhere != (len(moved) > 0) {
				t.Errorf("%s\nto %s:\nrows move %v, found %v", before, after, elsewhere, moved)
			}
			if elsewhere {
				refused++
				if m := (Movement{"app", "k", "t"}); !slices.Equal(moved, []Movement{m}) || m.Path() != "schema_list[app].shard[k.t]" {
					t.Errorf("%s to %s: %v", before, after, moved)
				}
			} else {
				allowed++
			}
		}
	}
	t.Logf("%d changes, %d refused", refused+allowed, refused)
	if refused < 1000 || allowed < 2*len(movedRules) {
		t.Errorf("%d refused, %d allowed", refused, allowed)
	}
}

// TestMovedBySchema changes what rules take from their schema.
func TestMovedBySchema(t *testing.T) {
	for _, c := range []struct {
		rule, options string
		want          []string
	}{
		{"type: reference", "nodes: [node1, node2]\n>nodes: [node1, node2, node3]\n", []string{"schema_list[app].shard[k.t]"}},
		{"type: reference, nodes: [node1]", "nodes: [node1, node2]\n>nodes: [node1, node2, node3]\n", nil},
		{"type: single", "default: node1>default: node2", []string{"schema_list[app].default", "schema_list[app].shard[k.t]"}},
		{"type: single, nodes: [node2]", "default: node1>default: node2", []string{"schema_list[app].default"}},
		{"key: id, colocate_with: never", "type: hash>type: crc32", nil},
		{"key: id, colocate_with: never", "nodes: [node1], type: hash>nodes: [node1], locations: [2], type: hash", []string{"schema_list[app].shard[k.never]", "schema_list[app].shard[k.t]"}},
		{"key: id, nodes: [node1], type: hash", "user: app>user: web", nil},
		{"key: id, nodes: [node1], type: hash", "10.0.0.1>10.0.0.9", nil},
	} {
		now := movedConfig(t, c.rule, c.options)
		moved, err := Moved(movedConfig(t, c.rule, ""), now, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range moved {
			got = append(got, m.Path())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %v, want %v", c.rule, c.options, got, c.want)
		}
	}
}
