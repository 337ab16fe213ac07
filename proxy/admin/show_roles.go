package admin

import (
	"strings"

	"kingshard/backend"
	"kingshard/backend/roles"
)

// rolesTable has a row for each server of the nodes whose primary is the server that has the role.
var rolesTable = table{
	name: "roles", about: "What the servers of nodes with roles: auto say of themselves, why nothing is sent to them, and how many statements wait for one", like: "node",
	columns: append(append(texts("node", "instance", "role", "told", "read_only", "sources", "member"), numbers("epoch")...),
		append(texts("gtids", "retired", "withheld", "reason"), numbers("waiting", "served", "expired", "refused")...)...),
	rows: func(v *view) (rows [][]any) {
		for _, n := range v.snap.InOrder() {
			if n.Roles == nil {
				continue
			}
			for _, i := range n.Instances() {
				if !i.IsSource {
					rows = append(rows, roleRow(n, i))
				}
			}
		}
		return rows
	},
}

// memberNames are what a server is in a group.
var memberNames = map[roles.Member]string{roles.Single: "", roles.Online: "online", roles.Multi: "multi", roles.Departed: "departed"}

func roleRow(n *backend.Node, i *backend.Instance) []any {
	seen, _ := n.Roles.Seen(i.Addr)
	var sources []string
	for _, s := range seen.Sources {
		sources = append(sources, s.Addr)
	}
	told := "yes"
	switch {
	case seen.Failures > 0:
		told = "no answer"
	case seen.Refused:
		told = "refused"
	case !seen.Told:
		told = "not yet"
	}
	row := []any{i.Node, i.Addr, i.Role.String(), told, seen.ReadOnly, strings.Join(sources, ","), memberNames[seen.Member], seen.Epoch.Number, seen.GTIDs.String(), i.Duty.Retired()}
	if i.Role == backend.Replica {
		return append(row, i.Duty.Why(), "", 0, 0, 0, 0)
	}
	h := n.HoldStats()
	return append(row, i.Duty.Why(), n.Roles.Verdict().Reason, h.Waiting, h.Served, h.Expired, h.Refused)
}
