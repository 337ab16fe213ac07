package router

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kingshard/config"
)

// Router finds the tables that have a rule. It is not changed after New, and any goroutine may use it.
type Router struct {
	defaultNode string
	scratch     string
	lowerCase   bool
	tables      map[string]map[string]*Table // by database and name
	sorted      []*Table
	names       func() map[string][]physical // see named
}

// Options are what a Router needs beyond the schema.
type Options struct {
	// Zone is the time zone of date rules that name none. Required.
	Zone *time.Location
	// LowerCase compares names of databases and tables without regard to case, as servers with lower_case_table_names do.
	LowerCase bool
	// Servers tells by their names on which server nodes are; one that is not there has a server of its own.
	Servers map[string]string
}

// New makes the router of a schema whose configuration has been validated.
func New(schema config.Schema, opts Options) (*Router, error) {
	r := &Router{defaultNode: schema.Default, scratch: schema.Scratch, lowerCase: opts.LowerCase, tables: map[string]map[string]*Table{}}
	taken := claims{opts: opts, by: map[Shard]claim{}}
	for k := range schema.Shard {
		s, err := schema.Resolved(k)
		if err != nil {
			return nil, fmt.Errorf("table %s.%s: %w", schema.Shard[k].DB, schema.Shard[k].Table, err)
		}
		if opts.LowerCase {
			s.DB, s.Table = strings.ToLower(s.DB), strings.ToLower(s.Table)
		}
		t, err := newTable(&s, opts.Zone)
		if err != nil {
			return nil, fmt.Errorf("table %s.%s: %w", s.DB, s.Table, err)
		}
		for _, t := range append([]*Table{t}, t.Lookups()...) {
			if err := taken.add(t); err != nil {
				return nil, fmt.Errorf("table %s.%s: %w", t.DB, t.Name, err)
			}
			if r.tables[t.DB] == nil {
				r.tables[t.DB] = map[string]*Table{}
			}
			if r.tables[t.DB][t.Name] != nil {
				return nil, fmt.Errorf("table %s.%s: has two rules", t.DB, t.Name)
			}
			r.tables[t.DB][t.Name] = t
			r.sorted = append(r.sorted, t)
		}
	}
	slices.SortFunc(r.sorted, func(a, b *Table) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Name, b.Name)) })
	r.names = sync.OnceValue(r.named)
	return r, nil
}

// Scratch returns the node that is there for the end of statements whose rows are collected, "" without one.
func (r *Router) Scratch() string { return r.scratch }

// Table gives the table of a database, nil if no rule is about it: it is on the default node.
func (r *Router) Table(db, name string) *Table {
	if len(r.sorted) == 0 {
		return nil
	}
	if r.lowerCase {
		db, name = strings.ToLower(db), strings.ToLower(name)
	}
	return r.tables[db][name]
}

// Tables gives all tables by database and name. The list is the Router's own.
func (r *Router) Tables() []*Table { return r.sorted }

// OnlyDB returns the database of all tables with a rule, "" if they are of several, or there are none.
func (r *Router) OnlyDB() string {
	n := len(r.sorted)
	if n == 0 || r.sorted[0].DB != r.sorted[n-1].DB {
		return ""
	}
	return r.sorted[0].DB
}

// Default is the node of everything that has no rule.
func (r *Router) Default() string { return r.defaultNode }
