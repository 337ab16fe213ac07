package sqltext

import (
	"bytes"
	"unicode/utf8"
)

// AppendNormal appends the text apart from its values, as statistics and logs show it: every literal is a '?', comments are
// left out, blanks are made even. A run of literals is one '?', and rows of one form that follow each other are one, so that
// lists of any length look alike: VALUES (1, 'a'), (2, NULL) becomes VALUES (?). At most max bytes are appended; "..." ends a
// text that was cut, by max or because a secret may follow: what comes behind IDENTIFIED, SET PASSWORD and KS SET is never there.
//
// It takes any text, several statements and malformed ones too, and reads no further than it needs to. Names stay as they are
// written, but for those in double quotes (ANSI_QUOTES) of a text that is Secretive.
func AppendNormal(dst []byte, sql string, m Mode, max int) []byte {
	return appendNormal(dst, sql, m, max, Numbers{})
}

func appendNormal(dst []byte, sql string, m Mode, max int, known Numbers) []byte {
	n := normalizer{l: NewLexer(sql, m), sql: sql, out: dst, start: len(dst), limit: len(dst) + max, known: known}
	n.run()
	out := n.out
	if len(out) > n.limit || n.cut {
		out = cutText(out, n.start, min(len(out), n.limit-len(cutMark)))
	}
	return out
}

const cutMark = "..."

// cutText ends a text at end, or before the character that end is within, and says so.
func cutText(out []byte, start, end int) []byte {
	end = max(end, start)
	for end > start && end < len(out) && !utf8.RuneStart(out[end]) {
		end--
	}
	return append(out[:end], cutMark...)
}

// normalRole is what a token is to the one behind it.
type normalRole uint8

const (
	normalStart normalRole = iota
	normalWord
	normalOperand // quoted name, variable, ')'
	normalLiteral
	normalOp
	normalOpen
	normalComma
	normalDot
)

// normalDepth is how deep in parentheses rows are compared.
const normalDepth = 8

// rows is where, at one depth of parentheses, the pair at hand and the last complete one are in the output.
type rows struct{ open, from, end int32 }

type normalizer struct {
	l            Lexer
	sql          string
	out          []byte
	start, limit int
	prev, prev2  normalRole
	set, ks      bool // the word before is SET, or KS, at the begin of a statement
	cut          bool // the rest is not shown
	secretive    int8 // of the whole text: 0 not known, 1 yes, -1 no
	depth        int
	levels       [normalDepth]rows
	known        Numbers
}

func (n *normalizer) run() {
	end := 0
	n.levels[0] = rows{end: -1}
	for !n.cut && len(n.out) <= n.limit {
		pos := end
		if pos < len(n.sql) && n.sql[pos] == ' ' {
			pos++
		}
		if pos == len(n.sql) || byteClass[n.sql[pos]]&(byteBlank|byteMark) != 0 {
			n.l.pos = pos
			if !n.l.skip() {
				n.literal() // a comment without end
				return
			}
			pos = n.l.pos
		}
		if pos == len(n.sql) {
			n.out = n.out[:n.start+len(bytes.TrimRight(n.out[n.start:], "; "))]
			return
		}
		switch c := n.sql[pos]; {
		case c == '=':
			n.put(normalOp, "=", true)
			end = pos + 1
		case c == ',':
			n.put(normalComma, ",", false)
			end = pos + 1
		case n.prev == normalDot || !plainByte[c]:
			end = n.token(pos, pos > end)
		case isDigit(c):
			end = n.number(pos)
		default:
			end = n.word(pos)
		}
	}
}

// number reads what begins with a digit.
func (n *normalizer) number(pos int) int {
	end := n.l.run(pos, byteDigit)
	if c := n.l.at(end); isIdent(c) || c == '.' {
		return n.token(pos, true)
	}
	n.literal()
	if end == int(n.known.from) {
		n.prev, n.prev2 = normalLiteral, normalOp
		return int(n.known.stop)
	}
	pos, stop, _ := numbers(n.sql, end)
	if pos > 0 {
		n.prev, n.prev2 = normalLiteral, normalOp // as literal leaves them
	}
	return stop
}

// word reads an unquoted word of ASCII letters.
func (n *normalizer) word(pos int) int {
	end := pos + 1
	for end < len(n.sql) && plainByte[n.sql[end]] {
		end++
	}
	if c := n.l.at(end); c >= 0x80 || c == '$' || c == '\'' && end == pos+1 {
		return n.token(pos, true)
	}
	n.l.identEnd = end
	n.named(n.sql[pos:end])
	return end
}

// named takes an unquoted word.
func (n *normalizer) named(text string) {
	if n.prev == normalDot {
		n.put(normalWord, text, false)
		return
	}
	if (n.prev == normalOpen || n.prev == normalComma) && constant(text) {
		n.literal()
		return
	}
	first := n.prev == normalStart || n.prev == normalOp
	begins := n.prev == normalStart || n.prev == normalOp && n.out[len(n.out)-1] == ';'
	n.put(normalWord, text, true)
	set := len(text) == 3 && foldEqual(text, "set")
	n.cut = len(text) == len("identified") && foldEqual(text, "identified") || n.set && foldEqual(text, "password") || n.ks && set
	n.set, n.ks = first && set, begins && len(text) == 2 && foldEqual(text, "ks")
}

