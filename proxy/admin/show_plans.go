package admin

import "kingshard/proxy/admin/statement"

var plansTable = table{
	name: "plans", about: "Plans kept for statements on sharded tables, by user and form", like: "statement",
	columns: texts("user", "db", "statement", "when_many", "reason"),
	rows: func(v *view) (rows [][]any) {
		for _, sc := range v.snap.Config.SchemaList {
			schema := v.snap.Schemas[sc.User]
			if schema == nil {
				continue
			}
			forms, _ := schema.Plans.Known()
			for _, f := range forms {
				rows = append(rows, []any{sc.User, orNil(f.DB), statement.Masked(f.Text), f.Operator, orNil(f.Reason)})
			}
		}
		return rows
	},
}
