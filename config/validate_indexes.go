package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The words for what becomes of UNIQUE keys that a rule does not name.
const (
	othersLocal  = "local"
	othersGlobal = "global"
)

// LocalUnique reports whether DDL may make UNIQUE keys that hold inside each sub-table only.
func (s *Shard) LocalUnique() bool {
	return slices.ContainsFunc(s.Unique, func(x Index) bool { return x.Others == othersLocal })
}

// GlobalUnique reports whether UNIQUE keys that DDL makes hold over all sub-tables, though the rule does not name them.
func (s *Shard) GlobalUnique() bool {
	return slices.ContainsFunc(s.Unique, func(x Index) bool { return x.Others == othersGlobal })
}

// GivenIndex is a unique index that DDL has given a table whose rule does not name it. No file has one: there others is in the place of columns.
func GivenIndex(name string, columns []string, strings string) Index {
	return Index{Name: name, Columns: columns, Strings: strings, Others: othersGlobal}
}

// Given reports whether DDL has given the index to the table.
func (x *Index) Given() bool { return x.Others == othersGlobal && len(x.Columns) > 0 }

// IndexName returns the name of an index: the one given, or its columns.
func (x *Index) IndexName() string { return cmp.Or(x.Name, strings.Join(x.Columns, "_")) }

// IndexTable is the name of the table that keeps an index.
func (s *Shard) IndexTable(x *Index) string { return "ks_" + s.Table + "_" + x.IndexName() }

// IndexRule is the rule of the table that keeps an index of a table whose rule, which is resolved, is s: one sub-table on each of the nodes.
func (s *Shard) IndexRule(x *Index) Shard {
	rule := Shard{
		DB: s.DB, Table: s.IndexTable(x), Key: x.Columns, Type: "slots", Strings: x.Strings, SubTable: "{table}_{index:04}", SubDB: "{db}",
	}
	add := func(node string) {
		if !slices.Contains(rule.Nodes, node) {
			rule.Nodes = append(rule.Nodes, node)
		}
	}
	for k, node := range s.Nodes {
		if len(s.Locations) == 0 || s.Locations[k] > 0 {
			add(node)
		}
	}
	for _, t := range s.Tables {
		add(t.Node)
	}
	return rule
}

// checkIndexes checks unique and lookup of rule k.
func (s *Schema) checkIndexes(r *report, path string, k int) {
	rule := &s.Shard[k]
	if len(rule.Unique)+len(rule.Lookup) == 0 {
		return
	}
	resolved, err := s.Resolved(k)
	if err != nil {
		return // which is a fault already
	}
	if resolved.Type == typeReference || resolved.Type == typeSingle {
		at := path + ".unique"
		if len(rule.Unique) == 0 {
			at = path + ".lookup"
		}
		r.fault(at, "has no use with type %s, whose keys hold for all rows as they are: remove it", resolved.Type)
		return
	}
	names, others := map[string]string{}, ""
	for _, list := range []struct {
		key     string
		indexes []Index
	}{{"unique", rule.Unique}, {"lookup", rule.Lookup}} {
		for i := range list.indexes {
			x, at := &list.indexes[i], fmt.Sprintf("%s.%s[%d]", path, list.key, i)
			if x.Others != "" {
				rule.checkOthers(r, at, list.key, x)
				if others != "" && list.key == "unique" {
					r.fault(at, "says what becomes of keys that are not named, as %s does: remove one", others)
				}
				others = at
				continue
			}
			rule.checkIndex(r, at, x)
			name := strings.ToLower(x.IndexName())
			if other := names[name]; other != "" {
				r.fault(at, "has the name %s, as %s has: give it another name", x.IndexName(), other)
			}
			names[name] = at
			if s.find(rule.DB, rule.IndexTable(x)) >= 0 {
				r.fault(at, "is kept in the table %s, which has a rule of its own: give it another name", rule.IndexTable(x))
			}
		}
	}
}

func (s *Shard) checkOthers(r *report, at, key string, x *Index) {
	if x.Others != othersLocal && x.Others != othersGlobal {
		r.fault(at+".others", "must be %s or %s, not %q", othersLocal, othersGlobal, x.Others)
	}
	switch {
	case key != "unique":
		r.fault(at, "%s is for unique only", x.Others)
	case len(x.Columns) > 0 || x.Name != "" || x.Strings != "":
		r.fault(at, "others is in the place of columns, name and strings: remove them")
	}
}

func (s *Shard) checkIndex(r *report, at string, x *Index) {
	if len(x.Columns) == 0 {
		r.fault(at+".columns", "is required")
		return
	}
	has := func(columns []string, name string) bool {
		return slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })
	}
	for k, name := range x.Columns {
		if name == "" || has(x.Columns[:k], name) {
			r.fault(fmt.Sprintf("%s.columns[%d]", at, k), "must be the name of a column that is not there yet, not %q", name)
		}
		if strings.HasPrefix(strings.ToLower(name), "ks_") {
			r.fault(fmt.Sprintf("%s.columns[%d]", at, k), "%s begins with ks_, as columns of the proxy's own do: rename it", name)
		}
		if has(s.Key, name) {
			r.fault(fmt.Sprintf("%s.columns[%d]", at, k), "%s is of the sharding key, by which rows are found as it is: a key of it is unique already, and needs no lookup", name)
		}
	}
	if x.Strings != "" {
		r.oneOf(at+".strings", x.Strings, StringFolds...)
	}
	const longest = 64 - len("_0000")
	if name := s.IndexTable(x); len([]rune(name)) > longest {
		r.fault(at+".name", "makes the table %s, whose name is longer than %d characters: give it a shorter name", name, longest)
	}
}
