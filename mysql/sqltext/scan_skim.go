package sqltext

import "strings"

// skim passes over the tokens behind the one at hand that say nothing but what comes before the next one: names, numbers,
// strings, commas and the like, of which long statements are made. It cuts them as the lexer does, and stops, leaving the
// scanner as if it had advanced over each of them, at the first token that it is not sure about.
func (s *scanner) skim() {
	if s.calls != nil || s.into || s.target || s.class == Set || s.l.inVersion || s.l.mode.Charset.Multibyte() || s.cur.sig >= sigUnskimmed {
		return
	}
	k := skimmer{
		sql: s.sql, end: s.l.pos, pos: s.cur.Pos, sig: s.cur.sig, prev: s.prev.sig, w: s.cur.w,
		identEnd: s.l.identEnd, forced: s.l.forced, depth: s.depth, numbers: s.info.Numbers,
		ansiQuotes: s.l.mode.ANSIQuotes, backslash: !s.l.mode.NoBackslashEscapes,
	}
	k.run()
	s.info.Numbers = k.numbers
	if k.end == s.l.pos {
		return
	}
	s.l.pos, s.l.identEnd, s.l.forced, s.depth = k.end, k.identEnd, k.forced, k.depth
	s.prev.sig = k.prev
	s.cur = item{Token: Token{k.sig.kind(), k.pos, k.end}, sig: k.sig, w: k.w}
}

// sigUnskimmed begins the tokens behind which skim does not begin: a user variable, whose use the next token tells, is the
// first of those that it never passes over.
const sigUnskimmed = sigUserVar

// kind gives the kind of a token from what it is to its neighbours.
func (g sig) kind() Kind {
	switch {
	case g < sigOp:
		return KindWord
	case g < sigKind:
		return KindOp
	}
	return Kind(g - sigKind)
}

// skimmer is what skim knows of the tokens that it passes over: of the last one all, of the one before it the sig.
type skimmer struct {
	sql       string
	pos, end  int
	sig, prev sig
	w         uint16
	identEnd  int // as the lexer's
	forced    int // as the lexer's
	depth     int
	numbers   Numbers

	ansiQuotes, backslash bool
}

// What a byte begins, to skim.
const (
	skimStop = iota // anything that is left to the lexer
	skimWord
	skimDigit
	skimQuote
	skimBacktick
	skimOp      // an operator of one byte, whatever follows
	skimCompare // one that may be longer
	skimMinus
	skimSlash
	skimDot
	skimOpen
	skimClose
)

// skimByte says what a byte begins.
var skimByte = func() (t [256]uint8) {
	for c := range 0x80 {
		switch {
		case isDigit(byte(c)):
			t[c] = skimDigit
		case isIdent(byte(c)) && c != '$':
			t[c] = skimWord
		}
	}
	for c, begins := range map[byte]uint8{
		'\'': skimQuote, '"': skimQuote, '`': skimBacktick, ',': skimOp, '=': skimOp, '+': skimOp, '*': skimOp, '%': skimOp, '^': skimOp,
		'~': skimOp, '<': skimCompare, '>': skimCompare, '-': skimMinus, '/': skimSlash, '.': skimDot, '(': skimOpen, ')': skimClose,
	} {
		t[c] = begins
	}
	return t
}()

// run passes over tokens until one is not plain.
func (k *skimmer) run() {
	sql := k.sql
	for {
		pos := k.end
		for pos < len(sql) && isBlank(sql[pos]) {
			pos++
		}
		if pos+1 >= len(sql) {
			return // the last byte is left to the lexer: here every token has one behind its first
		}
		c, next := sql[pos], sql[pos+1]
		begins := skimByte[c]
		if pos == k.forced && begins != skimWord {
			return
		}
		end, g := pos+1, sigOp+sig(c)
		switch begins {
		case skimWord:
			if !k.word(pos) {
				return
			}
			continue
		case skimDigit:
			end, g = k.number(pos), sigKind+sig(KindNumber)
		case skimQuote:
			end, g = k.str(pos, c)
		case skimBacktick:
			if end, g = backtickEnd(sql, pos), sigQuoted; systemQuoted(sql, pos, end) {
				return
			}
		case skimOp:
		case skimCompare:
			if next == '=' || next == '>' || next == '<' {
				return
			}
		case skimMinus:
			if next == '-' || next == '>' {
				return
			}
		case skimSlash:
			if next == '*' {
				return
			}
		case skimDot:
			switch {
			case skimByte[next] == skimWord:
				k.forced = pos + 1
			case next != '`' && next != '*':
				return
			}
		case skimOpen:
			if !k.opens() {
				return
			}
			k.depth++
		case skimClose:
			k.depth--
		default:
			return
		}
		if end == 0 {
			return
		}
		k.prev, k.sig, k.w = k.sig, g, 0
		k.pos, k.end = pos, end
		if begins == skimDigit && end < len(sql) && sql[end] == ',' {
			k.more()
		}
	}
}

