package admin

import "math"

var historyTable = table{
	name: "history", about: "The last ten minutes, second by second: rates per second, times of queries in milliseconds, and what was open", like: "at",
	columns: append(append(numbers("id"), texts("at")...), numbers("commands", "rows", "bytes", "errors_client", "errors_proxy", "errors_backend",
		"p50", "p95", "p99", "proxy", "pool_wait", "backend", "sessions", "in_use", "waiting")...),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.a.history.list() {
			row := []any{s.id, moment(s.at), rounded(s.perSecond(s.commands)), rounded(s.perSecond(s.rows)), rounded(s.perSecond(s.bytes))}
			for _, n := range s.errors {
				row = append(row, rounded(s.perSecond(n)))
			}
			for _, millis := range s.percentiles {
				row = append(row, rounded(millis))
			}
			for _, nanos := range s.parts {
				row = append(row, rounded(float64(nanos)/1e6/float64(max(s.statements, 1))))
			}
			rows = append(rows, append(row, s.sessions, s.inUse, s.waiting))
		}
		return rows
	},
}

// rounded has three digits after the point.
func rounded(f float64) float64 { return math.Round(f*1000) / 1000 }
