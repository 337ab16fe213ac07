package plan

import (
	"slices"

	"kingshard/mysql/sqlparse"
	"kingshard/router"
)

// The relevance that MATCH ... AGAINST gives is a number about all rows of a table: how many have the words. Whether a row has them at all is not, in boolean mode; so as a condition it may
// be asked of shards, and its rows need not be looked at again. In natural language mode that holds for tables of InnoDB alone: MyISAM leaves out words that half of the rows have. MySQL
// manual: "Full-Text Search Functions".

// fullText are the MATCH ... AGAINST of a query.
type fullText struct {
	list []fullTextMatch
	// unclear: there are others, of which it is not known where they stand.
	unclear bool
}

// fullTextMatch is a MATCH ... AGAINST, with where it stands and whose columns it names.
type fullTextMatch struct {
	expr  *sqlparse.Expr
	block *scope
	ref   *Ref // whose columns it names; nil if that is not certain
	// condition: it is one of WHERE or ON, or of those that these are made of by AND, OR and NOT.
	condition bool
}

// fullText finds every MATCH ... AGAINST of a statement.
func (a *analyzer) fullText(st *sqlparse.Statement) (t fullText) {
	if st.Matches == 0 {
		return t
	}
	seen := map[*sqlparse.Expr]bool{}
	look := func(e *sqlparse.Expr, block *scope, conditions map[*sqlparse.Expr]bool) {
		e.Walk(func(x *sqlparse.Expr) bool {
			if isMatch(x) && !seen[x] {
				seen[x] = true
				t.list = append(t.list, fullTextMatch{x, block, block.matched(x), conditions[x]})
			}
			return true
		})
	}
	st.Query.Each(func(q *sqlparse.Query) {
		s := q.Select
		if s == nil {
			return
		}
		block := a.blockOf(s)
		if block == nil {
			return
		}
		conditions := map[*sqlparse.Expr]bool{}
		asConditions(s.Where, conditions)
		for _, j := range joinsOn(s.From) {
			asConditions(j.On, conditions)
		}
		for _, e := range exprsOf(s) {
			look(e, block, conditions)
		}
		for _, o := range q.Order {
			look(o.Expr, block, nil)
		}
	}, func(*sqlparse.Expr) {})
	t.unclear = len(t.list) != st.Matches
	return t
}

func isMatch(e *sqlparse.Expr) bool {
	return e.Op == sqlparse.Call && (e.Name == sqlparse.Match || e.Name == sqlparse.MatchBoolean || e.Name == sqlparse.MatchExpanded)
}

// asConditions notes what a condition is made of by AND, OR and NOT.
func asConditions(e *sqlparse.Expr, conditions map[*sqlparse.Expr]bool) {
	switch {
	case e == nil:
	case e.Op == sqlparse.And || e.Op == sqlparse.Or || e.Op == sqlparse.Not:
		for _, x := range e.Args {
			asConditions(x, conditions)
		}
	default:
		conditions[e] = true
	}
}

// matched returns the reference whose columns a MATCH names; nil if that is not certain.
func (s *scope) matched(match *sqlparse.Expr) (only *Ref) {
	columns := match.Args[:len(match.Args)-1]
	for k, x := range columns {
		r, _, at := s.resolve(x)
		if r == nil || at != s || !s.certain(x, at) || k > 0 && r != only {
			return nil
		}
		only = r
	}
	return only
}

// relevant reports whether a MATCH asks for more of a table over shards than whether rows have the words.
func (t *fullText) relevant() bool {
	return t.unclear || slices.ContainsFunc(t.list, func(m fullTextMatch) bool {
		return (m.ref == nil || m.ref.Table.Kind == router.Sharded) && (!m.condition || m.expr.Name == sqlparse.MatchExpanded)
	})
}

// onlySettled reports whether those on tables that are collected are settled, of which there may be none, and whether there are any; inPlace, whether there are any on others.
func (t *fullText) onlySettled(s *settled) (ok, any, inPlace bool) {
	if t.unclear {
		return false, false, false
	}
	for _, m := range t.list {
		switch {
		case m.ref == nil:
			return false, false, false
		case m.ref.Table.Kind != router.Sharded && !m.ref.collected:
			inPlace = true
		case s == nil || m.expr.Name != sqlparse.MatchBoolean || !s.has(m.expr, m.block):
			return false, false, false
		default:
			any = true
		}
	}
	return true, any, inPlace
}

// has reports whether an expression of a block is a part of a settled condition.
func (s *settled) has(e *sqlparse.Expr, block *scope) bool {
	if s.blocks[block] {
		return true
	}
	for condition := range s.exprs {
		if !condition.All(func(x *sqlparse.Expr) bool { return x != e }) {
			return true
		}
	}
	return false
}

// plainWords reports whether words for a full-text index have none of the signs in which a server may find an error.
func plainWords(words string) bool {
	for _, c := range words {
		if c != ' ' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
