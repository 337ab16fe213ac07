package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// subTablesMax bounds the sub-tables of one rule.
const subTablesMax = 1_000_000

var (
	shardTypes = []string{
		"hash", "mod", "crc32", "murmur3", "slots", "range", "list", "date_year", "date_month", "date_day", typeReference, typeSingle,
	}
	severalKeys = []string{"crc32", "murmur3", "slots"}
	textKeys    = []string{"hash", "crc32", "murmur3", "slots", "list"}
)

// checkRule checks rule k of the schema.
func (s *Schema) checkRule(r *report, path string, k int) {
	rule := &s.Shard[k]
	for _, f := range []struct{ key, text string }{{"db", rule.DB}, {"table", rule.Table}} {
		if f.text == "" {
			r.fault(path+"."+f.key, "is required")
		}
	}
	if rule.CrossShard != "" {
		r.oneOf(path+".cross_shard", rule.CrossShard, CrossShards...)
	}
	s.checkSequence(r, path, k)
	s.checkIndexes(r, path, k)
	if rule.ColocateWith != "" {
		s.checkColocated(r, path, k)
		return
	}
	if !slices.Contains(shardTypes, rule.Type) {
		r.fault(path+".type", "must be one of %s, not %q", strings.Join(shardTypes, ", "), rule.Type)
	}
	rule.checkKey(r, path)
	rule.checkNodes(r, path, s.Nodes)
	rule.checkNames(r, path)
	rule.checkOptions(r, path)
	rule.checkPins(r, path)
	switch {
	case !slices.Contains(shardTypes, rule.Type):
	case rule.byDate():
		rule.checkDates(r, path)
	case rule.Type == typeReference || rule.Type == typeSingle:
		rule.checkWhole(r, path)
	default:
		rule.checkLocations(r, path)
	}
}

func (s *Shard) byDate() bool { return strings.HasPrefix(s.Type, "date_") }

func (s *Schema) checkColocated(r *report, path string, k int) {
	rule := &s.Shard[k]
	at := path + ".colocate_with"
	only := Shard{
		DB: rule.DB, Table: rule.Table, Key: rule.Key, SubTable: rule.SubTable, SubDB: rule.SubDB, ColocateWith: rule.ColocateWith, Sequence: rule.Sequence,
		Unique: rule.Unique, Lookup: rule.Lookup, CrossShard: rule.CrossShard,
	}
	if !reflect.DeepEqual(*rule, only) {
		r.fault(at, "replaces all keys of the rule but db, table, key, sub_table, sub_db, sequence, unique, lookup and cross_shard: remove the others")
	}
	resolved, err := s.Resolved(k)
	if err != nil {
		r.fault(at, "%v", err)
		return
	}
	with := s.Shard[s.find(rule.DB, rule.ColocateWith)]
	if resolved.Type == typeReference || resolved.Type == typeSingle {
		r.fault(at, "names a table of type %s, which is colocated with none", resolved.Type)
	} else if len(rule.Key) != len(with.Key) {
		r.fault(path+".key", "has %d columns, but that of %q has %d", len(rule.Key), rule.ColocateWith, len(with.Key))
	}
	resolved.checkNames(r, path)
}

func (s *Shard) checkKey(r *report, path string) {
	at := path + ".key"
	switch keyless := s.Type == typeReference || s.Type == typeSingle; {
	case keyless && len(s.Key) > 0:
		r.fault(at, "has no use with type %s: remove it", s.Type)
	case !keyless && len(s.Key) == 0:
		r.fault(at, "is required")
	case len(s.Key) > 1 && slices.Contains(shardTypes, s.Type) && !slices.Contains(severalKeys, s.Type):
		r.fault(at, "must be one column for type %s; types with several are %s", s.Type, strings.Join(severalKeys, ", "))
	}
	seen := map[string]bool{}
	for k, name := range s.Key {
		if name == "" || seen[strings.ToLower(name)] {
			r.fault(fmt.Sprintf("%s[%d]", at, k), "must be the name of a column that is not there yet, not %q", name)
		}
		seen[strings.ToLower(name)] = true
	}
}

