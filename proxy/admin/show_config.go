package admin

var configTable = table{
	name: "config", about: "The configuration in force, key by key; secrets are ***", like: "key",
	columns: texts("key", "value", "reloadable", "settable"),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.snap.Config.Settings() {
			rows = append(rows, []any{s.Path, s.Value, s.Reloadable, s.Settable})
		}
		return rows
	},
}
