package admin

import (
	"maps"
	"slices"
	"strings"

	"kingshard/proxy/txn"
)

var pinsTable = table{
	name: "pins", about: "Why sessions keep a connection for themselves: how many now, how often since the start", like: "reason",
	columns: append(texts("reason"), numbers("sessions", "total")...),
	rows: func(v *view) (rows [][]any) {
		now := map[string]int{}
		for _, s := range v.a.shared.Sessions.All() {
			for reason := range strings.SplitSeq(txn.Pins(s.Row().Pins).String(), ",") {
				now[reason]++
			}
		}
		totals := v.a.shared.Pins.Totals()
		for _, reason := range slices.Sorted(maps.Keys(totals)) {
			rows = append(rows, []any{reason, now[reason], totals[reason]})
		}
		return rows
	},
}
