package state

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// FindsUnseen reports whether a change may find rows that its answer does not tell: by a query in it, or of several tables.
func FindsUnseen(class sqltext.Class, text string) bool {
	switch class {
	case sqltext.Update, sqltext.Delete:
		return mentions(text, "select") || severalTables(text)
	}
	return false
}

// severalTables reports whether a change may be of several tables.
func severalTables(text string) bool {
	return mentions(text, "join") || mentions(text, "using") || strings.Contains(beforeSet(text), ",") || deletesBefore(text)
}

// beforeSet returns what a change has ahead of SET, or of WHERE: its tables.
func beforeSet(text string) string {
	for _, word := range []string{"set", "where"} {
		for k := 0; k+len(word) < len(text); k++ {
			if (text[k]|0x20 == word[0]) && strings.EqualFold(text[k:k+len(word)], word) {
				return text[:k]
			}
		}
	}
	return text
}

// deletesBefore reports whether a text is a DELETE that names its tables ahead of FROM.
func deletesBefore(text string) bool {
	f := strings.Fields(beforeSet(text))
	for k := 1; k < len(f) && strings.EqualFold(f[0], "delete"); k++ {
		switch strings.ToLower(f[k]) {
		case "low_priority", "quick", "ignore":
			continue
		case "from":
			return false
		}
		return true
	}
	return false
}

// mentions reports whether a text has a word of lower-case letters. In a long text it finds those in lower or upper case, or capitalized.
func mentions(text, lower string) bool {
	if len(text) < 256 {
		return sqltext.Mentions(text, lower)
	}
	return strings.Contains(text, lower) || strings.Contains(text, strings.ToUpper(lower)) || strings.Contains(text, strings.ToUpper(lower[:1])+lower[1:])
}

// hasQuery reports whether there is a subquery in what a statement computes.
func hasQuery(text string, m sqltext.Mode) bool {
	return mentions(text, "select") && sqltext.HasWord(text, m, "select")
}

// showLeavesFound are the words behind SHOW, and SESSION, GLOBAL, FULL and their like, that leave FOUND_ROWS() as it is.
var showLeavesFound = map[string]bool{
	"grants": true, "create": true, "privileges": true, "profiles": true, "binary": true, "binlog": true, "master": true, "slave": true, "replica": true,
	"replicas": true, "relaylog": true, "processlist": true, "engine": true, "authors": true, "contributors": true, "warnings": true, "errors": true,
	"explain": true, "parse_tree": true, "all": true,
}

// showFinds reports whether a SHOW tells FOUND_ROWS() of its rows.
func showFinds(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	l.Next()
	for {
		t := l.Next()
		switch word := strings.ToLower(text[t.Pos:t.End]); word {
		case "full", "extended", "session", "local", "global":
		default:
			return !showLeavesFound[word]
		}
	}
}
