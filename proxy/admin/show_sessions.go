package admin

import (
	"time"

	"kingshard/proxy/txn"
)

var sessionsTable = table{
	name: "sessions", about: "Clients, what they are in and why they keep a connection", like: "user",
	columns: append(append(numbers("id"), texts("user", "host", "db", "command")...),
		append(append(numbers("seconds", "age"), texts("in_transaction", "pins", "instance")...), texts("port")...)...),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.a.shared.Sessions.All() {
			p := s.Row()
			port := "service"
			if p.Admin {
				port = "admin"
			}
			rows = append(rows, []any{
				int(p.ID), p.User, p.Host, orNil(p.DB), p.Command, p.Seconds, int(time.Since(p.Started).Seconds()), p.InTransaction,
				orNil(txn.Pins(p.Pins).String()), orNil(p.Instance), port,
			})
		}
		return rows
	},
}
