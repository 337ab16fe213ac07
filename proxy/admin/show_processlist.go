package admin

import "kingshard/proxy/admin/statement"

var processlistTable = table{
	name: "processlist", about: "Clients and their statements, as SHOW FULL PROCESSLIST; literals are ? for those who may not see them", like: "User",
	columns: append(append(numbers("Id"), texts("User", "Host", "db", "Command")...), append(numbers("Time"), texts("State", "Info")...)...),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.a.shared.Sessions.All() {
			p := s.Row()
			if !v.who.Texts {
				p.Info = statement.Masked(p.Info)
			}
			rows = append(rows, []any{int(p.ID), p.User, p.Host, orNil(p.DB), p.Command, p.Seconds, p.State, orNil(p.Info)})
		}
		return rows
	},
}
