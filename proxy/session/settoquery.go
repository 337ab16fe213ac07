package session

import (
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
)

// setToQuery runs SET of user variables to queries on tables with rules: a SELECT of the values, which then become the variables'. handled is false for every other SET, and where
// no SELECT tells all values.
func (s composer) setToQuery(q *query) (handled bool, err error) {
	text, names, ok := sqltext.SelectOfSet(q.text, s.client.mode())
	if !ok {
		return false, nil
	}
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
	if a, err = inFull(s.ask, s.client.mode(), &inner, text, a); err != nil {
		return true, err
	}
	if a.err != nil {
		return true, a.err
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
