package indexes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// ErrLeft says that tables that keep an index have entries, though the table that is indexed is not there.
var ErrLeft = errors.New("has entries of rows that are gone")

// Begin has the indexes of a table that is about to be made be built from now on, as it has no rows, and returns when all proxies know that. exists
// says that the table is there already: then they stay as they are.
func (s *States) Begin(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) (exists bool, err error) {
	if err := s.Ask(ctx, t, nodes); err != nil {
		return false, err
	}
	if exists, err = there(ctx, t, nodes); exists || err != nil {
		return exists, err
	}
	told := false
	for _, x := range t.Indexes {
		state, look := s.Record(x).State, left
		if x.Given && state == Missing {
			look = gone
		}
		if err := look(ctx, x, nodes); err != nil {
			return false, err
		}
		if state == Built {
			continue
		}
		told = true
		if err := s.Set(ctx, x, nodes, Record{State: Built}); err != nil {
			return false, err
		}
	}
	if told {
		return false, settle(ctx)
	}
	return false, nil
}

// settle waits until all proxies know of a change of a record, and have sent what they had decided before.
func settle(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(Settling):
		return nil
	}
}

// there reports whether any of the physical tables of t is on its node. Where one is, others are not asked for.
func there(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) (found bool, err error) {
	for _, node := range t.Nodes {
		failed := onTables(ctx, nodes[node], func(c *backend.Conn) error {
			return c.Rows("SELECT 1 FROM information_schema.TABLES WHERE "+among(t, node)+" LIMIT 1", 1, func([]string) { found = true })
		})
		if found {
			return true, nil
		}
		if failed != nil {
			err = fmt.Errorf("node %s: %w", node, failed)
		}
	}
	return false, err
}

// among is the condition of information_schema for a table's shards on a node.
func among(t *router.Table, node string) string {
	names := map[string][]string{}
	for _, s := range t.Shards {
		if s.Node == node {
			names[s.DB] = append(names[s.DB], text(s.Table))
		}
	}
	var places []string
	for db, tables := range names {
		places = append(places, "TABLE_SCHEMA = "+text(db)+" AND TABLE_NAME IN ("+strings.Join(tables, ", ")+")")
	}
	return "(" + strings.Join(places, " OR ") + ")"
}

// left returns ErrLeft where a table that keeps the index is not empty.
func left(ctx context.Context, x *router.Index, nodes map[string]*backend.Node) error {
	for _, shard := range x.Lookup.Shards {
		found := false
		err := onTables(ctx, nodes[shard.Node], func(c *backend.Conn) error {
			return c.Rows("SELECT 1 FROM "+quoted(shard)+" LIMIT 1", 1, func([]string) { found = true })
		})
		switch {
		case found:
			return fmt.Errorf("%s, which keeps the index %s of %s.%s, %w: DROP TABLE IF EXISTS %s takes it away", shard, x.Name, x.Table.DB, x.Table.Name, ErrLeft, x.Table.Name)
		case err != nil && !lacking(err):
			return fmt.Errorf("node %s: %w", shard.Node, err)
		}
	}
	return nil
}
