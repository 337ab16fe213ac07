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
		ls.place(l, nil, true)
		return nil
	}
	var keys [][]value.Value
	for k := range queries {
		q := &queries[k]
		err := ls.aside(ls.client.schema.Nodes[q.Node], func(p backend.Pooled) (err error) {
			p.Conn.Command(mysql.ComQuery, q.Text)
			if err = p.Conn.Flush(); err == nil {
				keys, err = appendLookedUp(keys, p.Conn)
			}
			return err
		})
		if isSQLError(err) && !ls.client.entry.IsCancelled() {
			ls.place(l, nil, true) // all shards know, too
			return nil
		}
		if err != nil {
			return err
		}
	}
	ls.place(l, keys, false)
	return nil
}

// place has the query under way ask the shards of the rows with the keys that an index gave; with all it asks all of them.
func (ls *leases) place(l *plan.Lookup, keys [][]value.Value, all bool) {
	counts := &ls.client.shared.Indexes.Counts
	switch narrowed := l.Place(&ls.client.lookup().execution, keys, all); {
	case !narrowed:
		counts.Everywhere.Add(1)
	case len(keys) == 0:
		counts.Nowhere.Add(1)
	default:
		counts.Found.Add(1)
	}
}

// placeBy places the query under way by the answer that comes on p. It fails where that is no answer.
func (ls *leases) placeBy(l *plan.Lookup, p backend.Pooled) error {
	keys, err := appendLookedUp(nil, p.Conn)
	if err != nil && !isSQLError(err) {
		return err
	}
	ls.place(l, keys, err != nil) // all shards know, too
	return nil
}

// appendLookedUp appends the sharding keys of an index's answer.
func appendLookedUp(keys [][]value.Value, c *backend.Conn) ([][]value.Value, error) {
	err := c.ReadRawRows(func(columns []mysql.ColumnDefinition41, cells []value.Cell) {
		key := make([]value.Value, len(cells))
		for i, cell := range cells {
			key[i] = givenKey(&columns[i], cell)
		}
		keys = append(keys, key)
	})
	return keys, err
}
