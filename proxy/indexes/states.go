package indexes

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// How often records are asked for, how long an answer is believed, and how long all proxies take to hear of a change and to send what they had
// decided before.
const (
	askEvery = time.Second
	// lookEvery is how often nodes are asked of whose tables the configuration names no index, for those that it does not name any more.
	lookEvery = time.Minute
	believed  = 3 * time.Second
	// Settling is longer than believed.
	Settling = 5 * time.Second
)

// States are those of the indexes of all tables, as a process knows them. The zero value is ready, without a log. Its methods may be called from any
// goroutine.
type States struct {
	Log    *slog.Logger // set before the first use; nil: nothing is logged
	Counts Counts

	seen atomic.Pointer[map[router.Shard]seen] // by the first sub-table of the table that keeps the index
	keys atomic.Pointer[map[router.Shard]heard]
	mu   sync.Mutex // of who changes seen or keys, and of unused
	// unused are the indexes that the configuration does not name any more, by node.
	unused map[string][]Unused
	left   leaving
}

// seen is what a server said, and when it had not been asked yet.
type seen struct {
	Record
	at time.Time
}

// of returns what is known of an index.
func (s *States) of(x *router.Index) (one seen, known bool) {
	if m := s.seen.Load(); m != nil {
		one, known = (*m)[x.Lookup.Shards[0]]
	}
	return one, known
}

// Built reports whether the index has all rows, so that it may be read by. It never waits.
func (s *States) Built(x *router.Index) bool {
	one, known := s.of(x)
	return known && one.State == Built && time.Since(one.at) < believed
}

// Kept reports whether a change of rows has to keep the index. Where that is not known, [States.Ask] finds it out. It never waits.
func (s *States) Kept(x *router.Index) (kept, known bool) {
	one, known := s.of(x)
	switch {
	case !known:
		return false, false
	case one.State == Building || one.State == Built:
		return true, true // what was dropped meanwhile is not there to be changed, which the server says
	}
	return false, one.State == Missing && time.Since(one.at) < believed
}

// Record returns what was last seen of an index, however old that is.
func (s *States) Record(x *router.Index) Record {
	one, _ := s.of(x)
	return one.Record
}

// note notes what a server said of indexes; at is when it was asked.
func (s *States) note(answers map[*router.Index]Record, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := map[router.Shard]seen{}
	if m := s.seen.Load(); m != nil {
		next = maps.Clone(*m)
	}
	for x, r := range answers {
		if before, known := next[x.Lookup.Shards[0]]; !known || before.at.Before(at) {
			next[x.Lookup.Shards[0]] = seen{r, at}
		}
	}
	s.seen.Store(&next)
}

// hasIndexes reports whether a table has an index over its shards, or may be given one by DDL.
func hasIndexes(t *router.Table) bool { return len(t.Indexes) > 0 || t.GlobalUnique }

// Ask asks for the states of a table's indexes.
func (s *States) Ask(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) error {
	if !hasIndexes(t) {
		return nil
	}
	n := nodes[t.Nodes[0]]
	err := on(ctx, n, func(c *backend.Conn) error {
		_, err := s.askOn(ctx, c, n, []*router.Table{t}, nodes)
		return err
	})
	if err != nil {
		return fmt.Errorf("the state of the indexes of %s.%s is in %s on node %s: %w", t.DB, t.Name, table, t.Nodes[0], err)
	}
	return nil
}

// askOn asks for the states of the indexes of tables whose records are on a node, and returns those that the tables had and have not any more. One that no
// proxy has seen before is complete where its table is not there yet, and missing where it is.
func (s *States) askOn(ctx context.Context, c *backend.Conn, n *backend.Node, tables []*router.Table, nodes map[string]*backend.Node) (unused []Unused, err error) {
	if err := s.left.demote(c, n); err != nil {
		return nil, err
	}
	began, folds := time.Now(), folds(n)
	var records map[id]storedRecord
	var given map[id]Key
	look := func() (err error) {
		if records, given, err = read(c); err == nil {
			unused, err = s.disown(c, n, told{records, given}, tables)
		}
		return err
	}
	if !slices.ContainsFunc(tables, hasIndexes) {
		if err = look(); lacking(err) {
			err = nil
		}
		return unused, err
	}
	if err := made(c, look); err != nil {
		return nil, err
	}
	added := false
	for _, t := range tables {
		state := Unknown
		for _, x := range t.Indexes {
			if _, has := records[idOf(t, x.Name, folds)]; has || x.Given {
				continue
			}
			if state == Unknown {
				found, err := there(ctx, t, nodes)
				if err != nil {
					return nil, err
				}
				if state = Built; found {
					state = Missing
				}
			}
			if err := add(c, x, folds, state); err != nil {
				return nil, err
			}
			added = true
		}
	}
	if added {
		began = time.Now()
		if err := look(); err != nil {
			return nil, err
		}
	}
	answers, keys := map[*router.Index]Record{}, map[*router.Table][]Key{}
	for _, t := range tables {
		for _, x := range t.Indexes {
			r, has := records[idOf(t, x.Name, folds)]
			if !has {
				r.State = Missing
			}
			answers[x] = r.Record
		}
		if t.GlobalUnique {
			keys[t] = keysIn(records, given, t, folds)
		}
	}
	s.note(answers, began)
	s.noteKeys(keys, began)
	return unused, nil
}

// Set stores what is known of an index from now on. Other proxies know it within [Settling].
func (s *States) Set(ctx context.Context, x *router.Index, nodes map[string]*backend.Node, r Record) error {
	n := nodes[x.Table.Nodes[0]]
	err := on(ctx, n, func(c *backend.Conn) error {
		return made(c, func() error {
			if err := add(c, x, folds(n), Missing); err != nil {
				return err
			}
			return write(c, x, folds(n), r)
		})
	})
	if err != nil {
		return fmt.Errorf("the state of the index %s of %s.%s is in %s on node %s: %w", x.Name, x.Table.DB, x.Table.Name, table, x.Table.Nodes[0], err)
	}
	s.note(map[*router.Index]Record{x: r}, time.Now())
	return nil
}
