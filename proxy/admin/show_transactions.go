package admin

import (
	"slices"
	"strings"
	"time"

	"kingshard/proxy/txn/driver"
)

var transactionsTable = table{
	name: "transactions", like: "gtrid",
	about:   "With transaction_mode atomic, the transactions over several nodes that this proxy is committing, and the branches of any proxy's that it has found prepared on the servers",
	columns: slices.Concat(texts("gtrid", "state", "nodes", "decides", "proxy", "own", "began"), numbers("seconds"), texts("waits_for", "connections", "xid")),
	rows: func(v *view) (rows [][]any) {
		d := v.a.shared.Atomic
		for _, t := range d.Ongoing() {
			rows = append(rows, []any{
				t.GTRID, t.Phase, strings.Join(t.Nodes, ", "), t.Nodes[0], d.Proxy(), true, moment(t.Began), seconds(time.Since(t.Began)), nil, strings.Join(t.Connections, ", "), nil,
			})
		}
		for _, b := range d.InDoubt() {
			rows = append(rows, []any{b.GTRID, "prepared", b.Node, b.Decides, b.Proxy, b.Own, moment(b.Began), seconds(b.Seen), b.WaitsFor, nil, b.XID})
		}
		return rows
	},
}

// seconds shows a duration, to the millisecond.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// atomicTransactions says whether all nodes can keep a transaction, or none, as far as is known.
func (a *Admin) atomicTransactions() string {
	switch a.shared.Atomic.Fit() {
	case driver.Qualified:
		return "possible"
	case driver.Unfit:
		return "not possible: " + a.shared.Atomic.Reason()
	}
	return "not asked yet"
}
