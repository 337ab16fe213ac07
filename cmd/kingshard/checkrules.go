package main

import (
	"context"
	"fmt"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/router"
)

// warnOfCase prints which rules have one table together on servers that compare names without regard to case.
func warnOfCase(cfg *config.Config, file string) {
	for _, sc := range cfg.SchemaList {
		if _, err := router.New(sc, router.Options{Zone: time.Local, LowerCase: true, Servers: cfg.Servers()}); err != nil {
			fmt.Printf("%s: warning: schema of %s: not for servers with lower_case_table_names: %v\n", file, sc.User, err)
		}
	}
}

// checkRules prints which rules have one table together, by what the primaries say of themselves: which are one server, and how they
// compare names. One that does not answer counts as a server of its own. ok is false if there is something.
func checkRules(cfg *config.Config) (ok bool) {
	nodes, err := backend.Open(cfg)
	if err != nil {
		return false // which checkServers has said
	}
	servers := map[string]string{}
	fold := map[string]bool{}
	for name, n := range nodes {
		ctx, cancel := context.WithTimeout(context.Background(), cfg.ConnectTimeout.Duration())
		if found, err := n.Primary.Inspect(ctx); err == nil && found.Server != "" {
			servers[name] = found.Server
		}
		if c, err := n.Primary.DialContext(ctx, 0); err == nil {
			deadline, _ := ctx.Deadline()
			c.Net.SetDeadline(deadline)
			_ = c.Rows("SELECT @@lower_case_table_names", 1, func(row []string) { fold[name] = row[0] != "0" })
			c.Close()
		}
		cancel()
		n.Close()
	}
	ok = true
	for _, sc := range cfg.SchemaList {
		if _, err := router.New(sc, router.Options{Zone: time.Local, LowerCase: fold[sc.Default], Servers: servers}); err != nil {
			ok = false
			fmt.Printf("schema of %s: %v\n", sc.User, err)
		}
	}
	return ok
}
