package indexes

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// Key is a unique index that DDL has given a table whose rule says unique: global.
type Key struct {
	Name string
	// Columns are in the order of the key.
	Columns []string
	// Strings is how texts in them are placed, as the configuration has it.
	Strings string
}

// keyOf is the key that x is.
func keyOf(x *router.Index) Key { return Key{strings.ToLower(x.Name), x.Columns, x.Strings} }

// of reports whether a table has the key, or one of its name that the rule names.
func (k Key) of(t *router.Table) bool {
	return slices.ContainsFunc(t.Indexes, func(x *router.Index) bool {
		one := keyOf(x)
		return one.Name == k.Name && (!x.Given || slices.Equal(one.Columns, k.Columns) && one.Strings == k.Strings)
	})
}

// heard are the keys of a table that a server told, and when it had not been asked yet.
type heard struct {
	keys []Key
	at   time.Time
}

// placeOf is what a table is called among those that keys were asked for.
func placeOf(t *router.Table) router.Shard {
	return router.Shard{Node: t.Nodes[0], DB: t.DB, Table: t.Name}
}

// Heard reports whether a table with unique: global has all keys that DDL had given it some moments ago, so that its rows may be changed. Where that is not
// so, [States.Ask] finds out which it has. It never waits.
func (s *States) Heard(t *router.Table) bool {
	m := s.keys.Load()
	if m == nil {
		return false
	}
	one, known := (*m)[placeOf(t)]
	return known && time.Since(one.at) < believed && !slices.ContainsFunc(one.keys, func(k Key) bool { return !k.of(t) })
}

// Given returns the keys that DDL has given a table, without those that its rule names, and whether they are others than the table has; it has its own
// where nobody was asked.
func (s *States) Given(t *router.Table) (keys []Key, changed bool) {
	one, known := heard{}, false
	if m := s.keys.Load(); m != nil {
		one, known = (*m)[placeOf(t)]
	}
	named := func(k Key) bool {
		return slices.ContainsFunc(t.Indexes, func(x *router.Index) bool { return !x.Given && strings.EqualFold(x.Name, k.Name) })
	}
	has := 0
	for _, x := range t.Indexes {
		if x.Given {
			has++
			if !known {
				keys = append(keys, keyOf(x))
			}
		}
	}
	for _, k := range one.keys {
		if !named(k) {
			keys = append(keys, k)
			changed = changed || !k.of(t)
		}
	}
	return keys, changed || has != len(keys)
}

// noteKeys notes the keys that a server told of tables; at is when it was asked.
func (s *States) noteKeys(keys map[*router.Table][]Key, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := map[router.Shard]heard{}
	if m := s.keys.Load(); m != nil {
		for place, one := range *m {
			next[place] = one
		}
	}
	for t, list := range keys {
		if before, known := next[placeOf(t)]; !known || before.at.Before(at) {
			next[placeOf(t)] = heard{list, at}
		}
	}
	s.keys.Store(&next)
}

// There reports whether physical tables of t are on their nodes, and whether all are.
func There(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) (any, all bool, err error) {
	n := 0
	for _, node := range t.Nodes {
		err := onTables(ctx, nodes[node], func(c *backend.Conn) error {
			return c.Rows("SELECT COUNT(*) FROM information_schema.TABLES WHERE "+among(t, node), 1, func(row []string) { n += atoi(row[0]) })
		})
		if err != nil {
			return false, false, fmt.Errorf("node %s: %w", node, err)
		}
	}
	return n > 0, n >= len(t.Shards), nil
}

// Alone returns when no other proxy, and nobody else of this one, defines the table, until the function is called that it returns.
func Alone(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) (release func(), err error) {
	c, err := dial(ctx, nodes[t.Nodes[0]])
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(t.DB + "\x00" + t.Name))) // which never fails
	lock := fmt.Sprintf("'ks_keys_%016x'", h.Sum64())
	for got := ""; got != "1"; {
		if err = ctx.Err(); err == nil {
			_ = c.Net.SetDeadline(time.Now().Add(askTimeout))
			err = c.Rows("SELECT GET_LOCK("+lock+", 1)", 1, func(row []string) { got = row[0] })
		}
		if err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return func() {
		_ = c.Net.SetDeadline(time.Now().Add(askTimeout))
		_ = c.Exec("DO RELEASE_LOCK(" + lock + ")") // a server may take a while to see that the connection is closed
		_ = c.Close()
	}, nil
}

// Forget has proxies not keep indexes any more whose table is gone, and the tables that kept them.
func (s *States) Forget(ctx context.Context, given []*router.Index, nodes map[string]*backend.Node) error {
	for _, x := range given {
		if err := s.Set(ctx, x, nodes, Record{State: Missing}); err != nil {
			return err
		}
	}
	return nil
}

// Follow has the indexes that DDL has given a table follow its UNIQUE keys: one that no sub-table has a key for is dropped, and the others have the
// names of their keys.
func (s *States) Follow(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) error {
	names := map[*router.Index]string{}
	for _, shard := range t.Shards {
		var d *Described
		err := onTables(ctx, nodes[shard.Node], func(c *backend.Conn) (err error) {
			d, err = Describe(c, shard)
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", shard, err)
		}
		for _, u := range d.Uniques {
			if x := t.Over(u.Columns); x != nil && !u.Partial && names[x] == "" {
				names[x] = u.Name
			}
		}
	}
	for _, x := range t.Indexes {
		if !x.Given {
			continue
		}
		err := error(nil)
		if names[x] == "" {
			_, err = s.Drop(ctx, x, Options{Nodes: nodes})
		} else {
			err = rename(ctx, x, nodes, names[x])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rename gives the keys of the tables that keep a unique index a name, as errors have it.
func rename(ctx context.Context, x *router.Index, nodes map[string]*backend.Node, name string) error {
	for _, shard := range x.Lookup.Shards {
		err := onTables(ctx, nodes[shard.Node], func(c *backend.Conn) error {
			d, err := Describe(c, shard)
			if err != nil || len(d.Uniques) != 1 || d.Uniques[0].Name == name {
				return err
			}
			return c.Exec("ALTER TABLE " + quoted(shard) + " RENAME INDEX " + quote(d.Uniques[0].Name) + " TO " + quote(name))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", shard, err)
		}
	}
	return nil
}
