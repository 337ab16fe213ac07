package queryrule

import (
	"fmt"
	"net/netip"

	"kingshard/config"
)

// Set is all rules of a configuration, in their order. nil is an empty one.
type Set struct {
	rules []*Rule
}

// New makes the rules of a configuration. previous, which may be nil, hands its counts on to the rules of the same names. Without
// rules it gives nil.
func New(cfg *config.Config, previous *Set) (*Set, error) {
	if len(cfg.QueryRules) == 0 {
		return nil, nil
	}
	s := &Set{rules: make([]*Rule, 0, len(cfg.QueryRules))}
	for k := range cfg.QueryRules {
		q := &cfg.QueryRules[k]
		r, err := newRule(q)
		if err != nil {
			return nil, fmt.Errorf("query_rules[%d] (%s): %w", k, q.Name, err)
		}
		for _, old := range previous.Rules() {
			if old.Name == r.Name {
				r.hits, r.flow, r.Mirrored = old.hits, old.flow, old.Mirrored
			}
		}
		s.rules = append(s.rules, r)
	}
	return s, nil
}

// Rules lists the rules. The list is the set's own.
func (s *Set) Rules() []*Rule {
	if s == nil {
		return nil
	}
	return s.rules
}

// View is the rules that can match what one user sends from one address. It is immutable; nil is an empty one.
type View struct {
	rules []*Rule
	// Places in rules, by names in lower case.
	tables    map[string][]wantedTable
	databases map[string][]int
}

// wantedTable is a table of a rule.
type wantedTable struct {
	rule int
	db   string // "" for any
}

// For gives the rules for a user from addr, which is invalid over a unix socket; nil where there is none.
func (s *Set) For(user string, addr netip.Addr) *View {
	var rules []*Rule
	for _, r := range s.Rules() {
		if r.sends(user, addr) {
			rules = append(rules, r)
		}
	}
	return newView(rules)
}

func newView(rules []*Rule) *View {
	if len(rules) == 0 {
		return nil
	}
	v := &View{rules: rules, tables: map[string][]wantedTable{}, databases: map[string][]int{}}
	for k, r := range rules {
		for _, t := range r.tables {
			v.tables[t.table] = append(v.tables[t.table], wantedTable{k, t.db})
		}
		for _, db := range r.databases {
			v.databases[db] = append(v.databases[db], k)
		}
	}
	return v
}

// Trial is what a rule has to do with a statement.
type Trial struct {
	Rule *Rule
	// Applies says that the rule would act; if not, Why says why it would not though it matches.
	Applies bool
	Why     string
	// Text is what the rule makes of the statement; "" where it changes nothing.
	Text string
}

// Test gives the rules that match a statement of a user from addr, and counts nothing.
func (s *Set) Test(user string, addr netip.Addr, st *Statement) (trials []Trial) {
	var sc Scratch
	over := ""
	for _, r := range s.Rules() {
		if !r.sends(user, addr) {
			continue
		}
		d := newView([]*Rule{r}).Decide(&sc, st)
		if len(d.Hits) == 0 {
			continue
		}
		t := Trial{Rule: r, Applies: over == "" && !r.DryRun}
		switch {
		case over != "":
			t.Why = "rule " + over + " matches first"
		case r.DryRun:
			t.Why = "dry_run: it only counts"
		case d.Fault != "":
			t.Why, over = "the statement is refused: "+d.Fault, r.Name
		case d.Rewrite != nil:
			st = d.Outcome
			t.Text = st.Text
		}
		if t.Applies && !r.Next {
			over = r.Name
		}
		trials = append(trials, t)
	}
	return trials
}
