package admin

import "kingshard/backend"

var nodesTable = table{
	name: "nodes", about: "Instances of the nodes, with their health", like: "node",
	columns: append(append(texts("node", "instance", "role"), numbers("weight")...),
		append(texts("state", "held_down", "health", "answered", "version"), append(append(numbers("connections", "in_use", "max", "lag"), texts("passed_over", "withheld")...),
			numbers("statements", "errors", "busy_ms", "bytes")...)...)...),
	rows: func(v *view) (rows [][]any) {
		for _, n := range v.snap.InOrder() {
			rows = append(rows, instanceRows(n.Instances())...)
		}
		return rows
	},
}

func instanceRow(i *backend.Instance) []any {
	s, l := i.Stats(), i.Load()
	var version any
	if info := i.Info(); info != nil {
		version = info.Version
	}
	return []any{
		i.Node, i.Addr, i.Role.String(), i.Weight, i.State().String(), i.HeldDown(), i.Health().String(), moment(i.Answered()), version,
		s.Open, s.InUse, s.Max, lagCell(i), i.PassedOver(), i.Duty.Why(), l.Statements, l.Errors, float64(l.Busy.Microseconds()) / 1000, l.Bytes,
	}
}

// lagCell is a replica's lag in seconds; nil where it is not known.
func lagCell(i *backend.Instance) any {
	if l, _ := i.Lag(); i.Role == backend.Replica && l.Known {
		return l.Behind.Seconds()
	}
	return nil
}

func instanceRows(instances []*backend.Instance) (rows [][]any) {
	for _, i := range instances {
		rows = append(rows, instanceRow(i))
	}
	return rows
}
