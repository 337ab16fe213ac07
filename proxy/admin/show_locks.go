package admin

import (
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/proxy/process"
	"kingshard/proxy/txn"
)

var locksTable = table{
	name: "locks", about: "Sessions that wait for a connection or for KS RESUME, those that keep connections, and those that others wait for", like: "user",
	columns: slices.Concat(numbers("id"), texts("user", "host", "db", "state"), numbers("seconds"), texts("waits_for", "node", "holds", "why", "blocked_by")),
	rows:    func(v *view) [][]any { return lockRows(v.a.shared.Holdings()) },
}

// blockersMax bounds the sessions that are named as those that somebody waits for.
const blockersMax = 20

func lockRows(all []process.Holding) (rows [][]any) {
	wanted := map[*backend.Instance]bool{}
	for _, h := range all {
		if h.Wants != nil {
			wanted[h.Wants] = true
		}
	}
	for _, h := range all {
		var waitsFor, node any
		state := "keeps"
		held := slices.Concat(h.Keeps, h.Uses)
		switch {
		case h.HeldUp:
			state, waitsFor = "waits", "KS RESUME"
		case h.Wants != nil:
			state, waitsFor, node = "waits", h.Wants.Addr, h.Wants.Node
		case len(h.Uses) > 0:
			state = "runs"
			if len(h.Keeps) == 0 && !slices.ContainsFunc(h.Uses, func(i *backend.Instance) bool { return wanted[i] }) {
				continue // a statement that nobody waits for
			}
		}
		if node == nil && len(held) > 0 {
			node = held[0].Node
		}
		var addrs []string
		for _, i := range held {
			addrs = append(addrs, i.Addr)
		}
		rows = append(rows, []any{
			uint64(h.ID), h.User, h.Host, orNil(h.DB), state, h.Seconds, waitsFor, node, orNil(strings.Join(addrs, ",")), orNil(whyKept(h)), orNil(blockers(h, all)),
		})
	}
	return rows
}

// whyKept gives the reasons for which a session keeps connections, joined by commas.
func whyKept(h process.Holding) string {
	if !h.InTransaction {
		return txn.Pins(h.Pins).String()
	}
	if h.Pins == 0 {
		return "transaction"
	}
	return "transaction," + txn.Pins(h.Pins).String()
}

// blockers lists the sessions that have connections to the instance that a session waits for.
func blockers(waiting process.Holding, all []process.Holding) string {
	var ids []string
	for _, h := range all {
		if waiting.Wants == nil || h.ID == waiting.ID || !slices.Contains(h.Keeps, waiting.Wants) && !slices.Contains(h.Uses, waiting.Wants) {
			continue
		}
		if len(ids) == blockersMax {
			ids = append(ids, "...")
			break
		}
		ids = append(ids, strconv.FormatUint(uint64(h.ID), 10))
	}
	return strings.Join(ids, ",")
}
