package indexes

import (
	"context"
	"slices"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// Run asks for the states of the indexes of tables, as they and the nodes are then, every second, until stop is closed, and calls told behind each time.
func (s *States) Run(stop <-chan struct{}, configured func() ([]*router.Table, map[string]*backend.Node), told func()) {
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
	w := watch{s: s, conns: map[string]*watched{}, looked: map[string]looked{}}
	defer w.close()
	for {
		tables, nodes := configured()
		w.look(ctx, tables, nodes)
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
	looked map[string]looked   // nodes of whose tables none has an index
}

// looked is when a node was asked last, and the first of its tables then, which is another one in each configuration.
type looked struct {
	at    time.Time
	first *router.Table
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

// look asks every node once that has records of the tables, or may have those of indexes that are not there any more.
func (w *watch) look(ctx context.Context, tables []*router.Table, nodes map[string]*backend.Node) {
	byNode := map[string][]*router.Table{}
	for _, t := range tables {
		byNode[t.Nodes[0]] = append(byNode[t.Nodes[0]], t)
	}
	w.s.onlyOn(byNode)
	for name := range nodes {
		if byNode[name] == nil && w.s.left.any(name) {
			byNode[name] = []*router.Table{}
		}
	}
	for name, tables := range byNode {
		if slices.ContainsFunc(tables, hasIndexes) {
			continue
		}
		n, one := nodes[name], w.looked[name]
		known := len(tables) > 0 && !w.s.left.any(name) && one.first == tables[0] && time.Since(one.at) < lookEvery
		if known || n == nil || n.Primary.State() == backend.Down { // for which no other node is to wait
			delete(byNode, name)
		}
	}
	for name, c := range w.conns {
		if byNode[name] == nil {
			_ = c.Close()
			delete(w.conns, name)
		}
	}
	var asking sync.WaitGroup
	var mu sync.Mutex // guards conns
	for name, tables := range byNode {
		mu.Lock()
		c := w.conns[name]
		mu.Unlock()
		asking.Go(func() {
			c, err := w.ask(ctx, c, tables, nodes, name)
			mu.Lock()
			defer mu.Unlock()
			if c == nil {
				delete(w.conns, name)
			} else {
				w.conns[name] = c
			}
			w.tell(ctx, name, tables, err)
		})
	}
	asking.Wait()
}

// ask asks a node, by c where that is a connection to its primary, and returns the connection that is there for the next time.
func (w *watch) ask(ctx context.Context, c *watched, tables []*router.Table, nodes map[string]*backend.Node, name string) (*watched, error) {
	n := nodes[name]
	if c != nil && (n == nil || c.of != n.Primary) { // that of before a reload keeps all instances that have been since then
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
	unused, err := w.s.askOn(ctx, c.Conn, n, tables, nodes)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	w.s.setUnused(name, unused)
	return c, nil
}

// tell logs that a node cannot be asked, once until it can, if tables of it have indexes.
func (w *watch) tell(ctx context.Context, name string, tables []*router.Table, err error) {
	if !slices.ContainsFunc(tables, hasIndexes) {
		if len(tables) > 0 {
			w.looked[name] = looked{time.Now(), tables[0]}
		}
		return
	}
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