// constant tells the words that stand for values in rows.
func constant(text string) bool {
	switch len(text) {
	case 4:
		return foldEqual(text, "null") || foldEqual(text, "true")
	case 5:
		return foldEqual(text, "false")
	case 7:
		return foldEqual(text, "default")
	}
	return false
}

// token takes what the lexer reads at pos. blank tells whether blanks or comments are ahead of it.
func (n *normalizer) token(pos int, blank bool) int {
	n.l.pos = pos
	t := n.l.Next()
	text := n.sql[t.Pos:t.End]
	switch t.Kind {
	case KindWord:
		n.named(text)
	case KindQuotedIdent:
		if text[0] == '"' && n.mayBeSecret() {
			n.literal()
			break
		}
		n.put(normalOperand, text, n.prev != normalDot)
	case KindUserVar:
		if text[1] == '\'' || text[1] == '"' {
			text = "@?" // a host, or whatever a string may hold
		}
		n.put(normalOperand, text, true)
	case KindSysVar:
		n.put(normalOperand, SysVar(text), true)
	case KindSemicolon:
		n.put(normalOp, text, false)
	case KindOp:
		n.operator(text, blank)
	case KindEOF:
	default:
		n.literal()
	}
	if t.Kind != KindWord {
		n.set, n.ks = false, false
	}
	return t.End
}

// mayBeSecret tells whether the whole text is Secretive, having looked once.
func (n *normalizer) mayBeSecret() bool {
	if n.secretive == 0 {
		n.secretive = -1
		if Secretive(n.sql) {
			n.secretive = 1
		}
	}
	return n.secretive > 0
}

func (n *normalizer) operator(text string, blank bool) {
	switch text[0] {
	case '(':
		n.put(normalOpen, text, blank && n.prev == normalWord || n.prev != normalWord && n.prev != normalOpen)
		n.depth++
		if n.depth < normalDepth {
			n.levels[n.depth] = rows{open: int32(len(n.out) - 1), end: -1}
		}
	case ')':
		n.put(normalOperand, text, false)
		n.close()
	case ',':
		n.put(normalComma, text, false)
	case '.':
		n.put(normalDot, text, false)
	case '-', '+':
		if len(text) == 1 && n.prev >= normalOp && n.prev != normalDot && isDigit(n.l.at(n.l.pos)) {
			return // the number's sign
		}
		n.put(normalOp, text, true)
	default:
		n.put(normalOp, text, n.prev != normalDot)
	}
}

// close ends a pair of parentheses: one that looks like the one before it, with a comma between, is the next row.
func (n *normalizer) close() {
	if n.depth == 0 {
		return
	}
	n.depth--
	if n.depth+1 >= normalDepth {
		return
	}
	open, outer := n.levels[n.depth+1].open, &n.levels[n.depth]
	if outer.end >= 0 && outer.end <= open && string(n.out[outer.end:open]) == ", " && bytes.Equal(n.out[outer.from:outer.end], n.out[open:]) {
		n.out = n.out[:outer.end]
		return
	}
	outer.from, outer.end = open, int32(len(n.out))
}

// literal takes a value: behind another one and a comma nothing is written.
func (n *normalizer) literal() {
	if n.prev == normalComma && n.prev2 == normalLiteral {
		n.out = n.out[:len(n.out)-1]
		n.prev, n.prev2 = normalLiteral, normalOp
		return
	}
	n.put(normalLiteral, "?", true)
}

// put writes a token, behind a blank if there may be one.
func (n *normalizer) put(r normalRole, text string, blank bool) {
	out := n.out
	if blank && n.prev != normalOpen && n.prev != normalStart {
		out = append(out, ' ')
	}
	n.prev2, n.prev = n.prev, r
	if room := n.limit - len(out) + 1; len(text) > room {
		text = text[:max(room, 0)]
	}
	n.out = append(out, text...)
}

// secretWords are found in statements that carry passwords and keys, and in those that are about columns of such.
var secretWords = [...]string{"password", "identified", "passwd", "secret", "encrypt", "decrypt", "credential", "token"}

// Secretive tells whether a text has a word in it, anywhere and in any case, that makes it likely to carry a password or a
// key. Such a text is not to be logged with its literals. It errs on the side of yes.
func Secretive(sql string) bool {
	for k := range len(sql) {
		switch sql[k] | 0x20 {
		case 'p', 'i', 's', 'e', 'd', 'c', 't':
		default:
			continue
		}
		for _, w := range secretWords {
			if len(sql)-k >= len(w) && sql[k]|0x20 == w[0] && foldEqual(sql[k:k+len(w)], w) {
				return true
			}
		}
	}
	return false
}
