package placement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/router"
	"kingshard/router/plan"
)

// definition is what a server says of a sub-table, by the name of the part: column k, key PRIMARY, table.
type definition map[string]string

// Missing is what is found of a sub-table that is not there.
const Missing = "is missing"

// tablesAtOnce is how many sub-tables are asked about in one query.
const tablesAtOnce = 100

// Differences compares the sub-tables of a table: their columns with types, collations, defaults and order, keys, engine,
// and whether they are there at all. The first one that is there is the model. What counts by itself, as AUTO_INCREMENT and
// numbers of rows do, is left out.
func Differences(ctx context.Context, t *router.Table, nodes map[string]*backend.Node) []Finding {
	var findings []Finding
	found := map[router.Shard]definition{}
	unknown := map[string]bool{}
	for _, node := range t.Nodes {
		if err := definitions(ctx, t, nodes[node], onNode(t, node), found); err != nil {
			unknown[node] = true
			findings = append(findings, unasked(node, err))
		}
	}
	model := slices.IndexFunc(t.Shards, func(s router.Shard) bool { return found[s] != nil })
	for k, s := range t.Shards {
		switch d := found[s]; {
		case unknown[s.Node]:
		case d == nil:
			findings = append(findings, Finding{s.Node, name(s), Missing})
		case k != model:
			for _, what := range differ(found[t.Shards[model]], d, t.Shards[model].String()) {
				findings = append(findings, Finding{s.Node, name(s), what})
			}
		}
	}
	return findings
}

// differ says how d is not like the model, whose name is of.
func differ(model, d definition, of string) (all []string) {
	for part, want := range model {
		switch is, has := d[part]; {
		case !has:
			all = append(all, "lacks "+part+", which "+of+" has")
		case is != want:
			all = append(all, fmt.Sprintf("%s is %s, and %s in %s", part, is, want, of))
		}
	}
	for part := range d {
		if _, has := model[part]; !has {
			all = append(all, "has "+part+", which "+of+" has not")
		}
	}
	slices.Sort(all)
	return all
}

// definitions adds those of the sub-tables that are there.
func definitions(ctx context.Context, t *router.Table, n *backend.Node, shards []router.Shard, found map[router.Shard]definition) error {
	a, err := ask(ctx, n)
	if err != nil {
		return err
	}
	defer a.close()
	for part := range slices.Chunk(shards, tablesAtOnce) {
		if err := a.define(t, part, found); err != nil {
			return err
		}
	}
	return nil
}

func (a *asking) define(t *router.Table, shards []router.Shard, found map[router.Shard]definition) error {
	where := among(shards)
	shard := func(row []string) router.Shard {
		k := slices.IndexFunc(shards, func(s router.Shard) bool { return s.DB == row[0] && s.Table == row[1] })
		if k < 0 { // a server that keeps names in lower case
			k = slices.IndexFunc(shards, func(s router.Shard) bool {
				return strings.EqualFold(s.DB, row[0]) && strings.EqualFold(s.Table, row[1])
			})
		}
		return shards[k]
	}
	err := a.rows("SELECT table_schema, table_name, table_type, engine, table_collation, row_format FROM information_schema.tables WHERE "+where, 6, func(row []string) {
		found[shard(row)] = definition{"the table": strings.Join(row[2:], " ")}
	})
	if err != nil {
		return err
	}
	err = a.rows("SELECT table_schema, table_name, column_name, ordinal_position, column_type, collation_name, is_nullable, column_default, extra FROM information_schema.columns WHERE "+where, 9, func(row []string) {
		if d := found[shard(row)]; d != nil {
			text := row[4]
			if row[5] != "NULL" {
				text += " COLLATE " + row[5]
			}
			if row[6] == "NO" {
				text += " NOT NULL"
			}
			d["column "+row[2]] = fmt.Sprintf("%s DEFAULT %s %s at place %s", text, row[7], row[8], row[3])
		}
	})
	if err != nil {
		return err
	}
	keys := map[router.Shard]map[string][]string{}
	err = a.rows("SELECT table_schema, table_name, index_name, non_unique, index_type, column_name, sub_part FROM information_schema.statistics WHERE "+where+
		" ORDER BY table_schema, table_name, index_name, seq_in_index", 7, func(row []string) {
		s := shard(row)
		if keys[s] == nil {
			keys[s] = map[string][]string{}
		}
		column := row[5]
		if row[6] != "NULL" {
			column += "(" + row[6] + ")"
		}
		index, _ := plan.ConstraintOf(t, s, row[2])
		k := keys[s]["key "+index]
		if k == nil {
			k = []string{row[4]}
			if row[3] == "0" {
				k[0] = "UNIQUE " + k[0]
			}
		}
		keys[s]["key "+index] = append(k, column)
	})
	for s, of := range keys {
		for part, words := range of {
			if found[s] != nil {
				found[s][part] = words[0] + " (" + strings.Join(words[1:], ", ") + ")"
			}
		}
	}
	return err
}

// among is the condition of information_schema for sub-tables.
func among(shards []router.Shard) string {
	byDB := map[string][]string{}
	for _, s := range shards {
		byDB[s.DB] = append(byDB[s.DB], literal(s.Table))
	}
	var any []string
	for db, tables := range byDB {
		any = append(any, "(table_schema = "+literal(db)+" AND table_name IN ("+strings.Join(tables, ", ")+"))")
	}
	slices.Sort(any)
	return "(" + strings.Join(any, " OR ") + ")"
}
