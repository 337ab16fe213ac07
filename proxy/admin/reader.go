package admin

import (
	"fmt"
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/session"
)

// reader reads a statement of the proxy's own, token by token.
type reader struct {
	text string
	mode sqltext.Mode
	lex  sqltext.Lexer
	tok  sqltext.Token
}

func newReader(text string, m sqltext.Mode) *reader {
	r := &reader{text: text, mode: m, lex: sqltext.NewLexer(text, m)}
	r.next()
	return r
}

func (r *reader) next() { r.tok = r.lex.Next() }

// raw is the token at hand as written.
func (r *reader) raw() string { return r.text[r.tok.Pos:r.tok.End] }

// rest is the text from the token at hand on, without the semicolon at its end.
func (r *reader) rest() string {
	rest := strings.TrimSpace(r.text[r.tok.Pos:])
	return strings.TrimSpace(strings.TrimSuffix(rest, ";"))
}

// is tells whether the token at hand is that word, in any case.
func (r *reader) is(word string) bool {
	return r.tok.Kind == sqltext.KindWord && strings.EqualFold(r.raw(), word)
}

// word passes over the word, if it comes next.
func (r *reader) word(word string) bool {
	if !r.is(word) {
		return false
	}
	r.next()
	return true
}

// op passes over the operator, if it comes next.
func (r *reader) op(op string) bool {
	if r.tok.Kind != sqltext.KindOp || r.raw() != op {
		return false
	}
	r.next()
	return true
}

// anyWord passes over a word and gives it.
func (r *reader) anyWord() (word string, ok bool) {
	if r.tok.Kind != sqltext.KindWord {
		return "", false
	}
	word = r.raw()
	r.next()
	return word, true
}

// name passes over a name: a word, a quoted identifier or a string.
func (r *reader) name() (name string, ok bool) {
	switch r.tok.Kind {
	case sqltext.KindWord:
		name = r.raw()
	case sqltext.KindQuotedIdent, sqltext.KindString:
		if name, ok = sqltext.Unquote(r.raw(), r.mode); !ok {
			return "", false
		}
	default:
		return "", false
	}
	r.next()
	return name, true
}

// account passes over 'user'@'source'.
func (r *reader) account() (user, source string, ok bool) {
	if user, ok = r.name(); !ok || r.tok.Kind != sqltext.KindUserVar {
		return "", "", false
	}
	source = strings.TrimPrefix(r.raw(), "@")
	if source != "" && strings.ContainsRune("'\"`", rune(source[0])) {
		if source, ok = sqltext.Unquote(source, r.mode); !ok {
			return "", "", false
		}
	}
	r.next()
	return user, source, true
}

// value passes over a string, a word or a number, with its sign.
func (r *reader) value() (v string, ok bool) {
	sign := ""
	if r.op("-") {
		sign = "-"
	}
	switch r.tok.Kind {
	case sqltext.KindNumber:
		v = sign + r.raw()
	case sqltext.KindWord, sqltext.KindQuotedIdent, sqltext.KindString:
		if sign != "" {
			return "", false
		}
		return r.name()
	default:
		return "", false
	}
	r.next()
	return v, true
}

// number passes over a whole number without a sign.
func (r *reader) number() (n uint64, ok bool) {
	if r.tok.Kind != sqltext.KindNumber {
		return 0, false
	}
	n, err := strconv.ParseUint(r.raw(), 10, 63)
	if err != nil {
		return 0, false
	}
	r.next()
	return n, true
}

// ended tells whether nothing but a semicolon is left.
func (r *reader) ended() bool {
	l := r.lex
	t := r.tok
	for t.Kind == sqltext.KindSemicolon {
		t = l.Next()
	}
	return t.Kind == sqltext.KindEOF
}

// end gives an error if something is left.
func (r *reader) end() error {
	if r.ended() {
		return nil
	}
	return r.expected("the end of the statement")
}

// nearMax bounds what an error shows of the statement, in bytes.
const nearMax = 40

// expected is the error that something else stands here.
func (r *reader) expected(what string) error {
	near := "the end"
	if !r.ended() {
		rest := r.rest()
		if len(rest) > nearMax {
			rest = strings.ToValidUTF8(rest[:nearMax], "") + "..."
		}
		near = strconv.Quote(rest)
	}
	return session.NewError(session.KSAdminSyntax, fmt.Sprintf("expected %s, found %s; KS HELP shows how it is written", what, near))
}
