package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/collation"
	"kingshard/router"
	"kingshard/router/rule"
)

// Collations finds the key columns of text that servers compare in another way than the rule folds them: there rows are on
// different shards though their keys are equal, so that a primary key may be there twice. It is asked of one sub-table of
// each node, as [Differences] compares all.
func Collations(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) []Finding {
	var findings []Finding
	for _, node := range t.Nodes {
		findings = append(findings, Keys(ctx, []*router.Table{t}, nodes, node)...)
	}
	return findings
}

// Keys finds on one node what Collations finds of all tables that are there, and the folds of these tables that the server's
// weights contradict. A finding without a table says that the node could not be asked, or not to the end.
func Keys(ctx context.Context, tables []*router.Table, nodes map[string]*backend.Node, node string) []Finding {
	tables = slices.DeleteFunc(slices.Clone(tables), func(t *router.Table) bool {
		return t.Kind != router.Sharded || len(t.Shards) < 2 || !rule.TakesText(t.Rule) || !slices.Contains(t.Nodes, node)
	})
	if len(tables) == 0 {
		return nil
	}
	a, err := ask(ctx, nodes[node])
	if err != nil {
		return []Finding{unasked(node, err)}
	}
	defer a.close()
	var findings []Finding
	verified := map[string]string{} // by fold: what is wrong with it
	for _, t := range tables {
		s := onNode(t, node)[0]
		add := func(what string) { findings = append(findings, Finding{node, name(s), what}) }
		keys, err := a.keyCollations(t, s)
		if err != nil {
			return append(findings, unasked(node, err))
		}
		for _, key := range keys {
			if !rule.Follows(t.Rule, key[1]) {
				add(Unlike(t, key[0], key[1]))
				continue
			}
			fold := rule.FoldName(t.Rule)
			wrong, known := verified[fold]
			if !known {
				if wrong, err = a.verify(fold); err != nil {
					return append(findings, unasked(node, err))
				}
				verified[fold] = wrong
			}
			if wrong != "" {
				add(wrong)
			}
		}
	}
	return findings
}

// unasked is the finding of a node that could not be asked.
func unasked(node string, err error) Finding {
	return Finding{Node: node, What: "cannot be asked: " + err.Error()}
}

// keyCollations gives the key columns of text of a sub-table, each with its collation.
func (a *asking) keyCollations(t *router.Table, s router.Shard) (keys [][2]string, err error) {
	err = a.rows("SELECT column_name, collation_name FROM information_schema.columns WHERE collation_name IS NOT NULL AND "+among([]router.Shard{s}), 2, func(row []string) {
		for _, key := range t.Keys {
			if strings.EqualFold(row[0], key) {
				keys = append(keys, [2]string{row[0], row[1]})
			}
		}
	})
	return keys, err
}

// verifiedMax is how many of a fold's samples a server is asked about: the characters of the basic plane.
const verifiedMax = 16

// erUnknownCollation is of a server that has not the collation of a fold, but another that the fold follows. MySQL manual:
// "Server Error Message Reference".
const erUnknownCollation = 1273

// verify compares the weights that a fold has of characters with those of the server; what tells a difference.
func (a *asking) verify(fold string) (what string, err error) {
	f := collation.ByName(fold)
	if f == nil {
		return "", nil // not made from weights
	}
	samples := f.Samples()
	for _, text := range samples[:min(len(samples), verifiedMax)] {
		weights := ""
		err := a.rows("SELECT WEIGHT_STRING("+collation.Converted(text, f.Collation())+")", 1, func(row []string) { weights = row[0] })
		if refused, ok := errors.AsType[*mysql.SQLError](err); ok && refused.Code == erUnknownCollation {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if weights != f.Weights(text) {
			return fmt.Sprintf("the server compares texts under %s otherwise than strings: %s has it: keys that are equal to the server may be on several shards", f.Collation(), fold), nil
		}
	}
	return "", nil
}

// Unlike says that a key is compared in another way than its rule folds it.
func Unlike(t *router.Table, column, collation string) string {
	cure := ""
	if fold := rule.FoldFor(collation); fold != "" {
		cure = ", or a table without rows strings: " + fold
	}
	return fmt.Sprintf("the key %s of %s.%s has the collation %s, and the rule tells texts apart by strings: %s: keys that are equal to the server may be on several shards; "+
		"give the column a collation that the rule follows, such as utf8mb4_bin%s", column, t.DB, t.Name, collation, rule.FoldName(t.Rule), cure)
}
