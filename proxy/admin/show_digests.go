package admin

import (
	"time"

	"kingshard/proxy/querylog"
)

var digestsTable = table{
	name: "digests", about: "Statements by their text without values: how often, how long, with what result", like: "statement",
	columns: append(append(texts("user", "db", "statement", "plan"), numbers(
		"count", "errors", "rows", "bytes", "moved_rows", "moved_bytes", "shards",
		"total_sum", "total_min", "total_mean", "total_p50", "total_p95", "total_p99", "total_max",
		"backend_sum", "backend_min", "backend_mean", "backend_p50", "backend_p95", "backend_p99", "backend_max", "wait_sum")...),
		texts("first_seen", "last_seen")...),
	rows: func(v *view) (rows [][]any) {
		for _, d := range v.a.shared.Queries.Digests() {
			row := []any{d.User, orNil(d.DB), orNil(d.Text), d.Plan.String(), d.Count, d.Errors, d.Rows, d.Bytes, d.MovedRows, d.MovedBytes, d.Shards}
			row = append(append(row, milliseconds(d.Total)...), milliseconds(d.Exec)...)
			rows = append(rows, append(row, inMilliseconds(d.Wait), moment(d.First), moment(d.Last)))
		}
		return rows
	},
}

// milliseconds are the cells of a digest's times.
func milliseconds(t querylog.Times) []any {
	var cells []any
	for _, d := range []time.Duration{t.Sum, t.Min, t.Mean, t.P50, t.P95, t.P99, t.Max} {
		cells = append(cells, inMilliseconds(d))
	}
	return cells
}

func inMilliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
