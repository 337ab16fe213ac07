package admin

import (
	"slices"
	"strings"
)

var indexesTable = table{
	name: "indexes", about: "Keys over the shards of tables: what keeps them, and how far each is", like: "table",
	columns: slices.Concat(texts("db", "table", "name", "columns"), numbers("unique"), texts("lookup", "state"), numbers("percent", "rows")),
	rows: func(v *view) (rows [][]any) {
		seen := map[string]bool{}
		for _, t := range v.snap.Indexed() {
			for _, x := range t.Indexes {
				if at := x.Lookup.Shards[0].String(); seen[at] {
					continue // several users see it
				} else {
					seen[at] = true
				}
				r := v.a.shared.Indexes.Record(x)
				unique, percent := uint64(0), any(nil)
				if x.Unique {
					unique = 1
				}
				if r.Total > 0 {
					percent = r.Percent()
				}
				rows = append(rows, []any{t.DB, t.Name, x.Name, strings.Join(x.Columns, ", "), unique, x.Lookup.Name, r.State.String(), percent, r.Done})
			}
		}
		slices.SortFunc(rows, func(a, b []any) int {
			return strings.Compare(a[0].(string)+"\x00"+a[1].(string)+"\x00"+a[2].(string), b[0].(string)+"\x00"+b[1].(string)+"\x00"+b[2].(string))
		})
		return rows
	},
}
