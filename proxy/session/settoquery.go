package session

import (
	"slices"
	"strings"

	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
)

// setToQuery runs SET @a = …, @b = … with queries on tables with rules: a SELECT of the values, which then become the variables'. handled is false for every other SET, and where one of the values
// may be that of a variable which is set ahead of it.
func (s composer) setToQuery(q *query) (handled bool, err error) {
	assignments, ok := sqltext.ParseSet(q.text, s.client.mode())
	if !ok || slices.ContainsFunc(assignments, func(a sqltext.Assignment) bool { return a.Scope != sqltext.User }) ||
		len(assignments) > 1 && slices.ContainsFunc(assignments, func(a sqltext.Assignment) bool { return strings.Contains(a.Value, "@") }) {
		return false, nil
	}
	var names, values []string
	for _, a := range assignments {
		names, values = append(names, a.Name), append(values, a.Value)
	}
	text := "SELECT " + strings.Join(values, ", ")
	inner := query{text: text, info: sqltext.Classify(text, s.client.mode()), attributes: q.attributes, verdict: q.verdict}
	a, handled, err := s.ask(&inner)
	switch {
	case !handled || err != nil:
		return handled, err
	case a.err != nil:
		return true, a.err
	case len(a.columns) != len(names) || a.rows != 1:
		return false, nil
	}
	if err := s.assign(&sqlparse.Into{Text: text, Names: names}, &a); err != nil {
		return true, err
	}
	s.client.txn.LastOnHeld = false
	s.client.state.Found.Lose() // by the query that a server looked into last
	s.client.noWarnings()
	s.client.writeOK()
	return true, nil
}
