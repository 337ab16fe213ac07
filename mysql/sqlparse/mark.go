package sqlparse

import (
	"slices"
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
)

// The parser keeps no places of names. So each word that may name a watched table is replaced by a marker before parsing,
// a name that nothing else has: where the marker turns up in the tree says what the word is, and which word it was.

// marker is how a marked word begins; its number follows.
const marker = "ks_mark_7f3a_"

// mark is one marked word.
type mark struct {
	at       Span // of the word, its quotes included
	name     string
	db       Span // of the database name in front, with the dot; empty without one
	resolved bool
}

// token is a token with what marking asks of it.
type token struct {
	sqltext.Token
	word string // of a word or quoted identifier, unquoted; an operator's text
}

// nesting is 1 for an opening parenthesis, -1 for a closing one, and 0 for anything else.
func (t token) nesting() int {
	switch t.word {
	case "(":
		return 1
	case ")":
		return -1
	}
	return 0
}

// lex cuts the text into tokens.
func lex(text string, m sqltext.Mode) (tokens []token, ok bool) {
	ok = eachToken(text, m, func(t token) bool {
		tokens = append(tokens, t)
		return true
	})
	return tokens, ok
}

// eachToken calls f with the tokens of a text until it returns false; ok is false where they are not certain.
func eachToken(text string, m sqltext.Mode, f func(t token) bool) (ok bool) {
	l := sqltext.NewLexer(text, m)
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			return !l.Doubt()
		}
		tok := token{Token: t, word: text[t.Pos:t.End]}
		if t.Kind == sqltext.KindQuotedIdent {
			q := tok.word[:1]
			tok.word = strings.ReplaceAll(tok.word[1:len(tok.word)-1], q+q, q)
		}
		if t.Kind == sqltext.KindInvalid {
			return false
		}
		if !f(tok) {
			return true
		}
	}
}

// beforeTable are the words and signs after which a word that looks like a call is a table: INSERT INTO t(a).
var beforeTable = map[string]bool{
	"into": true, "insert": true, "replace": true, "ignore": true, "delayed": true, "low_priority": true, "high_priority": true,
	"table": true, "from": true, "join": true, "update": true, "on": false, ".": true, "references": true, "truncate": true,
	"exists": true, // CREATE TABLE IF NOT EXISTS t (a INT)
}

// marks finds the words to mark. strict leaves out words that may be a keyword's or a function's where they stand.
func marks(tokens []token, watched func(string) bool, strict bool) []mark {
	var out []mark
	for k, t := range tokens {
		if t.Kind != sqltext.KindWord && t.Kind != sqltext.KindQuotedIdent || !watched(t.word) {
			continue
		}
		prev, next := "", ""
		if k > 0 {
			prev = strings.ToLower(tokens[k-1].word)
		}
		if k+1 < len(tokens) {
			next = tokens[k+1].word
		}
		if t.Kind == sqltext.KindWord {
			known, sure := beforeTable[prev]
			if next == "(" && !(sure && known) && !(prev == "on" && ddl(tokens)) {
				continue
			}
			if strict && next != "." && prev != "," && !(sure && known) {
				continue
			}
		}
		m := mark{at: Span{t.Pos, t.End}, name: t.word}
		if prev == "." && k >= 2 && (tokens[k-2].Kind == sqltext.KindWord || tokens[k-2].Kind == sqltext.KindQuotedIdent) {
			m.db = Span{tokens[k-2].Pos, t.Pos}
		}
		out = append(out, m)
	}
	return out
}

func ddl(tokens []token) bool {
	if len(tokens) == 0 {
		return false
	}
	switch strings.ToLower(tokens[0].word) {
	case "create", "alter", "drop":
		return true
	}
	return false
}

// markText puts the markers into the text, and what the parser knows in the place of what it does not.
func markText(text string, ms []mark, rs []respelling) string {
	if len(ms) == 0 && len(rs) == 0 {
		return text
	}
	slices.SortStableFunc(rs, func(a, b respelling) int { return a.at.Pos - b.at.Pos })
	var b strings.Builder
	at, next := 0, 0
	put := func(s Span, words ...string) {
		if s.Pos < at {
			return // within what another one has replaced
		}
		b.WriteString(text[at:s.Pos])
		for _, word := range words {
			b.WriteString(word)
		}
		at = s.End
	}
	for k, m := range ms {
		for ; next < len(rs) && rs[next].at.Pos < m.at.Pos; next++ {
			put(rs[next].at, rs[next].text)
		}
		put(m.at, marker, strconv.Itoa(k))
	}
	for ; next < len(rs); next++ {
		put(rs[next].at, rs[next].text)
	}
	b.WriteString(text[at:])
	return b.String()
}

// markOf gives the number of a marker, and whether name is one.
func markOf(name string) (int, bool) {
	if len(name) <= len(marker) || !strings.EqualFold(name[:len(marker)], marker) {
		return 0, false
	}
	k, err := strconv.Atoi(name[len(marker):])
	return k, err == nil
}
