package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// unknownTypes are types of columns that the parser does not know. None of them is one that rows are placed by; JSON is neither.
var unknownTypes = []string{
	"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection", "uuid", "inet4", "inet6",
}

// notBehind are the words that a name follows in a definition, and signs.
var notBehind = []string{"", "(", ",", ".", "add", "column", "modify", "change", "drop", "key", "index", "after", "to", "exists", "table", "by", "constraint", "references"}

// definedBy finds what servers read and the parser does not in statements that define tables: types, and words that no plan looks into. MySQL manual: "CREATE TABLE Statement", "ALTER TABLE
// Statement"; MariaDB Knowledge Base: "CREATE TABLE", "WAIT and NOWAIT".
func definedBy(tokens []token, m sqltext.Mode) (list []respelling) {
	if len(tokens) == 0 || !slices.Contains([]string{"create", "alter", "drop", "truncate", "rename"}, strings.ToLower(tokens[0].word)) {
		return nil
	}
	put := func(from, to int, text string) { list = append(list, respell(tokens, from, to, text)) }
	word := func(k int) string { return wordAt(tokens, k) }
	named := func(k int) bool { return word(k) == "index" || word(k) == "key" }
	for k := 1; k < len(tokens); k++ {
		if tokens[k].Kind != sqltext.KindWord {
			continue
		}
		w, prev, next := word(k), word(k-1), word(k+1)
		// Behind a name or something else that is no place for one.
		behind := tokens[k-1].Kind == sqltext.KindQuotedIdent || !slices.Contains(notBehind, prev)
		renamed := word(k-2) == "change" || word(k-2) == "column" && word(k-3) == "change"
		switch {
		case w == "spatial" && named(k+1):
			put(k, k, "")
		case w == "spatial" && next == "(":
			put(k, k, "KEY")
		case w == "default" && (next == "(" || word(k+2) == "("):
			open := k + 1
			if next != "(" {
				open++
			}
			if end := closing(tokens, open); end > 0 && !slices.ContainsFunc(tokens[k:end], func(t token) bool { return t.Kind == sqltext.KindParam }) {
				put(k+1, end, "1")
				k = end
			}
		case m.MariaDB && (w == "wait" && k+1 < len(tokens) && tokens[k+1].Kind == sqltext.KindNumber):
			put(k, k+1, "")
		case m.MariaDB && w == "nowait" && behind:
			put(k, k, "")
		case !behind || renamed:
		case slices.Contains(unknownTypes, w):
			put(k, k, "JSON")
		case w == "srid" && k+1 < len(tokens) && tokens[k+1].Kind == sqltext.KindNumber:
			put(k, k+1, "")
		case w == "byte" && (prev == "char" || word(k-4) == "char" || prev == ")"):
			put(k, k, "")
		case w == "invisible" || w == "visible":
			switch {
			case prev == "set":
				put(k-1, k, "DROP DEFAULT")
			case !(named(k-2) && word(k-3) == "alter"):
				put(k, k, "")
			}
		case !m.MariaDB:
		case w == "compressed" && prev != "=" && prev != "row_format":
			put(k, k, "")
		case w == "persistent":
			put(k, k, "STORED")
		case w == "ignored":
			first := k
			if prev == "not" {
				first--
			}
			switch {
			case named(first-2) && word(first-3) == "alter":
				put(first-2, first-2, "INDEX")
				put(first, k, "INVISIBLE")
			default:
				put(first, k, "")
			}
		}
	}
	return list
}
