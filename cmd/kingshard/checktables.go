package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/placement"
	"kingshard/router"
)

// checkTables compares the sub-tables of all sharded tables, and the collations of keys with the way that the rules fold
// texts, and prints what is not as it should be. A table that is nowhere yet is none of it. ok is false if there is something.
func checkTables(cfg *config.Config) (ok bool) {
	nodes, err := backend.Open(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return false
	}
	defer func() {
		for _, n := range nodes {
			n.Close()
		}
	}()
	ok = true
	seen := map[string]bool{}
	for _, sc := range cfg.SchemaList {
		r, err := router.New(sc, router.Options{Zone: time.Local})
		if err != nil {
			fmt.Fprintln(os.Stderr, "kingshard:", err)
			return false
		}
		for _, t := range r.Tables() {
			if at := fmt.Sprint(t.DB, ".", t.Name, t.Shards); seen[at] {
				continue // several users see it
			} else {
				seen[at] = true
			}
			findings := placement.Differences(context.Background(), t, nodes)
			if nowhere(t, findings) {
				fmt.Printf("table %s.%s: warning: none of its sub-tables is there yet\n", t.DB, t.Name)
				continue
			}
			for _, f := range append(findings, placement.Collations(context.Background(), t, nodes)...) {
				ok = false
				fmt.Printf("table %s.%s on node %s: %s\n", t.DB, t.Name, f.Node, strings.TrimSpace(f.Table+" "+f.What))
			}
		}
	}
	return ok
}

// nowhere tells whether all sub-tables of a table are missing.
func nowhere(t *router.Table, findings []placement.Finding) bool {
	for _, f := range findings {
		if f.What != placement.Missing {
			return false
		}
	}
	return len(findings) == len(t.Shards)
}

// all tells whether each check, which has run whatever the others found, is fine.
func all(checks ...bool) bool { return !slices.Contains(checks, false) }
