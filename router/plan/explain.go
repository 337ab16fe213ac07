package plan

import (
	"errors"
	"strconv"

	"kingshard/router"
)

// Step is a row of EXPLAIN: a statement that a server gets.
type Step struct {
	Plan, Reason, Node string
	Shards             []string
	SQL                string
	// Scratch names the temporary table that a gather fills; it is empty for all others.
	Scratch string
	// Help says what would have the statement ask fewer shards, or the shards do more of it: in the first step of those of a plan.
	Help string
}

// Explain shows what a plan sends without values for parameters. A statement that is refused has what would help it behind the reason.
func Explain(p *Plan) ([]Step, error) {
	steps, err := explained(p)
	switch {
	case err != nil:
		if help := p.Advice(); help != "" && IsRefusal(err) {
			err = Refuse("%s; %s", err, help)
		}
		return nil, err
	case len(steps) > 0:
		steps[0].Help = p.Advice()
	}
	return steps, nil
}

func explained(p *Plan) ([]Step, error) {
	r, err := p.Route(nil)
	if errors.Is(err, ErrDraws) {
		s := Step{Plan: p.Operator.Name(), Reason: "ids are drawn for its rows first", SQL: p.Statement.Text}
		for _, shard := range p.Target.Table.Shards {
			s.Shards = append(s.Shards, shard.DB+"."+shard.Table)
		}
		return []Step{s}, nil
	}
	switch o := p.Operator.(type) {
	case *Transfer:
		if errors.Is(err, ErrTransfers) {
			return p.composed(": these rows are read, and inserted as those of VALUES", p.Statement.Text[o.Query.Pos:o.Query.End]), nil
		}
	case *Pick:
		if errors.Is(err, ErrPicks) {
			return p.composed(": this query finds the rows, which are changed by their keys", o.Query), nil
		}
	}
	if err != nil {
		return nil, err
	}
	if r.One != nil {
		return []Step{StepOf("forward", "", r.One)}, nil
	}
	var steps []Step
	name, reason := p.Operator.Name(), p.Reason
	if _, moves := r.Operator.(*Move); moves {
		name, reason = r.Operator.Name(), "rows may get a sharding key of another shard: those that do move there"
	}
	for k := range r.Queries {
		steps = append(steps, StepOf(name, reason, &r.Queries[k]))
	}
	f := r.Finishing
	if f == nil {
		return steps, nil
	}
	for _, s := range f.Scratch {
		for k := range s.Queries {
			steps = append(steps, GatherOf(p, s.Ref, &s.Queries[k]))
		}
	}
	q := f.Final(nil)
	q.Shards = nil
	if f.Describe == nil {
		q.Text = p.Statement.Text
	}
	return append(steps, StepOf(p.Operator.Name(), p.Reason, &q)), nil
}

// composed is the step of a statement that others carry out, of which the first is query.
func (p *Plan) composed(how, query string) []Step {
	s := Step{Plan: p.Operator.Name(), Reason: p.Reason + how, SQL: query}
	for _, r := range p.Changed() {
		for _, shard := range r.Table.Shards {
			s.Shards = append(s.Shards, shard.DB+"."+shard.Table)
		}
	}
	return []Step{s}
}

// StepOf is the step that sends a query.
func StepOf(kind, reason string, q *Query) Step {
	s := Step{Plan: kind, Reason: reason, Node: q.Node, SQL: q.Text}
	for _, shard := range q.Shards {
		s.Shards = append(s.Shards, shard.DB+"."+shard.Table)
	}
	return s
}

// GatherOf is the step that collects rows of a reference of p, whose temporary table has the reference's label for a name, and a number where others have it too.
func GatherOf(p *Plan, r *Ref, q *Query) Step {
	s := StepOf("gather", p.Reason, q)
	s.Scratch = r.Parsed.Label()
	n := 1
	for _, other := range p.Refs[:r.index] {
		if lower(other.Parsed.Label()) == lower(s.Scratch) {
			n++
		}
	}
	if n > 1 {
		s.Scratch += " (" + strconv.Itoa(n) + ")"
	}
	return s
}

// ExplainIndexes shows what indexes over all shards have to do with a statement: the one that tells which of the shards of a query are asked, or those
// whose entries change with the rows. use tells which indexes are in use.
func ExplainIndexes(p *Plan, use func(*router.Index) bool) (steps []Step) {
	if l := p.lookup; l != nil && use(l.Index) {
		e := new(Execution)
		e.Bind(p, nil)
		if r, err := e.Route(); err == nil && r.One != nil {
			return nil // the query's conditions place it by themselves
		}
		queries, _ := l.Queries(e)
		for k := range queries {
			steps = append(steps, StepOf("lookup", "the key "+l.Index.Name+" of "+l.Index.Table.Name+" tells which of the shards below are asked", &queries[k]))
		}
	}
	for _, x := range p.keeps {
		if !use(x) {
			continue
		}
		s := Step{Plan: "index", Reason: "entries of the key " + x.Name + " of " + x.Table.Name + " follow the rows, in one transaction"}
		for _, shard := range x.Lookup.Shards {
			s.Shards = append(s.Shards, shard.DB+"."+shard.Table)
		}
		steps = append(steps, s)
	}
	return steps
}
