package admin

import (
	"slices"
	"strings"

	"kingshard/proxy/indexes"
)

var indexesTable = table{
	name: "indexes", about: "Keys over the shards of tables: what keeps them, and how far each is", like: "table",
	columns: slices.Concat(texts("db", "table", "name", "columns"), numbers("unique"), texts("lookup", "state"), numbers("percent", "rows", "faults")),
	rows: func(v *view) (rows [][]any) {
		seen := map[string]bool{}
		for _, t := range v.snap.Ruled() {
			for _, x := range t.Indexes {
				if at := x.Lookup.Shards[0].String(); seen[at] {
					continue // several users see it
				} else {
					seen[at] = true
				}
				r := v.a.shared.Indexes.Record(x)
				unique, percent, faults := uint64(0), any(nil), any(nil)
				if x.Unique {
					unique = 1
				}
				if r.State == indexes.Building && r.Total > 0 {
					percent = r.Percent()
				}
				if r.Verified {
					faults = r.Faults
				}
				rows = append(rows, []any{t.DB, t.Name, x.Name, strings.Join(x.Columns, ", "), unique, x.Lookup.Name, r.State.String(), percent, r.Done, faults})
			}
		}
		for _, u := range v.a.shared.Indexes.Unused() {
			rows = append(rows, []any{u.DB, u.Table, u.Name, nil, nil, "ks_" + u.Table + "_" + u.Name, "unused", nil, u.Done, nil})
		}
		slices.SortFunc(rows, func(a, b []any) int {
			return strings.Compare(a[0].(string)+"\x00"+a[1].(string)+"\x00"+a[2].(string), b[0].(string)+"\x00"+b[1].(string)+"\x00"+b[2].(string))
		})
		return rows
	},
}
