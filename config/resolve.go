package config

import (
	"fmt"
	"slices"
	"strings"
)

// Types of tables that have no key.
const (
	typeReference = "reference"
	typeSingle    = "single"
)

// Resolved gives rule k of the schema with everything filled in that it leaves to others: what it takes over from the
// table of colocate_with, its nodes, and the templates of names. The lists in it are shared with the schema.
func (s *Schema) Resolved(k int) (Shard, error) {
	rule := s.Shard[k]
	if rule.ColocateWith != "" {
		other := s.find(rule.DB, rule.ColocateWith)
		if other < 0 || other == k || s.Shard[other].ColocateWith != "" {
			return Shard{}, fmt.Errorf("must name another table of the schema that has a rule of its own, not %q", rule.ColocateWith)
		}
		with := s.Shard[other]
		rule.Nodes, rule.Type, rule.Locations, rule.TableRowLimit = with.Nodes, with.Type, with.Locations, with.TableRowLimit
		rule.DateRange, rule.Values, rule.Slots, rule.Pin = with.DateRange, with.Values, with.Slots, with.Pin
		rule.Strings, rule.TimeZone, rule.AutoCreate = with.Strings, with.TimeZone, with.AutoCreate
		if with.Tables != nil {
			return Shard{}, fmt.Errorf("must not name a table with a list of tables, as %q is", rule.ColocateWith)
		}
	}
	keyless := rule.Type == typeReference || rule.Type == typeSingle
	if len(rule.Nodes) == 0 && rule.Tables == nil {
		switch rule.Type {
		case typeReference:
			rule.Nodes = s.Nodes
		case typeSingle:
			rule.Nodes = []string{s.Default}
		}
	}
	if rule.SubTable == "" {
		rule.SubTable = "{table}_{index:04}"
		if keyless {
			rule.SubTable = "{table}"
		}
	}
	if rule.SubDB == "" {
		rule.SubDB = "{db}"
	}
	return rule, nil
}

// find gives the rule of a table named as table or db.table, -1 if there is none.
func (s *Schema) find(db, name string) int {
	if before, after, qualified := strings.Cut(name, "."); qualified {
		db, name = before, after
	}
	return slices.IndexFunc(s.Shard, func(rule Shard) bool { return rule.DB == db && rule.Table == name })
}
