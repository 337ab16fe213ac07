package sqlparse

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// respelling puts words that the parser knows in the place of others, of the same meaning to a plan; the server gets the client's.
type respelling struct {
	at   Span
	text string
}

// respell puts a text in the place of the tokens from one to another, both included.
func respell(tokens []token, from, to int, text string) respelling {
	return respelling{Span{tokens[from].Pos, tokens[to].End}, text}
}

// wordAt is the word at a place, in lower case; "" for a quoted identifier, and outside of the text.
func wordAt(tokens []token, k int) string {
	if k < 0 || k >= len(tokens) || tokens[k].Kind == sqltext.KindQuotedIdent {
		return ""
	}
	return strings.ToLower(tokens[k].word)
}

// backquoted writes a name for the parser, in whatever SQL mode.
func backquoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// respellings finds what servers read and the parser does not, or knows by another name only: functions and types, and clauses within calls that no plan looks into.
// They are for texts that the parser has not read as they are.
// MySQL manual: "Cast Functions and Operators", "String Functions and Operators"; MariaDB Knowledge Base: "CAST", "GROUP_CONCAT", "VALUES / VALUE".
func respellings(tokens []token, m sqltext.Mode) (list []respelling) {
	put := func(from, to int, text string) { list = append(list, respell(tokens, from, to, text)) }
	if !m.MariaDB {
		list = columnNames(tokens)
	}
	duplicate, changes := false, len(tokens) > 0 && (is(tokens[0], "insert") || is(tokens[0], "replace"))
	for k := 0; k+1 < len(tokens); k++ {
		t, next := tokens[k], tokens[k+1].word
		if t.Kind != sqltext.KindWord || k > 0 && tokens[k-1].word == "." {
			continue
		}
		duplicate = duplicate || is(t, "duplicate")
		switch {
		case is(t, "sounds") && is(tokens[k+1], "like"):
			put(k, k+1, "RLIKE")
		case is(t, "match") && next != "(":
			put(k, k, "MATCH (")
		case is(t, "against") && k > 0 && tokens[k-1].word != ")":
			put(k, k, ") AGAINST")
		case is(t, "with") && m.MariaDB && is(tokens[k+1], "ties"):
			list = append(list, withTies(tokens, k+1)...)
		case is(t, "wait") && m.MariaDB && tokens[k+1].Kind == sqltext.KindNumber && k > 0 && is(tokens[k-1], "mode"):
			put(k, k+1, "")
		case next != "(":
		case is(t, "character"):
			put(k, k, "CHAR")
		case is(t, "value") && m.MariaDB && duplicate:
			put(k, k, "VALUES")
		case is(t, "values") && m.MariaDB && !changes && (k == 0 || tokens[k-1].word == "(" || is(tokens[k-1], "union") || is(tokens[k-1], "all") || is(tokens[k-1], "except") || is(tokens[k-1], "intersect")):
			list = append(list, valuesTable(tokens, k)...)
		case is(t, "json_table"):
			list = append(list, jsonTable(tokens, k)...)
		case m.MariaDB && (is(t, "median") || is(t, "percentile_cont") || is(t, "percentile_disc") || is(t, "json_arrayagg")):
			list = append(list, aggregated(tokens, k)...)
		default:
			word := strings.ToLower(t.word)
			if word != "cast" && word != "convert" && insideCalls[word] == nil {
				continue
			}
			end := closing(tokens, k+1)
			if end < 0 {
				continue
			}
			list = append(list, insideCall(tokens, word, k+2, end)...)
		}
	}
	return list
}

// insideCall finds them between the parentheses of a function, in the tokens from one to another.
func insideCall(tokens []token, function string, from, to int) []respelling {
	for k := from; k < to; k++ {
		t := tokens[k]
		switch {
		case t.word == "(" && t.Kind == sqltext.KindOp:
			k = max(closing(tokens, k), k)
		case function == "cast" && is(t, "as"), function == "convert" && t.word == "," && t.Kind == sqltext.KindOp:
			if text := typeSpelled(tokens[k+1 : to]); text != "" {
				return []respelling{{Span{tokens[k+1].Pos, tokens[to-1].End}, text}}
			}
			return nil
		case t.Kind == sqltext.KindWord && k > from && tokens[k-1].word != "," && slices.Contains(insideCalls[function], strings.ToLower(t.word)):
			if slices.ContainsFunc(tokens[k:to], func(t token) bool { return t.Kind == sqltext.KindParam }) {
				return nil
			}
			return dropped(tokens, function, k, to)
		}
	}
	return nil
}

// insideCalls are the words by which clauses begin that the parser does not know within the parentheses of a function.
var insideCalls = map[string][]string{
	"weight_string": {"level"}, "group_concat": {"limit"}, "json_value": {"returning", "null", "error", "default"},
	"column_create": {"as"}, "column_add": {"as"}, "column_get": {"as"},
}

// dropped takes the clause of a call out that begins at a token; the types of MariaDB's dynamic columns are several.
func dropped(tokens []token, function string, from, end int) (list []respelling) {
	if !strings.HasPrefix(function, "column_") {
		return []respelling{{Span{tokens[from].Pos, tokens[end-1].End}, ""}}
	}
	for at := from; at < end; at++ {
		switch {
		case tokens[at].word == "(" && tokens[at].Kind == sqltext.KindOp:
			at = max(closing(tokens, at), at)
		case is(tokens[at], "as"):
			to := at + 1
			for to < end && tokens[to].word != "," {
				if tokens[to].word == "(" {
					to = max(closing(tokens, to), to)
				}
				to++
			}
			list = append(list, respelling{Span{tokens[at].Pos, tokens[to-1].End}, ""})
			at = to
		}
	}
	return list
}

// closing gives the token of the parenthesis that closes the one at a token; -1 without it.
func closing(tokens []token, open int) int {
	depth := 0
	for k := open; k < len(tokens); k++ {
		if tokens[k].Kind == sqltext.KindOp {
			depth += tokens[k].nesting()
		}
		if depth == 0 {
			return k
		}
	}
	return -1
}

// typeSpelled gives a type that the parser knows for one of CAST that it does not; "" for others. Of what type a CAST is no plan asks.
func typeSpelled(of []token) string {
	if len(of) == 0 || of[0].Kind != sqltext.KindWord {
		return ""
	}
	last := of[len(of)-1]
	switch strings.ToLower(of[0].word) {
	case "varchar", "nchar", "national", "uuid", "inet4", "inet6", "interval", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection":
		return "CHAR"
	case "char", "character":
		if len(of) > 1 && (is(last, "ascii") || is(last, "unicode") || is(last, "byte") || len(of) > 2 && is(of[1], "charset")) || is(of[0], "character") {
			return "CHAR"
		}
	case "int", "integer":
		return "SIGNED"
	case "double":
		if len(of) > 1 {
			return "DOUBLE"
		}
	}
	return ""
}