func (s *Shard) checkNodes(r *report, path string, schemaNodes []string) {
	whole := s.Type == typeReference || s.Type == typeSingle
	if len(s.Nodes) == 0 && len(s.Tables) == 0 && !whole {
		r.fault(path+".nodes", "is required: at least one node")
	}
	for k, name := range s.Nodes {
		if !slices.Contains(schemaNodes, name) {
			r.fault(fmt.Sprintf("%s.nodes[%d]", path, k), "node %q is not among the schema's nodes", name)
		}
	}
	if len(s.Tables) == 0 {
		return
	}
	if len(s.Nodes) > 0 || len(s.Locations) > 0 || s.SubTable != "" || s.SubDB != "" {
		r.fault(path+".tables", "replaces nodes, locations, sub_table and sub_db: remove them")
	}
	seen := map[PhysicalTable]bool{}
	for k, t := range s.Tables {
		at := fmt.Sprintf("%s.tables[%d]", path, k)
		if !slices.Contains(schemaNodes, t.Node) {
			r.fault(at+".node", "node %q is not among the schema's nodes", t.Node)
		}
		if t.Table == "" {
			r.fault(at+".table", "is required")
		}
		if t.DB == "" {
			t.DB = s.DB
		}
		if seen[t] {
			r.fault(at+".table", "%v is listed twice", t)
		}
		seen[t] = true
	}
}

// checkNames checks the templates of names: two sub-tables on one node need different names.
func (s *Shard) checkNames(r *report, path string) {
	indexed := s.SubTable == "" && s.Type != typeReference && s.Type != typeSingle
	for _, f := range []struct{ key, text string }{{"sub_table", s.SubTable}, {"sub_db", s.SubDB}} {
		if f.text == "" {
			continue
		}
		t, err := ParseNameTemplate(f.text)
		if err != nil {
			r.fault(path+"."+f.key, "%v", err)
			return
		}
		indexed = indexed || t.indexed()
	}
	several := s.byDate()
	seen := map[string]bool{}
	for k, node := range s.Nodes {
		several = several || seen[node] || k < len(s.Locations) && s.Locations[k] > 1
		seen[node] = true
	}
	if several && !indexed && len(s.Tables) == 0 {
		r.fault(path+".sub_table", "must contain {index}, as a node has several of the sub-tables")
	}
}

// StringFolds are the values of strings.
var StringFolds = []string{
	"exact", "ascii_ci", "utf8mb4_bin_v1", "utf8mb4_general_ci_v1", "utf8mb4_unicode_ci_v1", "utf8mb4_unicode_520_ci_v1", "utf8mb4_0900_ai_ci_v1",
	"utf8mb4_uca1400_ai_ci_v1", "latin1_swedish_ci_v1",
}

func (s *Shard) checkOptions(r *report, path string) {
	for _, f := range []struct {
		key   string
		set   bool
		types []string
	}{
		{"values", len(s.Values) > 0, []string{"list"}},
		{"slots", len(s.Slots) > 0, []string{"slots"}},
		{"strings", s.Strings != "", textKeys},
		{"time_zone", s.TimeZone != "", []string{"date_year", "date_month", "date_day"}},
		{"auto_create", s.AutoCreate, []string{"date_year", "date_month", "date_day"}},
	} {
		if f.set && slices.Contains(shardTypes, s.Type) && !slices.Contains(f.types, s.Type) {
			r.fault(path+"."+f.key, "is for type %s only", strings.Join(f.types, ", "))
		}
	}
	if s.Strings != "" {
		r.oneOf(path+".strings", s.Strings, StringFolds...)
	}
	if s.TimeZone != "" {
		if _, err := TimeZone(s.TimeZone); err != nil {
			r.fault(path+".time_zone", "%v", err)
		}
	}
}

