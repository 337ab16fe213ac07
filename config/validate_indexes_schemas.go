package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// checkSameIndexes checks that rules of different schemas over the same tables keep the same indexes: one that changes rows without an index, or keeps it
// elsewhere, has it lack them.
func (c *Config) checkSameIndexes(r *report) {
	type table struct{ db, name string }
	type use struct {
		path, keeps string
		nodes       []string
	}
	rules := map[table][]use{}
	for k := range c.SchemaList {
		s := &c.SchemaList[k]
		for i := range s.Shard {
			rule, err := s.Resolved(i)
			if err != nil || len(rule.Locations) > 0 && len(rule.Locations) != len(rule.Nodes) {
				continue // which is a fault already
			}
			one := use{fmt.Sprintf("schema_list[%d].shard[%d]", k, i), rule.keeps(), rule.IndexRule(&Index{}).Nodes}
			t := table{rule.DB, rule.Table}
			for _, other := range rules[t] {
				shared := slices.ContainsFunc(one.nodes, func(name string) bool { return slices.Contains(other.nodes, name) })
				if shared && one.keeps != other.keeps {
					r.fault(one.path, "keeps %s, but %s, which is of the same table, keeps %s: who changes rows must keep the same keys over shards", one.keeps, other.path, other.keeps)
					break
				}
			}
			rules[t] = append(rules[t], one)
		}
	}
}

// keeps tells which indexes the rule, which is resolved, has, and where they are kept.
func (s *Shard) keeps() string {
	var all []string
	for _, list := range []struct {
		key     string
		indexes []Index
	}{{"unique", s.Unique}, {"lookup", s.Lookup}} {
		for k := range list.indexes {
			switch x := &list.indexes[k]; x.Others {
			case "":
				all = append(all, fmt.Sprintf("%s %s (%s) with strings %s", list.key, x.IndexName(), strings.Join(x.Columns, ", "), cmp.Or(x.Strings, "exact")))
			case othersGlobal:
				all = append(all, list.key+" "+othersGlobal)
			}
		}
	}
	if len(all) == 0 {
		return "no key over shards"
	}
	slices.Sort(all)
	return fmt.Sprintf("%s, of rows by %s, on %s", strings.Join(all, ", "), strings.Join(s.Key, ", "), strings.Join(s.IndexRule(&Index{}).Nodes, ", "))
}
