package session

import (
	"slices"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/value"
	"kingshard/router"
)

// uniqueKeys are the columns of a table's unique keys, in the order in which servers look at them.
type uniqueKeys struct {
	columns [][]string
	at      time.Time
}

// uniqueKeys asks the first shard for a table's unique keys.
func (p *Plans) uniqueKeys(t *router.Table) ([][]string, error) {
	if found, ok := p.keys.Load(t); ok && time.Since(found.(uniqueKeys).at) < catalogAge {
		return found.(uniqueKeys).columns, nil
	}
	var keys [][]string
	last := ""
	shard := t.Shards[0]
	err := p.asking(shard, func(c *backend.Conn) error {
		// MySQL manual: "SHOW INDEX Statement".
		return c.RawRows("SHOW INDEX FROM "+quotedShard(shard), func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
			nonUnique, name, column := string(cells[1]), string(cells[2]), string(cells[4])
			if nonUnique != "0" {
				return
			}
			if len(keys) == 0 || name != last {
				keys, last = append(keys, nil), name
			}
			keys[len(keys)-1] = append(keys[len(keys)-1], column)
		})
	})
	if err == nil {
		p.keys.Store(t, uniqueKeys{keys, time.Now()})
	}
	return keys, err
}

// inKeyOrder puts indexes of a table in the order of its keys: of a row that collides with several rows the first tells what is refused, or which row
// changes. Those of which the table has no key are the last.
func (p *Plans) inKeyOrder(indexes []*router.Index) error {
	unique := slices.DeleteFunc(slices.Clone(indexes), func(x *router.Index) bool { return !x.Unique })
	if len(unique) < 2 {
		return nil
	}
	keys, err := p.uniqueKeys(unique[0].Table)
	if err != nil {
		return err
	}
	place := func(x *router.Index) int {
		if at := slices.IndexFunc(keys, func(columns []string) bool { return x.Table.Over(columns) == x }); at >= 0 {
			return at
		}
		return len(keys)
	}
	slices.SortStableFunc(indexes, func(a, b *router.Index) int { return place(a) - place(b) })
	return nil
}
