package config

import (
	"fmt"
	"slices"
)

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
	c.checkSequences(r)
	c.checkSameIndexes(r)
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
	switch {
	case s.Scratch == "":
	case !nodes[s.Scratch]:
		r.fault(path+".scratch", "node %q does not exist in nodes", s.Scratch)
	case slices.Contains(s.Nodes, s.Scratch):
		r.fault(path+".scratch", "must be none of the schema's nodes, which have tables, and %q is", s.Scratch)
	}
}

func (s *Schema) checkRules(r *report, path string) {
	first := map[[2]string]int{}
	for k := range s.Shard {
		rule := &s.Shard[k]
		at := fmt.Sprintf("%s.shard[%d]", path, k)
		table := [2]string{rule.DB, rule.Table}
		if other, dup := first[table]; dup {
			r.fault(at+".table", "table %q of database %q already has %s.shard[%d]", rule.Table, rule.DB, path, other)
		} else {
			first[table] = k
		}
		s.checkRule(r, at, k)
	}
}
