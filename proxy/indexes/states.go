package indexes

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
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
	believed = 3 * time.Second
	// Settling is longer than believed.
	Settling = 5 * time.Second
)

// States are those of the indexes of all tables, as a process knows them. The zero value is ready, without a log. Its methods may be called from any
// goroutine.
type States struct {
	Log *slog.Logger // set before the first use; nil: nothing is logged

	seen atomic.Pointer[map[router.Shard]seen] // by the first sub-table of the table that keeps the index
	keys atomic.Pointer[map[router.Shard]heard]
	mu   sync.Mutex // of who changes seen or keys
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

// Ask asks for the states of a table's indexes.
func (s *States) Ask(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) error {
	if len(t.Indexes) == 0 && !t.GlobalUnique {
		return nil
	}
	n := nodes[t.Nodes[0]]
	err := on(ctx, n, func(c *backend.Conn) error { return s.askOn(ctx, c, n, []*router.Table{t}, nodes) })
	if err != nil {
		return fmt.Errorf("the state of the indexes of %s.%s is in %s on node %s: %w", t.DB, t.Name, table, t.Nodes[0], err)
	}
	return nil
}

// askOn asks for the states of the indexes of tables whose records are on a node. One that no proxy has seen before is complete where its table is not
// there yet, and missing where it is.
func (s *States) askOn(ctx context.Context, c *backend.Conn, n *backend.Node, tables []*router.Table, nodes map[string]*backend.Node) error {
	began, folds := time.Now(), folds(n)
	var records map[id]Record
	var given map[id]Key
	look := func() (err error) {
		records, given, err = read(c)
		return err
	}
	if err := made(c, look); err != nil {
		return err
	}
	added := false
	for _, t := range tables {
		state := Unknown
		for _, x := range t.Indexes {
			if _, has := records[idOf(x, folds)]; has || x.Given {
				continue
			}
			if state == Unknown {
				found, err := there(ctx, t, nodes)
				if err != nil {
					return err
				}
				if state = Built; found {
					state = Missing
				}
			}
			if err := add(c, x, folds, state); err != nil {
				return err
			}
			added = true
		}
	}
	if added {
		began = time.Now()
		if err := look(); err != nil {
			return err
		}
	}
	answers, keys := map[*router.Index]Record{}, map[*router.Table][]Key{}
	for _, t := range tables {
		for _, x := range t.Indexes {
			r, has := records[idOf(x, folds)]
			if !has {
				r.State = Missing
			}
			answers[x] = r
		}
		if t.GlobalUnique {
			keys[t] = keysIn(records, given, t, folds)
		}
	}
	s.note(answers, began)
	s.noteKeys(keys, began)
	return nil
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

// Table is a table with indexes, and the nodes of its configuration.
type Table struct {
	*router.Table
	Nodes map[string]*backend.Node
}

// Run asks for the states of the indexes of tables, as they are then, every second, until stop is closed, and calls told behind each time.
func (s *States) Run(stop <-chan struct{}, tables func() []Table, told func()) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var ending sync.WaitGroup
	ending.Go(func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	})
	defer ending.Wait()
	defer cancel()
	w := watch{s: s, conns: map[string]*watched{}}
	defer w.close()
	for {
		w.look(ctx, tables())
		told()
		select {
		case <-stop:
			return
		case <-time.After(askEvery):
		}
	}
}

// watch asks on connections that it keeps.
type watch struct {
	s      *States
	conns  map[string]*watched // by node
	failed map[string]bool     // nodes whose failure has been logged
}

type watched struct {
	*backend.Conn
	of *backend.Instance
}

func (w *watch) close() {
	for _, c := range w.conns {
		_ = c.Close()
	}
}

// look asks every node once that has records of the tables.
func (w *watch) look(ctx context.Context, tables []Table) {
	byNode := map[string][]*router.Table{}
	nodes := map[string]map[string]*backend.Node{}
	for _, t := range tables {
		name := t.Table.Nodes[0]
		byNode[name], nodes[name] = append(byNode[name], t.Table), t.Nodes
	}
	for name, c := range w.conns {
		if byNode[name] == nil {
			_ = c.Close()
			delete(w.conns, name)
		}
	}
	var asking sync.WaitGroup
	var mu sync.Mutex
	for name, tables := range byNode {
		c := w.conns[name]
		asking.Go(func() {
			c, err := w.ask(ctx, c, tables, nodes[name], name)
			mu.Lock()
			defer mu.Unlock()
			if c == nil {
				delete(w.conns, name)
			} else {
				w.conns[name] = c
			}
			w.tell(ctx, name, err)
		})
	}
	asking.Wait()
}

// ask asks a node, by c where that is a connection to its primary, and returns the connection that is there for the next time.
func (w *watch) ask(ctx context.Context, c *watched, tables []*router.Table, nodes map[string]*backend.Node, name string) (*watched, error) {
	n := nodes[name]
	if c != nil && (n == nil || c.of.Addr != n.Primary.Addr) {
		_ = c.Close()
		c = nil
	}
	if c == nil {
		conn, err := dial(ctx, n)
		if err != nil {
			return nil, err
		}
		c = &watched{conn, n.Primary}
	}
	_ = c.Net.SetDeadline(time.Now().Add(askTimeout))
	stop := context.AfterFunc(ctx, func() { _ = c.Net.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := w.s.askOn(ctx, c.Conn, n, tables, nodes); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// tell logs that a node cannot be asked, once until it can.
func (w *watch) tell(ctx context.Context, name string, err error) {
	if err == nil || ctx.Err() != nil {
		delete(w.failed, name)
		return
	}
	if w.failed[name] || w.s.Log == nil {
		return
	}
	if w.failed == nil {
		w.failed = map[string]bool{}
	}
	w.failed[name] = true
	w.s.Log.Warn("the states of indexes cannot be asked for: nothing is read by them", "node", name, "error", err)
}
