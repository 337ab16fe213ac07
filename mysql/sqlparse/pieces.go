package sqlparse

import (
	"strings"

	"kingshard/mysql/sqltext"
)

// Piece is a name or a call in the text of an expression.
type Piece struct {
	Span
	// Path is a name as it is written, unquoted: its parts, the last one that of the column; nil for a call.
	Path []string
	// Call is the function's name in lower case. Inside is what stands between its parentheses, behind DISTINCT if that
	// is there.
	Call     string
	Distinct bool
	Inside   Span
}

// Pieces finds the names in a piece of text, and the calls of the functions that calls has; names within those are left
// out. Keywords look like names: which of them are, the tree tells. ok is false for a text that is not clear.
func Pieces(text string, s Span, calls map[string]bool, m sqltext.Mode) (pieces []Piece, ok bool) {
	tokens, ok := lex(text[s.Pos:s.End], m)
	if !ok {
		return nil, false
	}
	for k := range tokens {
		tokens[k].Pos += s.Pos
		tokens[k].End += s.Pos
	}
	for k := 0; k < len(tokens); {
		if !isName(tokens[k]) {
			k++
			continue
		}
		end := nameEnd(tokens, k)
		opens := end < len(tokens) && tokens[end].word == "("
		name := strings.ToLower(tokens[k].word)
		switch {
		case opens && end == k+1 && tokens[k].Kind == sqltext.KindWord && calls[name]:
			p, next := call(tokens, k)
			if next < 0 {
				return nil, false
			}
			p.Call = name
			pieces = append(pieces, p)
			k = next
		case opens && tokens[end-1].Kind == sqltext.KindWord:
			k = end // another function
		default:
			p := Piece{Span: Span{tokens[k].Pos, tokens[end-1].End}}
			for ; k < end; k += 2 {
				p.Path = append(p.Path, tokens[k].word)
			}
			pieces = append(pieces, p)
			k = end
		}
	}
	return pieces, true
}

func isName(t token) bool { return t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent }

// nameEnd is where the name ends that begins with token k, its parts joined by dots.
func nameEnd(tokens []token, k int) int {
	for k++; k+1 < len(tokens) && tokens[k].word == "." && isName(tokens[k+1]); k += 2 {
	}
	return k
}

// call reads the call whose name is token k; next is behind it, -1 when its parentheses are not closed.
func call(tokens []token, k int) (p Piece, next int) {
	p.Pos = tokens[k].Pos
	p.Inside.Pos = tokens[k+1].End
	if k+2 < len(tokens) && tokens[k+2].Kind == sqltext.KindWord && strings.EqualFold(tokens[k+2].word, "distinct") {
		p.Distinct, p.Inside.Pos = true, tokens[k+2].End
	}
	depth := 0
	for i := k + 1; i < len(tokens); i++ {
		depth += tokens[i].nesting()
		if depth == 0 {
			p.Inside.End, p.End = tokens[i].Pos, tokens[i].End
			return p, i + 1
		}
	}
	return p, -1
}

// SameText tells whether two pieces of a text are the same but for blanks, comments and the case of words. Parameters are
// never the same.
func SameText(text string, a, b Span, m sqltext.Mode) bool {
	x, ok := lex(text[a.Pos:a.End], m)
	y, ok2 := lex(text[b.Pos:b.End], m)
	if !ok || !ok2 || len(x) != len(y) {
		return false
	}
	for k := range x {
		switch {
		case x[k].Kind != y[k].Kind || x[k].Kind == sqltext.KindParam:
			return false
		case isName(x[k]):
			if !strings.EqualFold(x[k].word, y[k].word) {
				return false
			}
		case x[k].word != y[k].word:
			return false
		}
	}
	return true
}
