package config

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// subTablesMax bounds the sub-tables of one rule.
const subTablesMax = 1_000_000

var shardTypes = []string{"hash", "range", "date_year", "date_month", "date_day"}

func (c *Config) checkSchemas(r *report) {
	users, nodes := map[string]bool{}, map[string]bool{}
	for _, u := range c.UserList {
		users[u.User] = true
	}
	for _, n := range c.Nodes {
		nodes[n.Name] = true
	}
	first := map[string]int{}
	for k, s := range c.SchemaList {
		path := fmt.Sprintf("schema_list[%d]", k)
		if other, dup := first[s.User]; dup {
			r.fault(path+".user", "user %q already has schema_list[%d]", s.User, other)
		} else {
			first[s.User] = k
		}
		if s.User == "" {
			r.fault(path+".user", "is required")
		} else if !users[s.User] {
			r.warn(path+".user", "user %q is not in user_list: the entry has no effect", s.User)
		}
		s.checkNodes(r, path, nodes)
		s.checkRules(r, path)
	}
}

func (s *Schema) checkNodes(r *report, path string, nodes map[string]bool) {
	if len(s.Nodes) == 0 {
		r.fault(path+".nodes", "is required: at least one node")
	}
	seen := map[string]bool{}
	for k, name := range s.Nodes {
		at := fmt.Sprintf("%s.nodes[%d]", path, k)
		if !nodes[name] {
			r.fault(at, "node %q does not exist in nodes", name)
		}
		if seen[name] {
			r.fault(at, "node %q is listed twice", name)
		}
		seen[name] = true
	}
	if !slices.Contains(s.Nodes, s.Default) {
		r.fault(path+".default", "must be one of the schema's nodes, not %q", s.Default)
	}
}

func (s *Schema) checkRules(r *report, path string) {
	first := map[[2]string]int{}
	for k, rule := range s.Shard {
		at := fmt.Sprintf("%s.shard[%d]", path, k)
		table := [2]string{rule.DB, rule.Table}
		if other, dup := first[table]; dup {
			r.fault(at+".table", "table %q of database %q already has %s.shard[%d]", rule.Table, rule.DB, path, other)
		} else {
			first[table] = k
		}
		rule.check(r, at, s.Nodes)
	}
}

func (s *Shard) check(r *report, path string, schemaNodes []string) {
	for _, f := range []struct{ key, text string }{{"db", s.DB}, {"table", s.Table}, {"key", s.Key}} {
		if f.text == "" {
			r.fault(path+"."+f.key, "is required")
		}
	}
	if len(s.Nodes) == 0 {
		r.fault(path+".nodes", "is required: at least one node")
	}
	for k, name := range s.Nodes {
		if !slices.Contains(schemaNodes, name) {
			r.fault(fmt.Sprintf("%s.nodes[%d]", path, k), "node %q is not among the schema's nodes", name)
		}
	}
	switch {
	case !slices.Contains(shardTypes, s.Type):
		r.fault(path+".type", "must be one of %s, not %q", strings.Join(shardTypes, ", "), s.Type)
	case strings.HasPrefix(s.Type, "date_"):
		s.checkDates(r, path)
	default:
		s.checkLocations(r, path)
	}
}

func (s *Shard) checkLocations(r *report, path string) {
	if len(s.Locations) != len(s.Nodes) {
		r.fault(path+".locations", "has %d entries for %d nodes: give one number of sub-tables for each node", len(s.Locations), len(s.Nodes))
	}
	total := 0
	for k, n := range s.Locations {
		at := fmt.Sprintf("%s.locations[%d]", path, k)
		r.between(at, n, 0, subTablesMax)
		total += min(max(n, 0), subTablesMax)
	}
	if len(s.Locations) > 0 && (total == 0 || total > subTablesMax) {
		r.fault(path+".locations", "must make 1 to %d sub-tables together", subTablesMax)
	}
	if s.Type == "range" {
		r.between(path+".table_row_limit", s.TableRowLimit, 1, math.MaxInt32)
	}
}

func (s *Shard) checkDates(r *report, path string) {
	if len(s.DateRange) != len(s.Nodes) {
		r.fault(path+".date_range", "has %d entries for %d nodes: give one range for each node", len(s.DateRange), len(s.Nodes))
	}
	previous := ""
	for k, text := range s.DateRange {
		at := fmt.Sprintf("%s.date_range[%d]", path, k)
		from, to, err := dateRange(s.Type, text)
		if err != nil {
			r.fault(at, "%v", err)
			continue
		}
		if previous != "" && from <= previous {
			r.fault(at, "must come after the range before it, which ends with %s", previous)
		}
		previous = to
	}
}

// empty tells that a rule was left blank in the file: a lone "-" under shard, or the empty keys that the predecessor's
// save command makes of one.
func (s *Shard) empty() bool {
	return s.DB == "" && s.Table == "" && s.Key == "" && s.Type == "" && s.TableRowLimit == 0 &&
		len(s.Nodes) == 0 && len(s.Locations) == 0 && len(s.DateRange) == 0
}
