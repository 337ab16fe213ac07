package sqltext

import "strings"

// parser reads a statement token by token.
type parser struct {
	sql  string
	mode Mode
	l    Lexer
	tok  Token
	// edges are the marks of version comments passed up to and with the token: a text that spans one cannot be cut out.
	edges int
}

func newParser(sql string, m Mode) *parser {
	p := &parser{sql: sql, mode: m, l: NewLexer(sql, m)}
	p.next()
	return p
}

func (p *parser) next() {
	p.tok = p.l.Next()
	p.edges = p.l.edges
}

// text gives the token at hand as written.
func (p *parser) text() string { return p.sql[p.tok.Pos:p.tok.End] }

// is tells whether the token at hand is the word, given in lower case.
func (p *parser) is(word string) bool { return p.tok.Kind == KindWord && foldEqual(p.text(), word) }

// isOp tells whether the token at hand is the operator.
func (p *parser) isOp(op string) bool { return p.tok.Kind == KindOp && p.text() == op }

// words passes over the words, if all of them come next. When only some do, none is passed over.
func (p *parser) words(words ...string) bool {
	saved := *p
	for _, w := range words {
		if !p.is(w) {
			*p = saved
			return false
		}
		p.next()
	}
	return true
}

// op passes over the operator, if it comes next.
func (p *parser) op(op string) bool {
	if !p.isOp(op) {
		return false
	}
	p.next()
	return true
}

// nesting is 1 at an opening parenthesis, -1 at a closing one, and 0 elsewhere.
func (p *parser) nesting() int {
	switch {
	case p.isOp("("):
		return 1
	case p.isOp(")"):
		return -1
	}
	return 0
}

// group passes over parentheses and what is in them, if any come next.
func (p *parser) group() {
	if !p.isOp("(") {
		return
	}
	for depth := 0; p.tok.Kind != KindEOF; {
		depth += p.nesting()
		if p.next(); depth == 0 {
			return
		}
	}
}

// oneOf passes over one of the words and returns it; "" if none comes next.
func (p *parser) oneOf(words ...string) string {
	for _, w := range words {
		if p.words(w) {
			return w
		}
	}
	return ""
}

// ident passes over an identifier and returns it without quotes.
func (p *parser) ident() (string, bool) {
	text := p.text()
	switch p.tok.Kind {
	case KindWord:
	case KindQuotedIdent:
		var ok bool
		if text, ok = Unquote(text, p.mode); !ok || text == "" {
			return "", false
		}
	default:
		return "", false
	}
	p.next()
	return text, true
}

// userVar passes over a user variable and returns its name in lower case, without @ and quotes.
func (p *parser) userVar() (string, bool) {
	if p.tok.Kind != KindUserVar {
		return "", false
	}
	name := p.text()[1:]
	if c := name[0]; c == '`' || c == '\'' || c == '"' {
		var ok bool
		if name, ok = Unquote(name, p.mode); !ok || name == "" {
			return "", false
		}
	}
	p.next()
	return strings.ToLower(name), true
}

// done tells whether nothing but ';' is left, and nothing doubtful came before.
func (p *parser) done() bool {
	for p.tok.Kind == KindSemicolon && !p.l.inVersion {
		p.next()
	}
	return p.tok.Kind == KindEOF && !p.l.Doubt()
}