// more passes over further numbers of a list.
func (k *skimmer) more() {
	pos, end, minus := numbers(k.sql, k.end)
	if pos == 0 {
		return
	}
	k.numbers.keep(k.end, end)
	k.pos, k.end, k.prev = pos, end, sigOp+','
	if minus {
		k.prev = sigOp + '-'
	}
}

// word passes over an unquoted word. It returns false for those that the scanner has to look at.
func (k *skimmer) word(pos int) bool {
	sql, end := k.sql, pos+1
	for end < len(sql) && plainByte[sql[end]] {
		end++
	}
	if end < len(sql) && (isIdent(sql[end]) || sql[end] == '\'' && end == pos+1) || k.sig == sig(kwInto) {
		return false
	}
	w, g := uint16(0), sig(kwNone)
	if k.sig != sigDot || end-pos == len("nextval") {
		w = lookup(sql[pos:end])
		if g = sig(words[w].key); keywordActs[g] {
			return false
		}
		if k.sig == sigDot {
			w, g = 0, sig(kwNone)
		}
	}
	k.prev, k.sig, k.w = k.sig, g, w
	k.pos, k.end, k.identEnd = pos, end, end
	return true
}

// keywordActs are the keywords that change what is known of a statement as soon as they are read.
var keywordActs = func() (t [kwXA + 1]bool) {
	for _, k := range []keyword{kwUpdate, kwShare, kwIn, kwOutfile, kwDumpfile, kwSQLCalcFoundRows, kwCurrentUser, kwFor, kwSelect, kwNextval, kwCurrval,
		kwInformationSchema, kwKSMeta, kwMySQL, kwPerformanceSchema, kwSys} {
		t[k] = true
	}
	return t
}()

// number gives the end of a number, 0 for anything but digits, perhaps with a point between.
func (k *skimmer) number(pos int) int {
	sql, end := k.sql, pos+1
	for end < len(sql) && isDigit(sql[end]) {
		end++
	}
	if end+1 < len(sql) && sql[end] == '.' && isDigit(sql[end+1]) {
		for end += 2; end < len(sql) && isDigit(sql[end]); {
			end++
		}
	}
	if end < len(sql) && (isIdent(sql[end]) || sql[end] == '.') {
		return 0
	}
	return end
}

// str gives the end of a string without escapes, or of an identifier in double quotes, and which it is; 0 for any other.
func (k *skimmer) str(pos int, quote byte) (int, sig) {
	if quote == '"' && k.ansiQuotes {
		return 0, 0
	}
	n := strings.IndexByte(k.sql[pos+1:], quote)
	if n < 0 {
		return 0, 0
	}
	end := pos + 2 + n
	if end < len(k.sql) && k.sql[end] == quote || k.backslash && strings.IndexByte(k.sql[pos+1:end], '\\') >= 0 {
		return 0, 0
	}
	return end, sigKind + sig(KindString)
}

// backtickEnd gives the end of the identifier in backticks that begins at pos, 0 for one with a backtick or a zero byte in it.
// It is not for character sets in which a backtick may be part of a character.
func backtickEnd(sql string, pos int) int {
	for end := pos + 1; end < len(sql); end++ {
		switch sql[end] {
		case '`':
			if end++; end < len(sql) && sql[end] == '`' {
				return 0
			}
			return end
		case 0:
			return 0
		}
	}
	return 0
}

// opens tells whether '(' behind the last token is certain to begin no call.
func (k *skimmer) opens() bool {
	if k.sig < sigOp {
		return k.prev != sigDot && words[k.w].flags&(wordPlain|wordCall) == wordPlain
	}
	return k.sig != sigQuoted
}
