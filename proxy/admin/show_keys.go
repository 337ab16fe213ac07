package admin

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/hotkeys"
	"kingshard/proxy/placement"
	"kingshard/router"
)

var keysTable = table{
	name: "keys", about: "Keys of sharded tables with the most statements on one shard, of a sample, and with SHOW KS KEYS table ROWS those with the most rows", like: "key",
	columns: slices.Concat(texts("db", "table", "key", "node", "physical_db", "physical_table"), numbers("statements", "share", "rows"), texts("pinned")),
	rows:    func(v *view) [][]any { return v.a.keyRows(v.who, v.a.ruled(""), nil) },
}

// Numbers of keys that each sub-table is asked for by ROWS: without a LIMIT, and at the most.
const (
	largestDefault = 10
	largestMax     = 1000
)

// showKeys runs SHOW KS KEYS [[db.]table [ROWS]] with what narrows any table.
func (c *call) showKeys() (*answer, error) {
	name, counts := "", false
	if !c.r.Ended() && !slices.ContainsFunc([]string{"like", "where", "order", "limit"}, c.r.Is) {
		var err error
		if name, err = c.tableName(); err != nil {
			return nil, err
		}
		counts = c.r.Word("rows")
	}
	f, err := c.r.filter(&keysTable)
	if err != nil {
		return nil, err
	}
	var found *answer
	if counts {
		n := largestDefault
		if f.limit >= 0 {
			n = min(max(f.limit+f.offset, 1), largestMax)
		}
		ctx, cancel := c.context()
		defer cancel()
		found, err = c.a.keysWithRows(ctx, c.who, name, n)
	} else {
		found, err = c.a.keysOf(c.who, name)
	}
	if err != nil {
		return nil, err
	}
	found.rows = f.apply(&keysTable, found.rows)
	return found, nil
}

// keysOf are the keys of one table, or with "" of all.
func (a *Admin) keysOf(w change.Who, name string) (*answer, error) {
	tables := a.ruled(name)
	if name != "" {
		if err := sharded(tables, name); err != nil {
			return nil, err
		}
	}
	return &answer{keysTable.columns, a.keyRows(w, tables, nil)}, nil
}

// sharded returns an error if none of the tables of a name has a key.
func sharded(tables []*router.Table, name string) error {
	switch {
	case len(tables) == 0:
		return change.Failed("no table %s has a rule: SHOW KS TABLES lists them", name)
	case !slices.ContainsFunc(tables, func(t *router.Table) bool { return t.Kind == router.Sharded }):
		return change.Failed("table %s has no key: it is whole on its nodes", name)
	}
	return nil
}

// largestKeys are the keys of a table with the most rows, as REST has them.
func (a *Admin) largestKeys(ctx context.Context, w change.Who, name string) (*answer, error) {
	return a.keysWithRows(ctx, w, name, largestDefault)
}

// keysWithRows asks the sub-tables of a table for the n keys of each with the most rows.
func (a *Admin) keysWithRows(ctx context.Context, w change.Who, name string, n int) (*answer, error) {
	found := &answer{columns: keysTable.columns}
	return found, a.Trail.Act(w, account.Operate, "count keys", name, func() error {
		if name == "" {
			return change.Failed("the name of a table is missing")
		}
		tables := a.ruled(name)
		if err := sharded(tables, name); err != nil {
			return err
		}
		large := map[*router.Table][]placement.Large{}
		for _, t := range tables {
			if t.Kind != router.Sharded {
				continue
			}
			keys, err := placement.Largest(ctx, t, a.shared.Snapshot.Load().Nodes, n)
			if ctx.Err() != nil {
				return interrupted()
			}
			if err != nil {
				return change.Failed("%s.%s: %v", t.DB, t.Name, err)
			}
			large[t] = keys
		}
		found.rows = a.keyRows(w, tables, large)
		return nil
	})
}

// keyRows shows the keys of tables, those of large with their rows: what has the most is first. Keys are values: they are shown to
// those who may see other users' statements, and to those who may pin them.
func (a *Admin) keyRows(w change.Who, tables []*router.Table, large map[*router.Table][]placement.Large) (rows [][]any) {
	type place struct{ db, name string }
	counted := map[place]bool{}
	now := time.Now()
	text := func(key string) string {
		if w.Texts || w.Rights >= account.Admin {
			return key
		}
		return "?"
	}
	for _, t := range tables {
		if t.Kind != router.Sharded {
			continue
		}
		var counts []hotkeys.Count
		if at := (place{t.DB, t.Name}); !counted[at] { // users may have several rules for one name
			counted[at] = true
			counts = a.shared.HotKeys.Counts(t.DB, t.Name, now)
		}
		for _, l := range large[t] {
			var statements, share any
			id := hotkeys.ID(l.Placed)
			if at := slices.IndexFunc(counts, func(c hotkeys.Count) bool { return c.ID == id && c.Shard == l.Shard }); at >= 0 {
				statements, share = counts[at].Statements, shareOf(counts[at])
				counts = slices.Delete(counts, at, at+1)
			}
			rows = append(rows, []any{t.DB, t.Name, text(hotkeys.Text(l.Values)), l.Node, l.DB, l.Shard.Table, statements, share, l.Rows, l.Pinned})
		}
		for _, c := range counts {
			rows = append(rows, []any{t.DB, t.Name, text(c.Text), c.Shard.Node, c.Shard.DB, c.Shard.Table, c.Statements, shareOf(c), nil, c.Pinned})
		}
	}
	number := func(cell any) uint64 { n, _ := cell.(uint64); return n }
	slices.SortStableFunc(rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(number(b[8]), number(a[8])), cmp.Compare(number(b[6]), number(a[6])))
	})
	return rows
}

// shareOf is a key's share with four digits behind the point.
func shareOf(c hotkeys.Count) float64 { return math.Round(c.Share*1e4) / 1e4 }
