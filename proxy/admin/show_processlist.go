package admin

import "kingshard/mysql/sqltext"

var processlistTable = table{
	name: "processlist", about: "Clients and their statements, as SHOW FULL PROCESSLIST; literals are ? for those who may not see them", like: "User",
	columns: append(append(numbers("Id"), texts("User", "Host", "db", "Command")...), append(numbers("Time"), texts("State", "Info")...)...),
	rows: func(v *view) (rows [][]any) {
		for _, s := range v.a.shared.Sessions.All() {
			p := s.Process()
			if !v.who.texts {
				p.Info = masked(p.Info)
			}
			rows = append(rows, []any{int(p.ID), p.User, p.Host, orNil(p.DB), p.Command, p.Seconds, p.State, orNil(p.Info)})
		}
		return rows
	},
}

// maskedMax bounds a masked statement, in bytes.
const maskedMax = 4096

// masked gives a statement without comments and with ? for its literals. The mode of its session is not known here, so what
// stands in double quotes is masked too. One that may carry a password is shown as logs show it.
func masked(text string) string {
	if sqltext.Secretive(text) {
		return string(sqltext.AppendNormal(nil, text, sqltext.Mode{}, maskedMax))
	}
	var b []byte
	l := sqltext.NewLexer(text, sqltext.Mode{})
	end := 0
	for len(b) < maskedMax {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			break
		}
		if t.Pos > end && len(b) > 0 {
			b = append(b, ' ')
		}
		end = t.End
		switch t.Kind {
		case sqltext.KindString, sqltext.KindNumber, sqltext.KindHex, sqltext.KindBit, sqltext.KindInvalid:
			b = append(b, '?')
		default:
			b = append(b, text[t.Pos:min(t.End, t.Pos+maskedMax)]...)
		}
	}
	return string(b)
}
