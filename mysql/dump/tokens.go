package dump

import (
	"strconv"
	"strings"

	"kingshard/mysql/sqltext"
)

// tokens is a place in the tokens of a statement.
type tokens struct {
	sql  string
	mode sqltext.Mode
	list []sqltext.Token
	k    int
}

func newTokens(sql string, m sqltext.Mode) *tokens {
	p := &tokens{sql: sql, mode: m}
	l := sqltext.NewLexer(sql, m)
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		p.list = append(p.list, t)
	}
	return p
}

func (p *tokens) end() bool { return p.k >= len(p.list) }

// at is the place in the text.
func (p *tokens) at() int {
	if p.end() {
		return len(p.sql)
	}
	return p.list[p.k].Pos
}

// peek is the text of the token i places on; "" behind the end.
func (p *tokens) peek(i int) string {
	if p.k+i >= len(p.list) {
		return ""
	}
	t := p.list[p.k+i]
	return p.sql[t.Pos:t.End]
}

// is tells whether the next token is a word, given in lower case.
func (p *tokens) is(word string) bool {
	return !p.end() && p.list[p.k].Kind == sqltext.KindWord && strings.EqualFold(p.peek(0), word)
}

// take takes a word if it is next.
func (p *tokens) take(word string) bool {
	if !p.is(word) {
		return false
	}
	p.k++
	return true
}

// takeOp takes an operator if it is next.
func (p *tokens) takeOp(op string) bool {
	if p.peek(0) != op {
		return false
	}
	p.k++
	return true
}

// word takes the next token, and gives it in lower case if it is a word.
func (p *tokens) word() string {
	if p.end() {
		return ""
	}
	p.k++
	if t := p.list[p.k-1]; t.Kind == sqltext.KindWord {
		return strings.ToLower(p.sql[t.Pos:t.End])
	}
	return ""
}

// name takes an identifier.
func (p *tokens) name() (string, bool) {
	if p.end() {
		return "", false
	}
	t := p.list[p.k]
	text := p.sql[t.Pos:t.End]
	switch t.Kind {
	case sqltext.KindWord:
		p.k++
		return text, true
	case sqltext.KindQuotedIdent:
		p.k++
		return sqltext.Unquote(text, p.mode)
	case sqltext.KindString:
		if text[0] == '"' { // a dump that was made under ANSI_QUOTES
			p.k++
			return sqltext.Unquote(text, p.mode)
		}
	}
	return "", false
}

// value takes a literal or a word, as the options of tables have them.
func (p *tokens) value() string {
	p.takeOp("=")
	if p.end() {
		return ""
	}
	text := p.peek(0)
	p.k++
	if s, ok := sqltext.Unquote(text, p.mode); ok {
		return s
	}
	return text
}

// ifExists takes IF EXISTS and IF NOT EXISTS.
func (p *tokens) ifExists() {
	if p.take("if") {
		p.take("not")
		p.take("exists")
	}
}

// find goes behind the first such word outside of parentheses.
func (p *tokens) find(word string) bool {
	for k := p.k; k < len(p.list); k++ {
		if t := p.list[k]; t.Kind == sqltext.KindWord && strings.EqualFold(p.sql[t.Pos:t.End], word) {
			p.k = k + 1
			return true
		}
	}
	return false
}

// group takes what is in parentheses, if that is next, and gives the tokens within.
func (p *tokens) group() (inner tokens, ok bool) {
	if p.peek(0) != "(" {
		return inner, false
	}
	begin, depth := p.k+1, 0
	for ; !p.end(); p.k++ {
		switch p.peek(0) {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				inner = tokens{sql: p.sql, mode: p.mode, list: p.list[begin:p.k]}
				p.k++
				return inner, true
			}
		}
	}
	return inner, false
}

// numbers takes (n) or (n, n), if that is next; those that are not there are -1.
func (p *tokens) numbers() (n, m int) {
	n, m = -1, -1
	g, ok := p.group()
	if !ok {
		return n, m
	}
	n = g.number()
	if g.takeOp(",") {
		m = g.number()
	}
	return n, m
}

func (p *tokens) number() int {
	n, err := strconv.Atoi(p.peek(0))
	if err != nil {
		return -1
	}
	p.k++
	return n
}

// elements splits at the commas outside of parentheses.
func (p *tokens) elements() (all []tokens) {
	begin, depth := p.k, 0
	for ; !p.end(); p.k++ {
		switch p.peek(0) {
		case "(":
			depth++
		case ")":
			depth--
		case ",":
			if depth == 0 {
				all = append(all, tokens{sql: p.sql, mode: p.mode, list: p.list[begin:p.k]})
				begin = p.k + 1
			}
		}
	}
	return append(all, tokens{sql: p.sql, mode: p.mode, list: p.list[begin:]})
}
