package session

import (
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// admitTexts refuses PREPARE and EXECUTE IMMEDIATE, by themselves or within another statement, of texts on tables with rules, as far as
// these are known: the server that carries them out does not know the tables, or has some of the rows, or one of several copies.
func (ri *rights) admitTexts(q *query) error {
	plans := ri.client.schema.Plans
	if plans == nil || q.within == nil || ri.routing.namesNode(q) {
		return nil
	}
	if q.info.Class != sqltext.Prepare && q.info.Class != sqltext.Execute && plans.named(q.text, ri.client.mode()) {
		return nil // the plan of the whole is to judge it
	}
	for k := range q.within.Inner {
		if in := &q.within.Inner[k]; !in.Expressions && !in.Assigned && plans.named(in.Text, in.Mode) {
			if err := ri.admitText(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// admitText refuses a text that must not be prepared.
func (ri *rights) admitText(in *sqltext.Inner) error {
	if in.Info.Class == sqltext.Set {
		return ri.admitSetQuery(in.Text, in.Mode)
	}
	if !planned(in.Info.Class) {
		return nil
	}
	if err := ri.leases.learnCharset(); err != nil {
		return err
	}
	p, err := ri.client.schema.Plans.get(in.Text, ri.client.state.DB(), in.Mode)
	if err != nil {
		return ri.leases.unreadable(in.Text, err)
	}
	if p == nil {
		return nil
	}
	for _, r := range p.Refs {
		if r.Table.Rule != nil && !wholeOn(ri.client.schema.Default.Name, r.Table, p) {
			return newError(KSRefusedSharding, "PREPARE or EXECUTE IMMEDIATE of a text on the table "+r.Parsed.Name+
				", which has a rule: send the statement by itself, or prepare it by the driver (COM_STMT_PREPARE)")
		}
	}
	return nil
}

// wholeOn tells whether a node has a table by its logical name, and a statement may be about that alone.
func wholeOn(node string, t *router.Table, p *plan.Plan) bool {
	switch t.Kind {
	case router.Reference:
		if p.Statement.Kind != sqlparse.SelectKind || !p.ReadOnly {
			return false
		}
	case router.Single:
	default:
		return false
	}
	for _, shard := range t.Shards {
		if shard.Node == node && shard.DB == t.DB && shard.Table == t.Name {
			return true
		}
	}
	return false
}
