package indexes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/router"
)

// What keeps an index lacks the rows that were changed by a proxy which does not keep it, so that an index which the configuration of one proxy does not name
// is built no more for any: whoever has a rule of a table without the index makes it missing, at the latest a minute after both are there.

// Unused is an index that the rule of its table does not name any more.
type Unused struct {
	DB, Table, Name string // as they are stored
	Record
}

// Unused lists the indexes that proxies have built for tables whose rules do not name them, as the nodes told within the last minute.
func (s *States) Unused() (list []Unused) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range s.unused {
		list = append(list, of...)
	}
	return list
}

func (s *States) setUnused(node string, list []Unused) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unused == nil {
		s.unused = map[string][]Unused{}
	}
	s.unused[node] = list
}

// onlyOn forgets what was told by other nodes.
func (s *States) onlyOn(nodes map[string][]*router.Table) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.unused, func(name string, _ []Unused) bool { return nodes[name] == nil })
}

// told is what a server has in the table of records.
type told struct {
	records map[id]storedRecord
	given   map[id]Key
}

// disown makes the indexes missing that the tables have had and have not any more, or not in that form, and returns the former.
func (s *States) disown(c *backend.Conn, n *backend.Node, all told, tables []*router.Table) (unused []Unused, err error) {
	folds := folds(n)
	ruled := map[id]*router.Table{}
	named := map[id]string{}
	for _, t := range tables {
		ruled[idOf(t, "", folds)] = t
		for _, x := range t.Indexes {
			if !x.Given {
				named[idOf(t, x.Name, folds)] = definitionOf(x, Built)
			}
		}
	}
	for i, r := range all.records {
		t, definition := ruled[id{i.db, i.table, ""}], named[i]
		if _, given := all.given[i]; t == nil || definition == r.definition || definition == "" && given && t.GlobalUnique {
			continue
		}
		if r.State != Missing {
			if err := demote(c, i); err != nil {
				return nil, err
			}
			if s.Log != nil {
				s.Log.Warn("an index over shards is used by nobody any more, as the rule of its table does not name it, or in another form: KS INDEX BUILD builds it anew, KS INDEX DROP drops what keeps it",
					"db", i.db, "table", i.table, "index", i.name)
			}
			r.Record = Record{State: Missing}
			all.records[i] = r
		}
		if definition == "" {
			unused = append(unused, Unused{i.db, i.table, i.name, r.Record})
		}
	}
	slices.SortFunc(unused, func(a, b Unused) int {
		return cmp.Or(cmp.Compare(a.DB, b.DB), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name))
	})
	return unused, nil
}

// leaving are the indexes of former configurations that are still to be made missing, by node, so that none counts as built that is named again.
type leaving struct {
	mu     sync.Mutex
	named  []*router.Index // by the configuration in force
	byNode map[string][]*router.Index
}

// Configured takes the tables of a configuration that is about to come into force, as its rules have them.
func (s *States) Configured(tables []*router.Table) {
	now := map[router.Shard]string{}
	var named []*router.Index
	for _, t := range tables {
		for _, x := range t.Indexes {
			now[x.Lookup.Shards[0]] = x.Definition
			named = append(named, x)
		}
	}
	s.left.mu.Lock()
	defer s.left.mu.Unlock()
	missing := map[*router.Index]Record{}
	for _, x := range s.left.named {
		if now[x.Lookup.Shards[0]] != x.Definition {
			missing[x] = Record{State: Missing}
			if s.left.byNode == nil {
				s.left.byNode = map[string][]*router.Index{}
			}
			node := x.Table.Nodes[0]
			s.left.byNode[node] = append(s.left.byNode[node], x)
		}
	}
	s.left.named = named
	if len(missing) > 0 {
		s.note(missing, time.Now())
	}
}

// any reports whether there are some on a node.
func (l *leaving) any(node string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byNode[node]) > 0
}

// demote makes those missing that are on a node.
func (l *leaving) demote(c *backend.Conn, n *backend.Node) error {
	l.mu.Lock()
	list := slices.Clone(l.byNode[n.Name])
	l.mu.Unlock()
	for _, x := range list {
		if err := demote(c, idOf(x.Table, x.Name, folds(n))); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		l.mu.Lock()
		l.byNode[n.Name] = slices.DeleteFunc(l.byNode[n.Name], func(x *router.Index) bool { return slices.Contains(list, x) })
		l.mu.Unlock()
	}
	return nil
}

// ErrNotThere says that there is no index of a name.
var ErrNotThere = errors.New("there is no such index")

// DropUnused drops the tables that keep an index which the rule of t does not name any more, once all proxies know that, and what is stored of it. It returns the tables.
func (s *States) DropUnused(ctx context.Context, t *router.Table, name string, o Options) (dropped []router.Shard, err error) {
	n := o.Nodes[t.Nodes[0]]
	i := idOf(t, name, n != nil && folds(n))
	err = on(ctx, n, func(c *backend.Conn) error {
		records, _, err := read(c)
		if _, has := records[i]; !has && (err == nil || lacking(err)) {
			err = ErrNotThere
		}
		if err == nil {
			err = demote(c, i)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := settle(ctx); err != nil {
		return nil, err
	}
	l := &links{ctx: ctx, nodes: o.Nodes, conns: map[string]*link{}}
	defer l.close()
	for _, node := range t.Nodes {
		c, err := l.to(node)
		if err != nil {
			return dropped, fmt.Errorf("node %s: %w", node, err)
		}
		shards, err := keptIn(c, t, node, name)
		for _, shard := range shards {
			if err = c.run("DROP TABLE IF EXISTS " + quoted(shard)); err != nil {
				break
			}
			dropped = append(dropped, shard)
		}
		if err != nil {
			return dropped, fmt.Errorf("node %s: %w", node, err)
		}
	}
	err = on(ctx, n, func(c *backend.Conn) error { return c.Exec("DELETE FROM " + table + i.row()) })
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if list := s.unused[n.Name]; list != nil {
			s.unused[n.Name] = slices.DeleteFunc(slices.Clone(list), func(u Unused) bool { return u.DB == i.db && u.Table == i.table && u.Name == i.name })
		}
	}
	return dropped, err
}

// keptIn finds the tables on a node that keep an index of a name, whatever its nodes were.
func keptIn(c *link, t *router.Table, node, name string) (shards []router.Shard, err error) {
	prefix := "ks_" + t.Name + "_"
	_ = c.Net.SetDeadline(time.Now().Add(answerMax))
	err = c.Rows("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+text(t.DB)+" AND TABLE_NAME LIKE 'ks\\_%' ORDER BY TABLE_NAME", 1, func(row []string) {
		rest, is := strings.CutPrefix(row[0], prefix)
		at := strings.LastIndexByte(rest, '_')
		if is && at >= 0 && strings.EqualFold(rest[:at], name) && len(rest[at+1:]) >= 4 && strings.Trim(rest[at+1:], "0123456789") == "" {
			shards = append(shards, router.Shard{Node: node, DB: t.DB, Table: row[0]})
		}
	})
	return shards, err
}
