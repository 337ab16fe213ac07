package session

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
)

// atHome tells whether a statement that no plan has placed is about tables, and so about the default node, where tables without a rule are.
// On the connection that the session holds to another node its names mean nothing, or something else.
func (ro *routing) atHome(q *query) bool {
	if q.within == nil || q.info.Class == sqltext.Explain {
		return namesTables(q.text, &q.info, ro.client.mode())
	}
	return slices.ContainsFunc(q.within.Inner, func(in sqltext.Inner) bool {
		return !in.Later && !in.Assigned && namesTables(in.Text, &in.Info, in.Mode)
	}) || q.info.Class == sqltext.DDL
}

// namesTables tells whether a statement names tables, or routines and the like, which are in databases as tables are.
func namesTables(text string, i *sqltext.Info, m sqltext.Mode) bool {
	switch i.Class {
	case sqltext.Select, sqltext.With, sqltext.Values:
		return readsTables(text, m)
	case sqltext.Explain:
		inner, ok := sqlparse.Explained(text, m)
		return ok && readsTables(inner, m)
	case sqltext.Do, sqltext.Set:
		return sqltext.HasWord(text, m, "select") && sqltext.Mentions(text, "from")
	case sqltext.Show:
		sh, read := sqlparse.ParseShow(text, m)
		return read && sh.OneTable()
	case sqltext.Other:
		return false
	}
	return tables(i.Class)
}

// readsTables tells whether a statement reads a table; also where that cannot be told.
func readsTables(text string, m sqltext.Mode) bool {
	st, err := sqlparse.Parse(text, m, func(string) bool { return false })
	if err != nil {
		return sqltext.Mentions(text, "from")
	}
	return slices.ContainsFunc(st.Tables, func(t *sqlparse.Table) bool {
		return t.DB != "" || !st.CTENames[strings.ToLower(t.Name)] && !strings.EqualFold(t.Name, "dual")
	})
}
