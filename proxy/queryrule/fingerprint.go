package queryrule

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// fingerprintTokensMax bounds the tokens of a fingerprint: statements that are equal up to there count as equal.
const fingerprintTokensMax = 1 << 16

// anyList stands for a list of literals of any length.
const anyList = "(?+)"

// Fingerprint gives a statement without what its copies differ in: comments and blanks go, words are in lower case, literals
// are ?, the lists of IN and the rows of VALUES are (?+).
func Fingerprint(text string, m sqltext.Mode) string {
	var out []string
	l := sqltext.NewLexer(text, m)
	for len(out) < fingerprintTokensMax {
		t := l.Next()
		if t.Kind == sqltext.KindEOF || t.Kind == sqltext.KindSemicolon {
			break
		}
		word := text[t.Pos:t.End]
		switch t.Kind {
		case sqltext.KindString, sqltext.KindNumber, sqltext.KindHex, sqltext.KindBit, sqltext.KindParam:
			word = "?"
		case sqltext.KindQuotedIdent:
			word = strings.ToLower(sqltext.UnquoteIdent(word, m))
		default:
			word = strings.ToLower(word)
		}
		out = append(out, word)
		if word == ")" {
			out = foldList(out)
		}
	}
	return strings.Join(out, " ")
}

// foldList makes one token of the list of literals that just ended, if it is one.
func foldList(out []string) []string {
	open := len(out) - 2
	for open > 0 && (out[open] == "?" || out[open] == "," || out[open] == "-" || out[open] == "+") {
		open--
	}
	if open < 1 || out[open] != "(" || open == len(out)-2 {
		return out
	}
	switch out[open-1] {
	case "in", "values", "value":
		return append(out[:open], anyList)
	case ",":
		if open > 1 && out[open-2] == anyList {
			return out[:open-1]
		}
	}
	return out
}
