package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// errLooksUp says that an index over all shards tells where the rows of a query are: it is to be asked.
var errLooksUp = errors.New("an index is to be asked")

// looksUp reports whether an index is to be asked for the shards of a query that asks several, or err says that it cannot. Rows that are there at one moment may be
// elsewhere at another: within a transaction, which sees those of its own moment on each node, and where reads are to be of one moment, all shards are asked.
func (ro *routing) looksUp(p *plan.Plan, r *plan.Route, err error) bool {
	l := p.Lookup()
	if l == nil || l.Placed(&ro.client.lookup().execution) || err == nil && r.One != nil || err != nil && !plan.IsRefusal(err) {
		return false
	}
	c := ro.client
	return c.shared.Indexes.Built(l.Index) && c.state.Autocommit && c.txn.Begin == "" && !c.txn.InTransaction() && !c.task().composed && ownReadConsistency.value(c) != config.ReadAtomic
}

// lookUp asks the index of a query where its rows are.
func (ls *leases) lookUp(p *plan.Plan) error {
	e := &ls.client.lookup().execution
	l := p.Lookup()
	queries, ok := l.Queries(e)
	if !ok {
		l.Place(e, nil, true)
		return nil
	}
	var keys [][]value.Value
	for k := range queries {
		q := &queries[k]
		err := ls.aside(ls.client.schema.Nodes[q.Node], func(p backend.Pooled) error {
			return p.Conn.RawRows(q.Text, func(columns []mysql.ColumnDefinition41, cells []value.Cell) {
				key := make([]value.Value, len(cells))
				for i, cell := range cells {
					key[i] = givenKey(&columns[i], cell)
				}
				keys = append(keys, key)
			})
		})
		if isSQLError(err) {
			l.Place(e, nil, true) // all shards know, too
			return nil
		}
		if err != nil {
			return err
		}
	}
	l.Place(e, keys, false)
	return nil
}
