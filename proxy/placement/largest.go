package placement

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router"
	"kingshard/router/rule"
)

// Large is a key of a table with its rows.
type Large struct {
	router.Shard
	// Values are those of the key's columns, Placed the one that the rule places; NULL where it places none.
	Values []value.Value
	Placed value.Value
	Pinned bool
	Rows   uint64
}

// countMax is how long a server may count the keys of one sub-table.
const countMax = time.Minute

// Largest gives the n keys with the most rows of each sub-table of a sharded table, from replicas where there are some that are fit
// for reads. Each server reads its whole index of the key, or the sub-table where there is none, one sub-table after the other and for a
// minute at most.
func Largest(ctx context.Context, t *router.Table, nodes map[string]*backend.Node, n int) ([]Large, error) {
	if t.Kind != router.Sharded {
		return nil, errors.New("the table has no key: it is whole on its nodes")
	}
	var found []Large
	for _, s := range t.Shards {
		some, err := largestOf(ctx, t, s, nodes[s.Node], n)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", s, err)
		}
		found = append(found, some...)
	}
	return found, nil
}

// askReader connects to an instance that is fit for reads: the primary where no replica can be reached.
func askReader(ctx context.Context, node *backend.Node) (*backend.Instance, *asking, error) {
	for attempt := 0; ; attempt++ {
		i := node.Reader(attempt)
		a, err := askInstance(ctx, i)
		if err == nil || i.Role == backend.Primary || ctx.Err() != nil {
			return i, a, err
		}
	}
}

func largestOf(ctx context.Context, t *router.Table, s router.Shard, node *backend.Node, n int) (found []Large, err error) {
	if node == nil {
		return nil, errors.New("the node is not in the configuration")
	}
	i, a, err := askReader(ctx, node)
	if err != nil {
		return nil, err
	}
	defer a.close()
	columns, err := a.keyColumns(t, s)
	if err != nil {
		return nil, err
	}
	// A server would count on when the connection is gone.
	limit := fmt.Sprintf("SET max_execution_time = %d", countMax.Milliseconds())
	if info := i.Info(); info != nil && info.MariaDB {
		limit = fmt.Sprintf("SET max_statement_time = %d", int(countMax.Seconds()))
	}
	if err := a.exec(limit); err != nil {
		return nil, err
	}
	if err := a.Net.SetDeadline(time.Now().Add(countMax + answerMax)); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // its end may have come ahead of the deadline
	}
	keys := keyNames(t)
	sql := "SELECT COUNT(*), " + keys + " FROM " + quoted(s) + " GROUP BY " + keys + " ORDER BY COUNT(*) DESC LIMIT " + strconv.Itoa(n)
	err = a.RawRows(sql, func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
		l := Large{Shard: s}
		l.Rows, _ = strconv.ParseUint(string(cells[0]), 10, 64)
		for k, cell := range cells[1:] {
			l.Values = append(l.Values, storedKey(cell, columns[k].Class))
		}
		if v, err := t.Stored(l.Values, columns); err == nil {
			l.Placed, l.Pinned = v, rule.Pins(t.Rule, v)
		}
		found = append(found, l)
	})
	return found, err
}
