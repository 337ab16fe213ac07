package state

// tablePlaces tells at which tokens of a query a table may stand: in the list of FROM, behind its commas and joins, and in brackets there;
// not in other lists, nor behind the FROM of a function.
type tablePlaces struct {
	// lists are those of the query and of what is in brackets, the innermost last.
	lists []tableList
	// common are the names that WITH gives to queries.
	common map[string]bool
	// with says that such a name may come next.
	with bool
}

// tableList is a query, or what else is in brackets.
type tableList struct {
	query  bool // it begins with SELECT, or WITH
	tables bool // it is in the list of FROM
	begun  bool
	with   bool // it is in the list of WITH
}

func newTablePlaces() *tablePlaces {
	return &tablePlaces{lists: make([]tableList, 1, 8), common: map[string]bool{}}
}

// endsTables are the words behind which no table stands until the next FROM of the same query.
var endsTables = map[string]bool{"where": true, "group": true, "having": true, "order": true, "limit": true, "window": true, "for": true, "lock": true, "into": true,
	"procedure": true, "union": true, "except": true, "intersect": true, "offset": true, "fetch": true}

// next takes the tokens in order, each as written but in lower case, with the one before it; name is the token without quotes. It reports
// whether a table may stand there.
func (p *tablePlaces) next(before, token, name string) bool {
	l := &p.lists[len(p.lists)-1]
	isTable := l.tables && (before == "from" || before == "join" || before == "straight_join" || before == "," || before == "(")
	if l.with && p.with {
		p.common[name] = true
	}
	p.with = false
	switch token {
	case "(":
		p.lists = append(p.lists, tableList{tables: isTable})
		return false
	case ")":
		if len(p.lists) > 1 {
			p.lists = p.lists[:len(p.lists)-1]
		}
		return false
	case "with":
		if !l.begun {
			l.query, l.with, p.with = true, true, true
		}
	case "recursive":
		p.with = l.with && before == "with"
	case ",":
		p.with = l.with
	case "select":
		l.query, l.tables, l.with = true, false, false
	case "from":
		l.tables = l.query
	default:
		if endsTables[token] && before != "." {
			l.tables = false
		}
	}
	l.begun = true
	return isTable
}
