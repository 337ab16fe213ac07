package admin

import (
	"kingshard/backend"
	"kingshard/backend/pool"
)

var poolsTable = table{
	name: "pools", about: "Connections of the instances' pools, now and since the last reload", like: "node",
	columns: append(texts("node", "instance", "role"), numbers("max", "in_use_max", "open", "idle", "in_use", "dialling", "waiting",
		"gets", "hits", "dialled", "waited", "wait_microseconds", "timed_out", "rejected", "dial_failures", "closed")...),
	rows: func(v *view) (rows [][]any) {
		for _, n := range v.snap.InOrder() {
			for _, i := range n.Instances() {
				rows = append(rows, poolRow(i))
			}
		}
		return rows
	},
}

func poolRow(i *backend.Instance) []any {
	s := i.Stats()
	var gets, closed uint64
	var wait int
	for _, c := range s.Gets {
		gets += c.N
		wait += int(c.Wait.Microseconds())
	}
	for _, n := range s.Closed {
		closed += n
	}
	hits := s.Gets[pool.Hit].N + s.Gets[pool.HitClean].N + s.Gets[pool.HitOther].N
	return []any{
		i.Node, i.Addr, i.Role.String(), s.Max, s.Limit, s.Open, s.Idle, s.InUse, s.Dialling, s.Waiting, gets, hits, s.Gets[pool.Dialled].N,
		s.Gets[pool.Waited].N, wait, s.Gets[pool.TimedOut].N, s.Gets[pool.Rejected].N, s.DialFailures, closed,
	}
}
