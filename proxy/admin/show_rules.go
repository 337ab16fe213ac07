package admin

import (
	"fmt"
	"strings"

	"kingshard/config"
)

var rulesTable = table{
	name: "rules", about: "Sharding rules, by user; the default row is where everything else goes, the scratch row where what is collected is finished", like: "table",
	columns: append(append(texts("user", "db", "table", "type", "kind", "key"), numbers("shards")...), texts("nodes", "locations", "detail")...),
	rows: func(v *view) (rows [][]any) {
		for _, sc := range v.snap.Config.SchemaList {
			rows = append(rows, []any{sc.User, nil, nil, "default", nil, nil, nil, sc.Default, nil, nil})
			if sc.Scratch != "" {
				rows = append(rows, []any{sc.User, nil, nil, "scratch", nil, nil, nil, sc.Scratch, nil, nil})
			}
			schema := v.snap.Schemas[sc.User]
			if schema == nil {
				continue
			}
			for _, t := range schema.Plans.Tables() {
				row := []any{sc.User, t.DB, t.Name, nil, t.Kind.String(), orNil(strings.Join(t.Keys, ", ")), len(t.Shards), strings.Join(t.Nodes, ", "), nil, nil}
				for _, s := range sc.Shard {
					if s.DB == t.DB && s.Table == t.Name {
						row[3], row[8], row[9] = orNil(s.Type), orNil(joinInts(s.Locations)), orNil(ruleDetail(&s))
					}
				}
				rows = append(rows, row)
			}
		}
		return rows
	},
}

func joinInts(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// ruleDetail shows what only some rules have. Pinned keys are counted, as SHOW KS CONFIG has them.
func ruleDetail(s *config.Shard) string {
	var parts []string
	if s.ColocateWith != "" {
		parts = append(parts, "colocate_with "+s.ColocateWith)
	}
	if s.TableRowLimit > 0 {
		parts = append(parts, fmt.Sprintf("table_row_limit %d", s.TableRowLimit))
	}
	if len(s.DateRange) > 0 {
		parts = append(parts, "date_range "+strings.Join(s.DateRange, ", "))
	}
	if len(s.Slots) > 0 {
		parts = append(parts, "slots "+strings.Join(s.Slots, "; "))
	}
	if len(s.Pin) > 0 {
		parts = append(parts, fmt.Sprintf("pinned keys %d", len(s.Pin)))
	}
	return strings.Join(parts, "; ")
}
