package admin

import (
	"fmt"
	"strings"
)

var rulesTable = table{
	name: "rules", about: "Sharding rules, by user; the default row is where everything else goes", like: "table",
	columns: append(append(texts("user", "db", "table", "type", "kind", "key"), numbers("shards")...), texts("nodes", "locations", "detail")...),
	rows: func(v *view) (rows [][]any) {
		for _, sc := range v.snap.Config.SchemaList {
			rows = append(rows, []any{sc.User, nil, nil, "default", nil, nil, nil, sc.Default, nil, nil})
			schema := v.snap.Schemas[sc.User]
			if schema == nil {
				continue
			}
			for _, t := range schema.Plans.Tables() {
				row := []any{sc.User, t.DB, t.Name, nil, t.Kind.String(), orNil(strings.Join(t.Keys, ", ")), len(t.Shards), strings.Join(t.Nodes, ", "), nil, nil}
				for _, s := range sc.Shard {
					if s.DB == t.DB && s.Table == t.Name {
						row[3], row[8], row[9] = orNil(s.Type), orNil(joinInts(s.Locations)), orNil(ruleDetail(s.ColocateWith, s.TableRowLimit, s.DateRange, s.Slots))
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

// ruleDetail shows what only some rules have.
func ruleDetail(colocate string, rows int, dates, slots []string) string {
	var parts []string
	if colocate != "" {
		parts = append(parts, "colocate_with "+colocate)
	}
	if rows > 0 {
		parts = append(parts, fmt.Sprintf("table_row_limit %d", rows))
	}
	if len(dates) > 0 {
		parts = append(parts, "date_range "+strings.Join(dates, ", "))
	}
	if len(slots) > 0 {
		parts = append(parts, "slots "+strings.Join(slots, "; "))
	}
	return strings.Join(parts, "; ")
}
