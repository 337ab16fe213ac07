package admin

var configTable = table{
	name: "config", about: "The configuration in force, key by key; secrets are ***", like: "key",
	columns: texts("key", "value", "reloadable"),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.snap.Config.Settings() {
			rows = append(rows, []any{s.Path, s.Value, s.Reloadable})
		}
		return rows
	},
}
