package admin

import "slices"

var sequencesTable = table{
	name: "sequences", about: "Where sharded tables with AUTO_INCREMENT have their ids from, of those that this proxy has drawn from", like: "table",
	columns: slices.Concat(texts("db", "table", "node", "kind"), numbers("next", "left", "drawn", "blocks", "collisions")),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.a.shared.Sequences.List() {
			var next any
			if s.Next > 0 {
				next = s.Next
			}
			rows = append(rows, []any{s.DB, s.Table, orNil(s.Node), s.Kind, next, s.Left, s.Drawn, s.Blocks, s.Collisions})
		}
		return rows
	},
}
