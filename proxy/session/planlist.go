package session

import (
	"cmp"
	"slices"

	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// KnownPlan is a plan that is kept for all texts of one form.
type KnownPlan struct {
	DB       string // the current database
	Text     string // with ? for literals
	Operator string // what is done when the rows are on several shards, as plan.Operator names it
	Reason   string
}

// Known lists the plans kept by form, and tells how many texts have a plan of their own.
func (p *Plans) Known() (forms []KnownPlan, texts int) {
	if p == nil {
		return nil, 0
	}
	if buckets := p.shapes.buckets.Load(); buckets != nil {
		for k := range buckets {
			for s := buckets[k].Load(); s != nil; s = s.next {
				if s.plan != nil {
					forms = append(forms, KnownPlan{DB: s.db, Text: s.plan.Statement.Text, Operator: s.plan.Operator.Name(), Reason: s.plan.Reason})
				}
			}
		}
	}
	slices.SortFunc(forms, func(a, b KnownPlan) int { return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Text, b.Text)) })
	p.mu.RLock()
	defer p.mu.RUnlock()
	return forms, len(p.plans)
}

// Tables lists the tables with a rule, by database and name.
func (p *Plans) Tables() []*router.Table {
	if p == nil {
		return nil
	}
	return p.exact.Tables()
}

// OnlyDB returns the database of all tables with a rule, "" if they are of several, or there are none.
func (p *Plans) OnlyDB() string {
	if p == nil {
		return ""
	}
	return p.exact.OnlyDB()
}

// Explain gives what a statement would send to which server; nothing for one that names no sharded table. Errors are
// those that the statement itself would get.
func (p *Plans) Explain(text, db string, m sqltext.Mode) ([]plan.Step, error) {
	if p == nil || !p.named(text, m) {
		return nil, nil
	}
	found, err := p.get(text, db, m)
	if err != nil {
		return nil, planError(err)
	}
	if found == nil {
		return nil, nil
	}
	steps, err := plan.Explain(found)
	if err != nil {
		return nil, planError(err)
	}
	return steps, nil
}
