package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/dump"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// columns tells the columns of tables: from dumps, from servers, or not at all.
type columns struct {
	dumps *dump.Schema // nil without dumps
	// nodes are those of the configuration, nil if none is asked; conns are the connections to their primaries.
	nodes   map[string]*backend.Node
	conns   map[string]*backend.Conn
	timeout time.Duration
	// asked are the tables that servers have told of.
	asked map[router.Shard]tableColumns
	// failed is why a server could not be asked: nothing that is said without its answer is worth much.
	failed error

	mode sqltext.Mode // of the servers, zero if it is not known
}

type tableColumns struct{ visible, invisible []mysql.ColumnDefinition41 }

// warningsMax is how many warnings of dumps are printed.
const warningsMax = 20

// knowColumns reads the dumps, or asks the default node's server. db is the database of dumps without USE, "" leaves that to them. Where names of tables count without regard to case there, the router is another one.
func (f *explainFlags) knowColumns(cfg *config.Config, r *router.Router, db string) (*columns, *router.Router, int) {
	c := &columns{timeout: cfg.ConnectTimeout.Duration()}
	switch {
	case len(f.dumps) > 0:
		c.dumps = &dump.Schema{DB: f.db}
		for _, name := range f.dumps {
			if err := readDump(c.dumps, name, db); err != nil {
				fmt.Fprintln(os.Stderr, "kingshard explain:", err)
				return nil, nil, 1
			}
		}
		c.mode = c.dumps.Server
		for k, w := range c.dumps.Warnings {
			if k == warningsMax {
				fmt.Fprintf(os.Stderr, "kingshard explain: warning: %d more\n", len(c.dumps.Warnings)-k)
				break
			}
			fmt.Fprintln(os.Stderr, "kingshard explain: warning:", w)
		}
		if err := c.matching(r); err != nil {
			fmt.Fprintln(os.Stderr, "kingshard explain:", err)
			return nil, nil, 1
		}
	case f.servers:
		var err error
		if c.nodes, err = backend.Open(cfg); err != nil {
			fmt.Fprintln(os.Stderr, "kingshard:", err)
			return nil, nil, 1
		}
		c.conns, c.asked = map[string]*backend.Conn{}, map[router.Shard]tableColumns{}
		first, err := c.conn(r.Default())
		if err != nil {
			c.close()
			fmt.Fprintln(os.Stderr, "kingshard explain:", err)
			return nil, nil, 1
		}
		c.mode = sqltext.Mode{MariaDB: first.Info.MariaDB, ServerVersion: int32(first.Info.Number)}
		folds := false
		if err := first.Rows("SELECT @@lower_case_table_names", 1, func(row []string) { folds = row[0] != "0" }); err != nil {
			c.close()
			fmt.Fprintf(os.Stderr, "kingshard explain: node %s: %v\n", r.Default(), err)
			return nil, nil, 1
		}
		if folds {
			code := 0
			if r, code = f.routerOf(cfg, true); r == nil {
				c.close()
				return nil, nil, code
			}
		}
	}
	return c, r, 0
}

// readDump reads a file.
func readDump(s *dump.Schema, name, db string) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	return s.Read(in, name, db)
}

// matching fails if none of the tables with a rule is in the dumps.
func (c *columns) matching(r *router.Router) error {
	var want, have []string
	for _, t := range r.Tables() {
		if t.Keeps != nil {
			continue
		}
		if c.dumped(t) != nil {
			return nil
		}
		want = append(want, t.DB+"."+t.Name)
	}
	if len(want) == 0 {
		return nil
	}
	for _, t := range c.dumps.All() {
		have = append(have, t.DB+"."+t.Name)
	}
	return fmt.Errorf("the dumps have none of the tables with a rule (%s); they have %s. -db names the database of dumps without USE", some(want), some(have))
}

// some lists a few.
func some(list []string) string {
	const most = 5
	if len(list) == 0 {
		return "none"
	}
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}

// none tells whether columns of no table are known.
func (c *columns) none() bool { return c.dumps == nil && c.nodes == nil }

// source says where the columns are from.
func (c *columns) source() string {
	switch {
	case c.dumps != nil:
		return "dumps"
	case c.nodes != nil:
		return "servers"
	}
	return ""
}

// of gives the columns of a table; nil if they are not known.
func (c *columns) of(t *router.Table) (visible, invisible []mysql.ColumnDefinition41) {
	switch {
	case c.dumps != nil:
		if d := c.dumped(t); d != nil {
			return d.Columns, d.Invisible
		}
	case c.nodes != nil && c.failed == nil:
		known, err := c.ask(t.Shards[0])
		if err != nil {
			c.failed = err
		}
		return known.visible, known.invisible
	}
	return nil, nil
}

// dumped finds a table in the dumps: under its own name, or that of a sub-table, where the dump is of a server behind a proxy.
func (c *columns) dumped(t *router.Table) *dump.Table {
	if d := c.dumps.Table(t.DB, t.Name); d != nil {
		return d
	}
	for _, s := range t.Shards {
		if d := c.dumps.Table(s.DB, s.Table); d != nil {
			return d
		}
	}
	return nil
}

// ask has a server describe a table. A table that is not there has no columns.
func (c *columns) ask(s router.Shard) (known tableColumns, err error) {
	if known, ok := c.asked[s]; ok {
		return known, nil
	}
	conn, err := c.conn(s.Node)
	if err != nil {
		return known, err
	}
	_ = conn.Net.SetDeadline(time.Now().Add(c.timeout))
	known.visible, known.invisible, err = backend.TableColumns(conn, s.DB, s.Table)
	var refused *mysql.SQLError
	if errors.As(err, &refused) {
		fmt.Fprintf(os.Stderr, "kingshard explain: warning: node %s does not tell the columns of %s.%s: %v\n", s.Node, s.DB, s.Table, err)
		err = nil
	}
	if err != nil {
		return known, fmt.Errorf("node %s: %w", s.Node, err)
	}
	c.asked[s] = known
	return known, nil
}

// conn is the connection to a node's primary.
func (c *columns) conn(node string) (*backend.Conn, error) {
	if conn := c.conns[node]; conn != nil {
		return conn, nil
	}
	n := c.nodes[node]
	if n == nil {
		return nil, fmt.Errorf("node %s is not in the configuration", node)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	conn, err := n.Primary.DialContext(ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("%s of node %s: %w", n.Primary.Addr, node, err)
	}
	_ = conn.Net.SetDeadline(time.Now().Add(c.timeout))
	// Results in the columns' own character sets tell the columns' own collations.
	if err := conn.Exec("SET character_set_results = NULL"); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s of node %s: %w", n.Primary.Addr, node, err)
	}
	c.conns[node] = conn
	return conn, nil
}

func (c *columns) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	for _, n := range c.nodes {
		n.Close()
	}
}
