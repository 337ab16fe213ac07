package admin

import "slices"

var incidentsTable = table{
	name: "incidents", like: "gtrid",
	about:   "What this proxy has found of transactions over several nodes that no proxy can mend, until KS FORGET",
	columns: slices.Concat(numbers("id"), texts("at", "kind", "gtrid", "node", "what", "detail")),
	rows: func(v *view) (rows [][]any) {
		d := v.a.shared.Atomic
		for _, i := range d.Incidents.List() {
			rows = append(rows, []any{i.ID, moment(i.At), i.Kind.Name(), orNil(i.GTRID()), orNil(d.NodeName(i.XID.Node)), i.Kind.String(), orNil(i.Text)})
		}
		return rows
	},
}
