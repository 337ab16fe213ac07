package admin

import (
	"fmt"
	"strings"

	"kingshard/proxy/halfdone"
)

var halfDoneTable = table{
	name: "half_done", about: "Changes of several nodes that some have and others have not, or may not have, until KS FORGET", like: "statement",
	columns: append(append(numbers("id"), texts("at", "user", "client")...),
		append(numbers("session"), texts("db", "statement", "kept_by", "unknown_for", "rolled_back_by", "threads", "cause", "on_disk")...)...),
	rows: func(v *view) (rows [][]any) {
		for _, r := range v.a.shared.HalfDone.List() {
			var threads []string
			for _, n := range r.Nodes {
				threads = append(threads, fmt.Sprintf("%s %s #%d", n.Name, n.Addr, n.Thread))
			}
			rows = append(rows, []any{
				r.ID, moment(r.At), r.User, r.Client, int(r.Session), orNil(r.DB), r.Statement,
				orNil(r.Names(halfdone.Kept)), orNil(r.Names(halfdone.Unknown)), orNil(r.Names(halfdone.RolledBack)), strings.Join(threads, ", "), orNil(r.Cause), r.OnDisk,
			})
		}
		return rows
	},
}
