package session

import (
	"context"
	"errors"
	"maps"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/proxy/indexes"
	"kingshard/router"
	"kingshard/router/plan"
)

// What keys over all shards DDL has given the tables of rules with unique: global is no part of the configuration. The states of indexes know it, as of some
// moments ago at most, and the current snapshot has the tables with these keys: where it has not, the rows of such a table are not changed.

// Learn gives the tables of the current snapshot the keys that DDL has given them since. An error says why they cannot have them.
func (s *Shared) Learn() error {
	for {
		snap := s.Snapshot.Load()
		next, err := snap.learned(&s.Indexes)
		if next == nil || err != nil || s.Snapshot.CompareAndSwap(snap, next) {
			return err
		}
	}
}

// learned returns the snapshot with the keys that are known now; nil where it has them.
func (s *Snapshot) learned(states *indexes.States) (next *Snapshot, err error) {
	for user, schema := range s.Schemas {
		plans, err := schema.Plans.learned(states)
		if err != nil {
			return nil, err
		}
		if plans == nil {
			continue
		}
		if next == nil {
			one := *s
			one.Schemas = maps.Clone(s.Schemas)
			next = &one
		}
		with := *schema
		with.Plans = plans
		next.Schemas[user] = &with
	}
	return next, nil
}

func (p *Plans) learned(states *indexes.States) (*Plans, error) {
	if p == nil {
		return nil, nil
	}
	given, changed := map[int][]config.Index{}, false
	for k, t := range p.global() {
		keys, other := states.Given(t)
		given[k], changed = configuredKeys(keys), changed || other
	}
	if !changed {
		return nil, nil
	}
	return newPlans(p.configured, given, p.nodes, p.servers)
}

// with returns plans for the same schema in which a table has other keys that DDL has given it.
func (p *Plans) with(t *router.Table, keys []indexes.Key) (*Plans, error) {
	given := map[int][]config.Index{}
	for k, one := range p.global() {
		if one == t {
			given[k] = configuredKeys(keys)
		}
	}
	return newPlans(p.configured, given, p.nodes, p.servers)
}

// global returns the tables with unique: global, by the positions of their rules.
func (p *Plans) global() map[int]*router.Table {
	tables := map[int]*router.Table{}
	for k := range p.configured.Shard {
		rule := &p.configured.Shard[k]
		if t := p.router().Table(rule.DB, rule.Table); t != nil && t.GlobalUnique {
			tables[k] = t
		}
	}
	return tables
}

// configuredKeys are keys as a rule would have them.
func configuredKeys(keys []indexes.Key) (list []config.Index) {
	for _, k := range keys {
		list = append(list, config.GivenIndex(k.Name, k.Columns, k.Strings))
	}
	return list
}

// errUnheard says that a statement changes a table of which it is not known which keys DDL has given it by now.
var errUnheard = errors.New("the keys of a table are not known")

// heard reports whether tables have all keys that DDL has given them.
func heard(states *indexes.States, tables []*router.Table) bool {
	for _, t := range tables {
		if !states.Heard(t) {
			return false
		}
	}
	return true
}

// stillHeard refuses a change, which may have waited since it was planned, of tables that DDL has given keys meanwhile. Of a change on one server it is
// asked ahead of that, and of others behind them: what has changed rows by then is waited for by who fills the index.
func (ls *leases) stillHeard(tables []*router.Table) error {
	states := &ls.client.shared.Indexes
	if heard(states, tables) {
		return nil
	}
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(ls.client.snap.Config.PoolWaitTimeout.Duration()))
	defer cancel()
	for _, t := range tables {
		if err := states.Ask(ctx, t, ls.client.schema.Nodes); err != nil {
			return backendError(err)
		}
	}
	if !heard(states, tables) {
		return mysql.NewSQLError(erTableDefChanged, "Table definition has changed, please retry transaction")
	}
	return nil
}

// erTableDefChanged is ER_TABLE_DEF_CHANGED. MySQL manual: "Server Error Message Reference".
const erTableDefChanged = 1412

// hear asks which keys DDL has given tables, and has the session take the snapshot that has them. What was planned before is out of date.
func (ls *leases) hear(ctx context.Context, tables []*router.Table) error {
	for _, t := range tables {
		if err := ls.client.shared.Indexes.Ask(ctx, t, ls.client.schema.Nodes); err != nil {
			return backendError(err)
		}
	}
	err := ls.client.shared.Learn()
	ls.client.snap = ls.client.shared.Snapshot.Load()
	if end := ls.client.refreshSchema(); end != nil {
		return end
	}
	for _, t := range tables {
		if now := ls.client.schema.Plans.table(t.DB, t.Name); now != nil && now.GlobalUnique && !ls.client.shared.Indexes.Heard(now) {
			why := "they change"
			if err != nil {
				why = err.Error()
			}
			return newError(KSRefusedSharding, "the table "+t.Name+", whose keys over all shards are not known: "+why)
		}
	}
	return nil
}

// hearOf asks which keys DDL has given the tables that a statement changes, and waits for the answer no longer than pool_wait_timeout.
func (ls *leases) hearOf(p *plan.Plan) error {
	ctx, cancel := context.WithDeadline(context.Background(), ls.client.entry.Now().Add(ls.client.snap.Config.PoolWaitTimeout.Duration()))
	defer cancel()
	return ls.hear(ctx, p.Watches())
}

// table returns a table with a rule; nil without one.
func (p *Plans) table(db, name string) *router.Table {
	if p == nil {
		return nil
	}
	return p.router().Table(db, name)
}
