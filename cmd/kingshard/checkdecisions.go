package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/proxy/txn/decisions"
)

// spanning lists the nodes that transactions may be over together with others, each once, in the order of the configuration.
func spanning(cfg *config.Config) (names []string) {
	for k := range cfg.Nodes {
		name := cfg.Nodes[k].Name
		if slices.ContainsFunc(cfg.SchemaList, func(s config.Schema) bool { return len(s.Nodes) > 1 && slices.Contains(s.Nodes, name) }) {
			names = append(names, name)
		}
	}
	return names
}

// checkDecisions prints whether a node's primary qualifies for transactions over several nodes, what it lacks for them, and what is open there.
func checkDecisions(place string, n *backend.Node, own *login, cfg *config.Config) error {
	deadline := time.Now().Add(cfg.ConnectTimeout.Duration())
	server, err := decisions.AskNode(n, deadline)
	if err != nil {
		return err
	}
	verdict := decisions.Judge(server)
	fmt.Printf("%s: transactions over several nodes: %s\n", place, verdict)
	for _, note := range verdict.Notes {
		fmt.Printf("%s: note on transactions over several nodes: %s\n", place, note)
	}
	if verdict.Loses != "" {
		fmt.Printf("%s: warning: transactions over several nodes: %s\n", place, verdict.Loses)
	}
	if verdict.Fitness == decisions.No {
		return nil
	}
	used := cfg.HasTransactionMode(config.TransactionAtomic) || cfg.HasTransactionMode(config.TransactionAuto) && (verdict.Fitness == decisions.Yes || cfg.XAOnUnsafeServer)
	if used && !server.MariaDB && len(own.grants.Lacks("", "XA_RECOVER_ADMIN")) > 0 {
		fmt.Printf("%s: warning: %s lacks XA_RECOVER_ADMIN: this proxy does not find what another one has left behind\n", place, own.name)
	}
	found, err := decisions.Look(n.Primary, deadline)
	if err != nil {
		return err
	}
	for _, wrong := range found.Wrong {
		fmt.Printf("%s: warning: %s\n", place, wrong)
	}
	switch missing := strings.Join(found.Missing, ", "); {
	case missing != "":
		how := "the proxy makes them when it needs them, or kingshard init does"
		if needs := own.grants.Lacks(decisions.Schema, decisions.MakersRights...); len(needs) > 0 {
			how = fmt.Sprintf("%s needs %s on %s to make them; kingshard init -print has the statements for another account", own.name, strings.Join(needs, ", "), decisions.Schema)
		}
		fmt.Printf("%s: transactions over several nodes need %s, which are not there: %s\n", place, missing, how)
	case found.Uncallable != "":
		fmt.Printf("%s: warning: %s: %s\n", place, found.Uncallable, strings.Join(found.Grants(), "; "))
	}
	if open := found.Warning(); open != "" {
		fmt.Printf("%s: warning: %s\n", place, open)
	}
	return nil
}
