package state

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// notAlias are the words that may follow a table's name and are no alias.
var notAlias = map[string]bool{"where": true, "order": true, "group": true, "limit": true, "join": true, "inner": true, "left": true, "right": true,
	"cross": true, "natural": true, "on": true, "using": true, "union": true, "having": true, "for": true, "use": true, "force": true, "ignore": true,
	"straight_join": true, "into": true, "window": true, "except": true, "intersect": true, "lock": true, "procedure": true, "offset": true, "fetch": true}

// replaceTables returns the text of a query with derived tables in the place of tables. with is told the schema of each, db where none is written, and its name,
// both in lower case, and gives the derived table, in brackets, or "" to leave the table there.
func replaceTables(text string, m sqltext.Mode, db string, with func(schema, table string) string) string {
	var tokens []sqltext.Token
	l := sqltext.NewLexer(text, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		tokens = append(tokens, t)
	}
	word := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return strings.ToLower(sqltext.UnquoteIdent(text[tokens[i].Pos:tokens[i].End], m))
	}
	var b strings.Builder
	kept := 0
	places := newTablePlaces()
	before := ""
	for i, t := range tokens {
		written := strings.ToLower(text[t.Pos:t.End])
		isTable := places.next(before, written, word(i))
		before = written
		if written == "." || i > 0 && word(i-1) == "." {
			continue // the first part of the name tells
		}
		first, schema := i, db
		if word(i+1) == "." {
			schema, i = word(i), i+2
		}
		if !isTable || i >= len(tokens) || !isName(tokens[i]) || word(i+1) == "." || first == i && places.common[word(i)] {
			continue
		}
		derived := with(strings.ToLower(schema), word(i))
		if derived == "" {
			continue
		}
		b.WriteString(text[kept:tokens[first].Pos])
		b.WriteString(derived)
		if !isAlias(tokens, i+1, word(i+1)) {
			b.WriteString(" AS " + text[tokens[i].Pos:tokens[i].End])
		}
		kept = tokens[i].End
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// isAlias reports whether token i, which reads word, begins an alias of the table before it.
func isAlias(tokens []sqltext.Token, i int, word string) bool {
	if i >= len(tokens) || !isName(tokens[i]) {
		return false
	}
	return tokens[i].Kind == sqltext.KindQuotedIdent || !notAlias[word]
}
