package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/backend/stored"
	"kingshard/config"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// checkServers logs in to every instance of a configuration as the proxy would and prints what keeps it out, which rights of the
// account are missing and which it should not have. ok is false if something is missing.
func checkServers(cfg *config.Config) (ok bool) {
	nodes, err := backend.Open(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return false
	}
	databases, err := physicalDatabases(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return false
	}
	ok = true
	several := spanning(cfg)
	for _, nc := range cfg.Nodes {
		n := nodes[nc.Name]
		for _, i := range n.Instances() {
			place := fmt.Sprintf("%s %s of node %s", i.Role, i.Addr, i.Node)
			user, own, errs := logInBoth(i, &nc, cfg.ConnectTimeout.Duration())
			for _, err := range errs {
				fmt.Printf("%s: %v\n", place, err)
				ok = false
			}
			if len(errs) > 0 {
				continue
			}
			for _, l := range []*login{user, own}[:accountsOf(&nc)] {
				excess := l.grants.Excess()
				if l == own && nc.FollowsRoles() { // which sets read_only
					excess = slices.DeleteFunc(excess, func(right string) bool { return right == "SYSTEM_VARIABLES_ADMIN" })
				}
				if len(excess) > 0 {
					fmt.Printf("%s: warning: %s has rights that a proxy needs for nothing: %s\n", place, l.name, strings.Join(excess, ", "))
				}
			}
			if missing := lagRight(own.grants, &nc, i.Role, own.info.MariaDB); missing != "" && nc.MaxReplicaLag == config.LagAuto {
				fmt.Printf("%s: warning: %s lacks %s: it is read from though it may have stopped to replicate\n", place, own.name, missing)
			} else if missing != "" {
				fmt.Printf("%s: %s lacks %s\n", place, own.name, missing)
				ok = false
			}
			hidden, err := hiddenFrom(i, cfg.ConnectTimeout.Duration())
			if err != nil {
				fmt.Printf("%s: %v\n", place, err)
				ok = false
			}
			for _, right := range hidden {
				fmt.Printf("%s: warning: %s lacks %s: statements that may reach triggers, views or routines keep their connections\n", place, own.name, right)
			}
			recommend(place, user, own)
			if i == n.Primary && slices.Contains(several, nc.Name) {
				if err := checkDecisions(place, n, own, cfg); err != nil {
					fmt.Printf("%s: %v\n", place, err)
					ok = false
				}
			}
			if i == n.Primary {
				if err := checkRoles(place, i, own, &nc, cfg.ConnectTimeout.Duration()); err != nil {
					fmt.Printf("%s: %v\n", place, err)
					ok = false
				}
			}
			if format, err := temporaryInLog(i, cfg.ConnectTimeout.Duration()); err != nil {
				fmt.Printf("%s: %v\n", place, err)
				ok = false
			} else if format != "" && collects(cfg, i, databases[nc.Name]) {
				fmt.Printf("%s: warning: binlog_format is %s: temporary tables, in which statements over shards collect rows, are written to the binary log, which ROW keeps them out of\n", place, format)
			}
			if missing, err := locksHidden(i, cfg, databases); err != nil {
				fmt.Printf("%s: %v\n", place, err)
				ok = false
			} else if len(missing) > 0 {
				fmt.Printf("%s: warning: %s lacks %s: UPDATE and DELETE with LIMIT over several nodes, and INSERTs there that fail, wait for row locks a moment only and begin anew, for 2 seconds until error 1213; LOAD DATA ends with error 1205\n",
					place, own.name, strings.Join(missing, ", "))
			}
			lacks, err := missingScratch(i, user, scratchDatabases(cfg, nc.Name), cfg.ConnectTimeout.Duration())
			if err != nil {
				fmt.Printf("%s: %v\n", place, err)
				ok = false
			}
			for _, missing := range append(lacks, missingRights(user, own, i.Role, databases[nc.Name])...) {
				fmt.Printf("%s: %s\n", place, missing)
				ok = false
			}
		}
		n.Close()
	}
	return ok
}

