package subtables

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/router"
)

// Bounds of the wait for a connection, and of one statement: making a table waits for who changes the one it is like.
const (
	connTimeout      = 5 * time.Second
	statementTimeout = 30 * time.Second
)

// setting is the state of the connections: the server's defaults.
var setting = backend.Intern("", 0, nil)

// work makes the missing sub-tables of one table.
type work struct {
	m   *Maker
	ctx context.Context
	job Job
	// down are the nodes that could not be reached for a table before: they are not waited for again.
	down map[string]bool

	exists   map[int]bool // by position
	complete bool
}

// run tells whether nothing is left that another try may do.
func (w *work) run() bool {
	t := w.job.Table
	w.exists, w.complete = map[int]bool{}, true
	asked := map[string]bool{}
	for _, node := range t.Nodes {
		if w.down[node] {
			w.complete = false
			continue
		}
		err := w.on(node, func(c *backend.Conn) error { return w.look(node, c) })
		if err != nil {
			w.fail("the sub-tables of a node cannot be asked for", node, err)
			continue
		}
		asked[node] = true
	}
	newest := w.newest("")
	if newest < 0 {
		if w.complete {
			w.m.Log.Warn("auto_create: no sub-table is there to make others like it", "table", t.DB+"."+t.Name)
		}
		return w.complete
	}
	definition := ""
	for position, shard := range t.Shards {
		if w.exists[position] || !asked[shard.Node] || w.ctx.Err() != nil {
			continue
		}
		sql, err := "", error(nil)
		like := t.Shards[newest]
		if near := w.newest(shard.Node); near >= 0 {
			like = t.Shards[near]
			sql = "CREATE TABLE IF NOT EXISTS " + name(shard) + " LIKE " + name(like)
		} else {
			if definition == "" {
				definition, err = w.define(like)
			}
			sql = "CREATE TABLE IF NOT EXISTS " + name(shard) + forPart(definition, t.Name, t.Shards[newest].Table, shard.Table)
		}
		if err == nil {
			err = w.make(position, sql)
		}
		if err != nil {
			w.fail("a sub-table cannot be made", shard.Node, err)
			continue
		}
		w.m.Log.Info("auto_create: a sub-table was made", "node", shard.Node, "table", shard.DB+"."+shard.Table, "like", like.String())
	}
	return w.complete
}

func (w *work) fail(what, node string, err error) {
	w.complete = false
	if w.ctx.Err() != nil {
		return
	}
	w.m.failed.Add(1)
	w.m.Log.Warn("auto_create: "+what, "table", w.job.Table.DB+"."+w.job.Table.Name, "node", node, "error", err)
}

// newest is the position of the newest sub-table that is there, on a node or with "" on any; -1 without one.
func (w *work) newest(node string) int {
	t := w.job.Table
	newest := -1
	for position := range t.Shards {
		if !w.exists[position] || node != "" && t.Shards[position].Node != node {
			continue
		}
		if newest < 0 || t.Rule.Number(position) > t.Rule.Number(newest) {
			newest = position
		}
	}
	return newest
}

// on borrows a connection to a node's primary for f. f's errors that are not the server's close it.
func (w *work) on(node string, f func(c *backend.Conn) error) error {
	n := w.job.Nodes[node]
	if n == nil {
		return fmt.Errorf("node %s is not in the configuration", node)
	}
	select {
	case <-n.Primary.Known():
	case <-w.ctx.Done():
		return w.ctx.Err()
	case <-time.After(connTimeout):
		w.down[node] = true
		return errors.New("it has not been reached yet")
	}
	if n.Primary.HasOwnAccount() {
		return w.onOwn(node, n.Primary, f)
	}
	p, err := n.Primary.Get(setting, time.Now().Add(connTimeout), w.ctx.Done())
	if err != nil {
		w.down[node] = true
		return err
	}
	p.Conn.Net.SetDeadline(time.Now().Add(statementTimeout))
	stop := context.AfterFunc(w.ctx, func() { p.Conn.Net.SetDeadline(time.Unix(1, 0)) })
	err = f(p.Conn)
	var sqlErr *mysql.SQLError
	if !stop() || err != nil && !errors.As(err, &sqlErr) {
		p.Taint()
		return err
	}
	p.Conn.Net.SetDeadline(time.Time{})
	p.Put()
	return err
}

// onOwn is on by the account that the proxy has for what it does of its own.
func (w *work) onOwn(node string, i *backend.Instance, f func(c *backend.Conn) error) error {
	ctx, cancel := context.WithTimeout(w.ctx, connTimeout)
	defer cancel()
	c, err := i.Own(ctx)
	if err != nil {
		w.down[node] = true
		return err
	}
	defer c.Close()
	c.Net.SetDeadline(time.Now().Add(statementTimeout))
	stop := context.AfterFunc(w.ctx, func() { c.Net.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.Apply(nil, setting); err != nil {
		return err
	}
	return f(c)
}

// look finds the sub-tables that a node has.
func (w *work) look(node string, c *backend.Conn) error {
	positions := map[string]map[string]int{} // by database and name
	for position, shard := range w.job.Table.Shards {
		if shard.Node != node {
			continue
		}
		if positions[shard.DB] == nil {
			positions[shard.DB] = map[string]int{}
		}
		positions[shard.DB][w.fold(node, shard.Table)] = position
	}
	for db, tables := range positions {
		var names []string
		for table := range tables {
			names = append(names, literal(table))
		}
		err := c.Rows("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(db)+" AND TABLE_NAME IN ("+strings.Join(names, ", ")+")", 1,
			func(row []string) {
				if position, ok := tables[w.fold(node, row[0])]; ok {
					w.exists[position] = true
				}
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// fold brings a name to the form in which the server compares it.
func (w *work) fold(node, name string) string {
	if info := w.job.Nodes[node].Primary.Info(); info != nil && info.LowerCaseTables {
		return strings.ToLower(name)
	}
	return name
}

// make makes one sub-table. Who else made it meanwhile is welcome.
func (w *work) make(position int, sql string) error {
	var ok mysql.OKPacket
	err := w.on(w.job.Table.Shards[position].Node, func(c *backend.Conn) error {
		c.Command(mysql.ComQuery, sql)
		err := c.Flush()
		if err == nil {
			ok, err = c.ReadChange()
		}
		return err
	})
	if err != nil {
		return err
	}
	w.exists[position] = true
	if ok.Warnings == 0 {
		w.m.made.Add(1)
	}
	return nil
}

// define gives what follows the name in the CREATE TABLE of a sub-table on another node.
func (w *work) define(like router.Shard) (definition string, err error) {
	err = w.on(like.Node, func(c *backend.Conn) error {
		text := ""
		if err := c.Rows("SHOW CREATE TABLE "+name(like), 2, func(row []string) { text = row[1] }); err != nil {
			return err
		}
		var ok bool
		if definition, ok = body(text, like.Table); !ok {
			return fmt.Errorf("the definition of %v cannot be read", like)
		}
		return nil
	})
	return definition, err
}

func name(s router.Shard) string { return quote(s.DB) + "." + quote(s.Table) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func literal(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", "''") + "'"
}
