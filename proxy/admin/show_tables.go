package admin

var tablesTable = table{
	name: "tables", about: "Physical tables of the sharded ones, by user", like: "table",
	columns: append(append(texts("user", "db", "table"), numbers("shard")...), texts("node", "physical_db", "physical_table")...),
	rows: func(v *view) (rows [][]any) {
		for _, sc := range v.snap.Config.SchemaList {
			schema := v.snap.Schemas[sc.User]
			if schema == nil {
				continue
			}
			for _, t := range schema.Plans.Tables() {
				for k, s := range t.Shards {
					rows = append(rows, []any{sc.User, t.DB, t.Name, k, s.Node, s.DB, s.Table})
				}
			}
		}
		return rows
	},
}
