package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/health"
	"kingshard/config"
	"kingshard/proxy/txn/decisions"
)

// initCommand makes on the servers what the proxy keeps there.
var initCommand = command{
	name: "init", args: "[FILE]", summary: "make the proxy's own tables and procedures on the servers",
	about: `Makes on the primary of each node that shares a schema with another what transactions over several nodes need: the
schema ks_meta with its tables and procedures, and the right of the node's user to call these; and on the primary of each
node with replicas the tables by which proxies tell who is the primary, and how far replicas are behind. admin_user does it,
or user where there is no other. What is there stays as it is. With -print nothing is made: the statements are printed, for
an account that may run them.
Exit status: 0 all is there, 1 something could not be made, 2 wrong arguments.`,
	bind: func(set *flag.FlagSet) func([]string) int {
		f := new(flags)
		f.bindConfig(set)
		show := set.Bool("print", false, "print the statements for each node, and make nothing")
		return func(args []string) int {
			if len(args) > 1 {
				fmt.Fprintln(os.Stderr, "kingshard init: one configuration at a time")
				return 2
			}
			if len(args) == 1 {
				f.file.Path = args[0]
			}
			cfg, ok := f.load()
			if !ok {
				return 1
			}
			return initServers(cfg, *show)
		}
	},
}

// initServers does the work, on the configuration's nodes.
func initServers(cfg *config.Config, show bool) int {
	all, err := backend.Open(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return 1
	}
	defer func() {
		for _, n := range all {
			n.Close()
		}
	}()
	code, work := 0, false
	spanned := spanning(cfg)
	var spans []*backend.Node
	for k := range cfg.Nodes {
		nc := &cfg.Nodes[k]
		m := making{node: all[nc.Name], nc: nc, spans: slices.Contains(spanned, nc.Name), tables: health.Tables(nc)}
		if !m.spans && len(m.tables) == 0 {
			continue
		}
		work = true
		switch {
		case show:
			m.print(os.Stdout, cfg.ConnectTimeout.Duration())
			continue
		case !m.make(initPatience):
			code = 1
		}
		if m.spans {
			spans = append(spans, m.node)
		}
	}
	switch {
	case !work:
		fmt.Println("no schema has several nodes, and no node has replicas: there is nothing to make")
	case code == 0 && len(spans) > 0:
		return agree(spans, initPatience)
	}
	return code
}

// initPatience is how long a node may take: a statement that makes a table may wait for others.
const initPatience = 30 * time.Second

// making is what one node needs.
type making struct {
	node   *backend.Node
	nc     *config.Node
	spans  bool // transactions may be over it and others
	tables []health.Table
}

// make makes what is missing on the node's primary, and prints what it was. It reports whether all is there.
func (m making) make(patience time.Duration) bool {
	primary := m.node.Primary
	place := fmt.Sprintf("primary %s of node %s", primary.Addr, primary.Node)
	deadline := time.Now().Add(patience)
	var made []string
	var errs []error
	if m.spans {
		found, some, err := decisions.Make(primary, deadline)
		made, errs = some, append(errs, err)
		if err == nil && found.Warning() != "" {
			fmt.Printf("%s: warning: %s\n", place, found.Warning())
		}
	}
	some, err := makeTables(primary, m.tables, deadline)
	made = append(made, some...)
	if len(made) > 0 {
		fmt.Printf("%s: made %s\n", place, strings.Join(made, ", "))
	}
	if err = errors.Join(append(errs, err)...); err != nil {
		fmt.Fprintln(os.Stderr, "kingshard init:", strings.ReplaceAll(err.Error(), "\n", "\nkingshard init: "))
		return false
	}
	if len(made) == 0 {
		fmt.Printf("%s: all is there\n", place)
	}
	return true
}

// makeTables makes those that a primary does not have.
func makeTables(primary *backend.Instance, tables []health.Table, deadline time.Time) (made []string, err error) {
	if len(tables) == 0 {
		return nil, nil
	}
	c, err := primary.OwnUntil(deadline)
	if err != nil {
		return nil, fmt.Errorf("node %s (%s): %w", primary.Node, primary.Addr, err)
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	for _, t := range tables {
		yes, err := t.Make(c)
		if err != nil {
			return made, fmt.Errorf("node %s (%s): %s: %w", primary.Node, primary.Addr, t.Name, err)
		}
		if yes {
			made = append(made, t.Name)
		}
	}
	return made, nil
}

// agree sees to it that all nodes have one key.
func agree(nodes []*backend.Node, patience time.Duration) (code int) {
	key, err := decisions.Agree(nodes, time.Now().Add(patience))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard init:", err)
		return 1
	}
	fmt.Printf("all nodes have the key %s\n", key)
	return 0
}

// print prints what an account runs that may do everything on the node.
func (m making) print(w io.Writer, timeout time.Duration) {
	primary := m.node.Primary
	fmt.Fprintf(w, "-- Node %s: on its primary, %s, by an account that may make databases and procedures and grant rights.\n", primary.Node, primary.Addr)
	if m.spans {
		fmt.Fprintln(w, "-- The procedures run with that account's rights: it has to stay, and to keep them.")
	}
	a := decisions.Accounts{User: accountOf(w, "user", m.nc.User, timeout, func(deadline time.Time) (*backend.Conn, error) { return primary.Dial(0, deadline) })}
	own := a.User
	if primary.HasOwnAccount() {
		a.Own = accountOf(w, "admin_user", m.nc.AdminUser, timeout, primary.OwnUntil)
		own = a.Own
	} else {
		fmt.Fprintln(w, "-- The node has no admin_user: its user gets the rights of both, and clients' statements run under it.")
	}
	var statements []decisions.Statement
	if m.spans {
		statements = decisions.Statements(a)
	}
	if len(m.tables) > 0 {
		statements = append(statements, decisions.Statement{About: "By these proxies tell who is the primary, and how far replicas are behind.", SQL: health.CreateSchema})
	}
	for _, t := range m.tables {
		statements = append(statements, decisions.Statement{SQL: t.Create}, decisions.Statement{SQL: "GRANT SELECT, INSERT, UPDATE ON " + t.Name + " TO " + own})
	}
	for _, s := range statements {
		if s.About != "" {
			fmt.Fprintf(w, "-- %s\n", s.About)
		}
		if strings.Contains(s.SQL, ";") {
			fmt.Fprintf(w, "DELIMITER //\n%s//\nDELIMITER ;\n", s.SQL)
		} else {
			fmt.Fprintf(w, "%s;\n", s.SQL)
		}
	}
	fmt.Fprintln(w)
}

// accountOf asks which account of the server one of the configuration's is, and says so where nobody knows.
func accountOf(w io.Writer, role, name string, timeout time.Duration, dial func(time.Time) (*backend.Conn, error)) string {
	deadline := time.Now().Add(timeout)
	c, err := dial(deadline)
	if err == nil {
		defer c.Close()
		c.Net.SetDeadline(deadline)
		var current string
		if current, err = decisions.Account(c); err == nil {
			return current
		}
	}
	fmt.Fprintf(w, "-- The host of %s is not known, as it could not log in: put it in the place of %%.\n", role)
	return decisions.QuoteAccount(name + "@%")
}