// subTables is the number of sub-tables of a rule that is not by date.
func (s *Shard) subTables() int {
	switch {
	case len(s.Tables) > 0:
		return len(s.Tables)
	case len(s.Locations) == 0:
		return len(s.Nodes)
	}
	total := 0
	for _, n := range s.Locations {
		total += min(max(n, 0), subTablesMax)
	}
	return total
}

func (s *Shard) checkLocations(r *report, path string) {
	if len(s.Locations) > 0 && len(s.Tables) == 0 && len(s.Locations) != len(s.Nodes) {
		r.fault(path+".locations", "has %d entries for %d nodes: give one number of sub-tables for each node", len(s.Locations), len(s.Nodes))
	}
	for k, n := range s.Locations {
		r.between(fmt.Sprintf("%s.locations[%d]", path, k), n, 0, subTablesMax)
	}
	total := s.subTables()
	if len(s.Locations) > 0 && (total == 0 || total > subTablesMax) {
		r.fault(path+".locations", "must make 1 to %d sub-tables together", subTablesMax)
		return
	}
	if total == 0 {
		return // nodes are missing, which is a fault already
	}
	switch s.Type {
	case "range":
		r.between(path+".table_row_limit", s.TableRowLimit, 1, math.MaxInt32)
	case "slots":
		if _, err := s.SlotMap(total); err != nil {
			r.fault(path+".slots", "%v", err)
		}
	case "list":
		s.checkValues(r, path, total)
	}
}

func (s *Shard) checkValues(r *report, path string, total int) {
	if len(s.Values) != total {
		r.fault(path+".values", "has %d entries for %d sub-tables: give the keys of each", len(s.Values), total)
	}
	first := map[string]int{}
	for k, keys := range s.Values {
		at := fmt.Sprintf("%s.values[%d]", path, k)
		if len(keys) == 0 {
			r.fault(at, "must list one key at least")
		}
		for _, key := range keys {
			// Digits are the number they spell, as in the rule itself.
			if key != "" && strings.Trim(key, "0123456789") == "" {
				key = strings.TrimLeft(key[:len(key)-1], "0") + key[len(key)-1:]
			}
			if other, dup := first[key]; dup {
				r.fault(at, "key %q is also in values[%d]", key, other)
			}
			first[key] = k
		}
	}
}

// checkWhole checks a rule without a key: every node has all of the table.
func (s *Shard) checkWhole(r *report, path string) {
	if len(s.Locations) > 0 {
		r.fault(path+".locations", "has no use with type %s: remove it", s.Type)
	}
	if s.Type == typeSingle && len(s.Nodes)+len(s.Tables) > 1 {
		r.fault(path+".nodes", "must be one node for type single, not %d", len(s.Nodes)+len(s.Tables))
	}
}

func (s *Shard) checkDates(r *report, path string) {
	if len(s.Tables) == 0 && len(s.DateRange) != len(s.Nodes) {
		r.fault(path+".date_range", "has %d entries for %d nodes: give one range for each node", len(s.DateRange), len(s.Nodes))
	}
	previous, total := "", 0
	for k, text := range s.DateRange {
		at := fmt.Sprintf("%s.date_range[%d]", path, k)
		from, to, err := DateRange(s.Type, text)
		if err != nil {
			r.fault(at, "%v", err)
			continue
		}
		if previous != "" && from <= previous {
			r.fault(at, "must come after the range before it, which ends with %s", previous)
		}
		previous = to
		total += dateCount(s.Type, from, to)
	}
	if total > subTablesMax {
		r.fault(path+".date_range", "must make %d sub-tables at most, not %d", subTablesMax, total)
	}
	if len(s.Tables) > 0 && len(s.Tables) != total {
		r.fault(path+".tables", "has %d entries for %d dates: give one for each", len(s.Tables), total)
	}
}

// empty tells that a rule was left blank in the file: a lone "-" under shard, or the empty keys that the predecessor's
// save command makes of one.
func (s *Shard) empty() bool { return reflect.ValueOf(s).Elem().IsZero() }
