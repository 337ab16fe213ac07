package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/txn/decisions"
)

// initCommand makes on the servers what the proxy keeps there.
var initCommand = command{
	name: "init", args: "[FILE]", summary: "make the proxy's own tables and procedures on the servers",
	about: `Makes on the primary of each node that shares a schema with another what transactions over several nodes need: the
schema ks_meta with its tables and procedures, and the right of the node's user to call these. admin_user does it, or user
where there is no other. What is there stays as it is. With -print nothing is made: the statements are printed, for an
account that may run them.
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
	var nodes []*backend.Node
	for _, name := range spanning(cfg) {
		nodes = append(nodes, all[name])
	}
	switch {
	case len(nodes) == 0:
		fmt.Println("no schema has several nodes: there is nothing to make")
		return 0
	case show:
		for _, n := range nodes {
			printStatements(os.Stdout, n, nodeOf(cfg, n.Name), cfg.ConnectTimeout.Duration())
		}
		return 0
	}
	return makeOn(nodes, initPatience)
}

// initPatience is how long a node may take: a statement that makes a table may wait for others.
const initPatience = 30 * time.Second

// makeOn makes what is missing, on all nodes that can be reached, and then sees to it that they have one key.
func makeOn(nodes []*backend.Node, patience time.Duration) (code int) {
	for _, n := range nodes {
		place := fmt.Sprintf("primary %s of node %s", n.Primary.Addr, n.Name)
		found, made, err := decisions.Make(n.Primary, time.Now().Add(patience))
		if len(made) > 0 {
			fmt.Printf("%s: made %s\n", place, strings.Join(made, ", "))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "kingshard init:", err)
			code = 1
			continue
		}
		if len(made) == 0 {
			fmt.Printf("%s: all is there\n", place)
		}
		if open := found.Warning(); open != "" {
			fmt.Printf("%s: warning: %s\n", place, open)
		}
	}
	if code != 0 {
		return code
	}
	key, err := decisions.Agree(nodes, time.Now().Add(patience))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard init:", err)
		return 1
	}
	fmt.Printf("all nodes have the key %s\n", key)
	return 0
}

// printStatements prints what an account runs that may do everything on a node.
func printStatements(w io.Writer, n *backend.Node, nc *config.Node, timeout time.Duration) {
	fmt.Fprintf(w, "-- Node %s: on its primary, %s, by an account that may make databases and procedures and grant rights.\n", n.Name, n.Primary.Addr)
	fmt.Fprintln(w, "-- The procedures run with that account's rights: it has to stay, and to keep them.")
	a := decisions.Accounts{User: accountOf(w, "user", nc.User, timeout, func(deadline time.Time) (*backend.Conn, error) { return n.Primary.Dial(0, deadline) })}
	if n.Primary.HasOwnAccount() {
		a.Own = accountOf(w, "admin_user", nc.AdminUser, timeout, n.Primary.OwnUntil)
	} else {
		fmt.Fprintln(w, "-- The node has no admin_user: its user gets the rights of both, and clients' statements run under it.")
	}
	for _, s := range decisions.Statements(a) {
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

// nodeOf finds a node of the configuration.
func nodeOf(cfg *config.Config, name string) *config.Node {
	k := slices.IndexFunc(cfg.Nodes, func(n config.Node) bool { return n.Name == name })
	return &cfg.Nodes[k]
}
