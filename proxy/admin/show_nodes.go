package admin

import "kingshard/backend"

var nodesTable = table{
	name: "nodes", about: "Instances of the nodes, with their health", like: "node",
	columns: append(append(texts("node", "instance", "role"), numbers("weight")...),
		append(texts("state", "held_down", "health", "answered", "version"), append(append(numbers("connections", "in_use", "max", "lag"), texts("passed_over", "withheld")...),
			append(numbers("statements", "errors", "busy_ms", "bytes"), append(texts("zone"), numbers("latency_ms")...)...)...)...)...),
	rows: func(v *view) (rows [][]any) {
		for _, n := range v.snap.InOrder() {
			rows = append(rows, instanceRows(n.Instances())...)
		}
		return rows
	},
}

func instanceRow(i *backend.Instance) []any {
	s, l := i.Stats(), i.Load()
	var version, zone, latency any
	if info := i.Info(); info != nil {
		version = info.Version
	}
	if i.Zone != "" {
		zone = i.Zone
	}
	if took := i.Latency.Mean(); took > 0 {
		latency = float64(took.Microseconds()) / 1000
	}
	return []any{
		i.Node, i.Addr, i.Role.String(), i.Weight, i.State().String(), i.HeldDown(), i.Health().String(), moment(i.Answered()), version,
		s.Open, s.InUse, s.Max, lagCell(i), i.PassedOver(), i.Duty.Why(), l.Statements, l.Errors, float64(l.Busy.Microseconds()) / 1000, l.Bytes, zone, latency,
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
