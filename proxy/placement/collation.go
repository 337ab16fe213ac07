package placement

import (
	"context"
	"fmt"
	"strings"

	"kingshard/backend"
	"kingshard/router"
	"kingshard/router/rule"
)

// Collations finds the key columns of text that servers compare in another way than the rule folds them: there rows are on
// different shards though their keys are equal, so that a primary key may be there twice. It is asked of one sub-table of
// each node, as [Differences] compares all.
func Collations(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) []Finding {
	if t.Kind != router.Sharded || len(t.Shards) < 2 || !rule.TakesText(t.Rule) {
		return nil
	}
	var findings []Finding
	for _, node := range t.Nodes {
		s := onNode(t, node)[0]
		a, err := ask(ctx, nodes[node])
		if err != nil {
			findings = append(findings, Finding{Node: node, What: "cannot be asked: " + err.Error()})
			continue
		}
		var keys [][2]string
		err = a.rows("SELECT column_name, collation_name FROM information_schema.columns WHERE collation_name IS NOT NULL AND "+among([]router.Shard{s}), 2, func(row []string) {
			for _, key := range t.Keys {
				if strings.EqualFold(row[0], key) {
					keys = append(keys, [2]string{row[0], row[1]})
				}
			}
		})
		for _, key := range keys {
			if !rule.Follows(t.Rule, key[1]) {
				findings = append(findings, Finding{node, name(s), Unlike(t, key[0], key[1])})
			}
		}
		if err != nil {
			findings = append(findings, Finding{Node: node, Table: name(s), What: err.Error()})
		}
		a.close()
	}
	return findings
}

// Unlike says that a key is compared in another way than its rule folds it.
func Unlike(t *router.Table, column, collation string) string {
	return fmt.Sprintf("the key %s of %s.%s has the collation %s, and the rule tells texts apart by strings: %s: keys that are equal to the server may be on several shards; "+
		"give the column a collation that the rule follows, such as utf8mb4_bin, or a table without rows strings: %s", column, t.DB, t.Name, collation, rule.FoldName(t.Rule), rule.FoldFor(collation))
}
