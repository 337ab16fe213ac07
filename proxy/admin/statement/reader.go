// Package statement reads the statements about the proxy itself, token by token.
package statement

import (
	"fmt"
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/kserror"
)

// Reader reads a statement of the proxy's own, token by token.
type Reader struct {
	Text string
	Mode sqltext.Mode
	Tok  sqltext.Token // the one at hand
	lex  sqltext.Lexer
}

// New returns a reader of a text, at its first token.
func New(text string, m sqltext.Mode) *Reader {
	r := &Reader{Text: text, Mode: m, lex: sqltext.NewLexer(text, m)}
	r.Next()
	return r
}

// Next passes over the token at hand.
func (r *Reader) Next() { r.Tok = r.lex.Next() }

// Peek returns the token after the one at hand.
func (r *Reader) Peek() sqltext.Token {
	l := r.lex
	return l.Next()
}

// Raw is the token at hand as written.
func (r *Reader) Raw() string { return r.Text[r.Tok.Pos:r.Tok.End] }

// Rest is the text from the token at hand on, without the semicolon at its end.
func (r *Reader) Rest() string {
	rest := strings.TrimSpace(r.Text[r.Tok.Pos:])
	return strings.TrimSpace(strings.TrimSuffix(rest, ";"))
}

// Is reports whether the token at hand is that word, in any case.
func (r *Reader) Is(word string) bool {
	return r.Tok.Kind == sqltext.KindWord && strings.EqualFold(r.Raw(), word)
}

// Word passes over the word, if it comes next.
func (r *Reader) Word(word string) bool {
	if !r.Is(word) {
		return false
	}
	r.Next()
	return true
}

// Op passes over the operator, if it comes next.
func (r *Reader) Op(op string) bool {
	if r.Tok.Kind != sqltext.KindOp || r.Raw() != op {
		return false
	}
	r.Next()
	return true
}

// AnyWord passes over a word and gives it.
func (r *Reader) AnyWord() (word string, ok bool) {
	if r.Tok.Kind != sqltext.KindWord {
		return "", false
	}
	word = r.Raw()
	r.Next()
	return word, true
}

// Name passes over a name: a word, a quoted identifier or a string.
func (r *Reader) Name() (name string, ok bool) {
	switch r.Tok.Kind {
	case sqltext.KindWord:
		name = r.Raw()
	case sqltext.KindQuotedIdent, sqltext.KindString:
		if name, ok = sqltext.Unquote(r.Raw(), r.Mode); !ok {
			return "", false
		}
	default:
		return "", false
	}
	r.Next()
	return name, true
}

// Account passes over 'user'@'source'.
func (r *Reader) Account() (user, source string, ok bool) {
	if user, ok = r.Name(); !ok || r.Tok.Kind != sqltext.KindUserVar {
		return "", "", false
	}
	source = strings.TrimPrefix(r.Raw(), "@")
	if source != "" && strings.ContainsRune("'\"`", rune(source[0])) {
		if source, ok = sqltext.Unquote(source, r.Mode); !ok {
			return "", "", false
		}
	}
	r.Next()
	return user, source, true
}

// Value passes over a string, a word or a number, with its sign.
func (r *Reader) Value() (v string, ok bool) {
	sign := ""
	if r.Op("-") {
		sign = "-"
	}
	switch r.Tok.Kind {
	case sqltext.KindNumber:
		v = sign + r.Raw()
	case sqltext.KindWord, sqltext.KindQuotedIdent, sqltext.KindString:
		if sign != "" {
			return "", false
		}
		return r.Name()
	default:
		return "", false
	}
	r.Next()
	return v, true
}

// Number passes over a whole number without a sign.
func (r *Reader) Number() (n uint64, ok bool) {
	if r.Tok.Kind != sqltext.KindNumber {
		return 0, false
	}
	n, err := strconv.ParseUint(r.Raw(), 10, 63)
	if err != nil {
		return 0, false
	}
	r.Next()
	return n, true
}

// Ended reports whether nothing but a semicolon is left.
func (r *Reader) Ended() bool {
	l := r.lex
	t := r.Tok
	for t.Kind == sqltext.KindSemicolon {
		t = l.Next()
	}
	return t.Kind == sqltext.KindEOF
}

// End gives an error if something is left.
func (r *Reader) End() error {
	if r.Ended() {
		return nil
	}
	return r.Expected("the end of the statement")
}

// nearMax bounds what an error shows of the statement, in bytes.
const nearMax = 40

// Expected is the error that something else stands here.
func (r *Reader) Expected(what string) error {
	near := "the end"
	if !r.Ended() {
		rest := r.Rest()
		if len(rest) > nearMax {
			rest = strings.ToValidUTF8(rest[:nearMax], "") + "..."
		}
		near = strconv.Quote(rest)
	}
	return kserror.New(kserror.AdminSyntax, fmt.Sprintf("expected %s, found %s; KS HELP shows how it is written", what, near))
}
