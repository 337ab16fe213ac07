package sqlparse

import (
	"slices"

	"kingshard/mysql/sqltext"
)

// plainNames are words that the parser reserves and servers take as names of columns, tables and the like without quotes: of both kinds of
// server, and of MariaDB. MySQL manual: "Keywords and Reserved Words"; MariaDB Knowledge Base: "Reserved Words".
var plainNames, plainNamesMariaDB = []string{"array", "ilike", "until"}, []string{
	"cume_dist", "database", "dense_rank", "first_value", "generated", "groups", "lag", "last_value", "lateral", "lead", "nth_value", "ntile", "of", "option",
	"percent_rank", "rank", "row", "schema", "stored", "tablesample", "virtual", "window",
}

// quotedNames puts quotes around such words, but where they cannot be names.
func quotedNames(tokens []token, m sqltext.Mode) (list []respelling) {
	word := func(k int) string { return wordAt(tokens, k) }
	for k, t := range tokens {
		w := word(k)
		if t.Kind != sqltext.KindWord || !slices.Contains(plainNames, w) && !(m.MariaDB && slices.Contains(plainNamesMariaDB, w)) {
			continue
		}
		prev, next := word(k-1), word(k+1)
		call := next == "(" && prev != "key" && prev != "index" && !beforeTable[prev]
		clause := false
		switch w {
		case "database", "schema":
			clause = prev == "create" || prev == "alter" || prev == "drop"
		case "generated":
			clause = next == "always"
		case "of":
			clause = prev == "update" || prev == "as" && word(k-2) == "system_time"
		case "option":
			clause = prev == "grant" || prev == "check"
		case "row":
			clause = prev == "current" || prev == "each"
		case "stored", "virtual":
			clause = prev == ")"
		case "window":
			clause = word(k+2) == "as" && word(k+3) == "("
		}
		if !call && !clause && prev != "." {
			list = append(list, respell(tokens, k, k, backquoted(t.word)))
		}
	}
	return list
}
