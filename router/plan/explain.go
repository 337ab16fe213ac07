package plan

// Step is a row of EXPLAIN: a statement that a server gets.
type Step struct {
	Plan, Reason, Node string
	Shards             []string
	SQL                string
}

// Explain shows what a plan sends without values for parameters.
func Explain(p *Plan) ([]Step, error) {
	r, err := p.Route(nil)
	if err != nil {
		return nil, err
	}
	if r.One != nil {
		return []Step{step("forward", "", r.One)}, nil
	}
	var steps []Step
	for k := range r.Queries {
		steps = append(steps, step(p.Many.String(), p.Reason, &r.Queries[k]))
	}
	for _, s := range r.Scratch {
		for k := range s.Queries {
			steps = append(steps, step("gather", p.Reason, &s.Queries[k]))
		}
	}
	if r.Final != nil {
		q := r.Final(nil)
		q.Shards = nil
		if r.Describe == nil {
			q.Text = p.Statement.Text
		}
		steps = append(steps, step(p.Many.String(), p.Reason, &q))
	}
	return steps, nil
}

func step(kind, reason string, q *Query) Step {
	s := Step{Plan: kind, Reason: reason, Node: q.Node, SQL: q.Text}
	for _, shard := range q.Shards {
		s.Shards = append(s.Shards, shard.DB+"."+shard.Table)
	}
	return s
}
