package plan

import (
	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// changePlan plans UPDATE and DELETE.
func (b *builder) changePlan() error {
	p, ch := b.p, b.p.Statement.Change
	info := b.analyzer.query(ch.Query, nil)
	for _, a := range ch.Set {
		b.analyzer.expr(a.Expr, info)
	}
	for _, o := range ch.Order {
		b.analyzer.expr(o.Expr, info)
	}
	b.analyzer.subqueries()
	targets, err := b.targets(ch, info)
	if err != nil {
		return err
	}
	p.Target = targets[0]
	for _, t := range targets {
		if t.Table.Kind != p.Target.Table.Kind {
			return Refuse("%s and %s are changed together: one is %v, the other %v", p.Target.Parsed.Name, t.Parsed.Name, p.Target.Table.Kind, t.Table.Kind)
		}
	}
	p.Many = ManyWrite
	why := b.manyChanges(ch, info)
	if why == "" && ch.Limit != nil {
		p.Many = ManyChoose
		why = b.choosePlan(ch)
	}
	if why != "" {
		p.Many, p.Reason = ManyRefuse, why
	}
	return nil
}

// targets finds the tables that are changed, and refuses a new value for a sharding key.
func (b *builder) targets(ch *sqlparse.Change, info *blockInfo) (targets []*Ref, err error) {
	if ch.From.Table != nil {
		r := b.analyzer.byTable[ch.From.Table]
		if r == nil {
			return nil, Refuse("the table %s has no place", ch.From.Table.Name)
		}
		for _, a := range ch.Set {
			if r.keyOf(a.Column) >= 0 {
				return nil, keyChange(r, a.Column)
			}
		}
		if len(ch.Set) > 0 {
			if err := keyStays(r); err != nil {
				return nil, err
			}
		}
		return []*Ref{r}, nil
	}
	add := func(r *Ref) {
		if r != nil && !has(targets, r) {
			targets = append(targets, r)
		}
	}
	for _, a := range ch.Set {
		r, _, _ := info.scope.resolve(&sqlparse.Expr{Op: sqlparse.Column, Table: a.Table, Name: a.Column})
		if r == nil {
			return nil, Refuse("which table the column %s belongs to is not clear: qualify it", a.Column)
		}
		if r.keyOf(a.Column) >= 0 {
			return nil, keyChange(r, a.Column)
		}
		if err := keyStays(r); err != nil {
			return nil, err
		}
		add(r)
	}
	for _, t := range ch.Targets {
		for _, en := range info.scope.entries {
			if lower(en.label) == lower(t.Name) {
				add(en.ref)
			}
		}
	}
	if len(targets) == 0 {
		return nil, Refuse("no table to change was found")
	}
	return targets, nil
}

// onUpdateNow marks a column that has ON UPDATE CURRENT_TIMESTAMP. MySQL manual: "Column Definition Flags".
const onUpdateNow = 0x2000

// keyStays refuses a change of rows whose sharding key the server sets by itself when they change: they would lie where nobody looks.
func keyStays(r *Ref) error {
	for _, key := range r.Table.Keys {
		if d := r.column(key); d != nil && d.Flags&onUpdateNow != 0 {
			return Refuse("%s is the sharding key of %s and has ON UPDATE CURRENT_TIMESTAMP: a change of a row would change it; take that from the column", d.Name, r.Parsed.Name)
		}
	}
	return nil
}

func keyChange(r *Ref, column string) error {
	return Refuse("routing key in update expression: %s is the sharding key of %s; DELETE the row and INSERT it anew", column, r.Parsed.Name)
}

// manyChanges tells why a change cannot run on several shards.
func (b *builder) manyChanges(ch *sqlparse.Change, info *blockInfo) string {
	if b.analyzer.apart != "" {
		return b.analyzer.apart
	}
	if t := b.p.Target; t.Table.Kind == router.Single && len(b.p.Refs) > 1 {
		// Where all that it reads is on that node, too, the route has found so.
		return "a change of the table " + t.Parsed.Name + ", which is on one node, by what tables on other nodes hold"
	}
	exprs := []*sqlparse.Expr{ch.Where}
	for _, a := range ch.Set {
		exprs = append(exprs, a.Expr)
	}
	for _, e := range exprs {
		if e != nil && (!stable(e) || e.Has(sqlparse.Variable) && len(ch.Set) > 0) && b.p.Target.Table.Kind == router.Reference {
			return "a change of a table on every node by a function that is not the same on each"
		}
	}
	for _, r := range b.p.Refs {
		switch {
		case r == b.p.Target:
		case r.Table.Kind == router.Single:
			return "the table " + r.Parsed.Name + " is on one node"
		case r.Table.Kind == router.Sharded && b.p.Target.Table.Kind == router.Reference:
			return "a change of a table on every node by what a sharded table holds"
		}
	}
	return ""
}
