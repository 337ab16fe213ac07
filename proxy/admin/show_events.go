package admin

var eventsTable = table{
	name: "events", about: "The last 1000 changes: by whom, from where, with what outcome; and instances that went up or down", like: "what",
	columns: append(numbers("id"), texts("at", "what", "who", "from", "detail", "outcome")...),
	rows: func(v *view) (rows [][]any) {
		for _, e := range v.a.Trail.Events() {
			rows = append(rows, []any{e.ID, moment(e.At), e.What, e.Who, orNil(e.From), orNil(e.Detail), e.Outcome})
		}
		return rows
	},
}