// collects reports whether statements may collect rows on an instance whose node has sub-tables in these databases.
func collects(cfg *config.Config, i *backend.Instance, databases map[string][]string) bool {
	switch {
	case i.Role == backend.Primary:
		return len(databases) > 0 || len(scratchDatabases(cfg, i.Node)) > 0
	case len(databases) == 0:
		return false
	}
	return slices.ContainsFunc(cfg.QueryRules, func(r config.QueryRule) bool { return r.Route == "replica" })
}

// accountsOf is how many a node has.
func accountsOf(nc *config.Node) int {
	if nc.AdminUser == "" {
		return 1
	}
	return 2
}

// logInBoth asks by the accounts that a node has; both are the same where it has one. Each that fails is among errs.
func logInBoth(i *backend.Instance, nc *config.Node, timeout time.Duration) (user, own *login, errs []error) {
	user, err := logIn(i, nc.User, false, timeout)
	if err != nil {
		errs = append(errs, err)
	}
	if accountsOf(nc) == 1 {
		return user, user, errs
	}
	if own, err = logIn(i, nc.AdminUser, true, timeout); err != nil {
		errs = append(errs, err)
	}
	return user, own, errs
}

// hiddenFrom lists the rights to see stored objects that are lacking.
func hiddenFrom(i *backend.Instance, timeout time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	c, err := i.DialContext(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.Net.SetDeadline(deadline)
	own := c
	if i.HasOwnAccount() {
		if own, err = i.Own(ctx); err != nil {
			return nil, err
		}
		defer own.Close()
		own.Net.SetDeadline(deadline)
	}
	o, err := stored.AskBoth(c, own, sqltext.Mode{MariaDB: c.Info.MariaDB, ServerVersion: int32(c.Info.Number)})
	if err != nil {
		return nil, err
	}
	return o.Blind, nil
}

// missingRights lists what docs/sharding.md asks of the accounts and they have not, as "kingshard lacks SELECT on shop".
func missingRights(user, own *login, role backend.Role, databases map[string][]string) (missing []string) {
	lack := func(l *login, db string, rights ...string) {
		if lacks := l.grants.Lacks(db, rights...); len(lacks) > 0 {
			missing = append(missing, l.name+" lacks "+strings.Join(lacks, ", ")+" on "+db)
		}
	}
	for _, db := range slices.Sorted(maps.Keys(databases)) {
		rights := databases[db]
		switch {
		case role == backend.Replica:
			lack(user, db, "SELECT")
		case own == user:
			lack(user, db, rights...)
		default:
			clients := slices.DeleteFunc(slices.Clone(rights), func(right string) bool { return right == "CREATE" })
			lack(user, db, clients...)
			if len(clients) < len(rights) { // auto_create
				lack(own, db, "SELECT", "CREATE")
			}
		}
	}
	return missing
}

// lagRight names the right to ask a replica for its lag, where it is asked and the account lacks it; "" otherwise.
func lagRight(g backend.Grants, nc *config.Node, role backend.Role, isMariaDB bool) string {
	right := "REPLICATION CLIENT"
	if isMariaDB {
		right = "REPLICA MONITOR"
	}
	// MariaDB calls the right by one name or the other, by its version.
	lacks := len(g.Lacks("", right)) > 0 && (!isMariaDB || len(g.Lacks("", "SLAVE MONITOR")) > 0)
	if role != backend.Replica || nc.MaxReplicaLag == 0 || !lacks {
		return ""
	}
	return right + " for max_replica_lag"
}

// physicalDatabases gives, by node, the databases of sharded tables with the rights that are needed on them.
func physicalDatabases(cfg *config.Config) (map[string]map[string][]string, error) {
	all := make(map[string]map[string][]string)
	for _, sc := range cfg.SchemaList {
		r, err := router.New(sc, router.Options{Zone: time.Local})
		if err != nil {
			return nil, err
		}
		for _, t := range r.Tables() {
			for _, s := range t.Shards {
				if all[s.Node] == nil {
					all[s.Node] = make(map[string][]string)
				}
				rights := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE TEMPORARY TABLES"}
				if t.AutoCreate || slices.Contains(all[s.Node][s.DB], "CREATE") {
					rights = append(rights, "CREATE")
				}
				all[s.Node][s.DB] = rights
			}
		}
	}
	return all, nil
}
