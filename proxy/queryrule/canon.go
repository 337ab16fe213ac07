package queryrule

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"kingshard/mysql/sqltext"
)

// appendCanon appends a statement in the form in which digests are compared: without its values as sqltext.AppendNormal leaves
// them out, words and names in lower case, names without quotes where they need none. It costs two passes over the text. scratch
// is overwritten and given back, larger if need be.
func appendCanon(dst, scratch []byte, text string, m sqltext.Mode) (canon, used []byte) {
	scratch = appendFolded(scratch[:0], text, m)
	// The text has no comments and no names in double quotes any more, so that what AppendNormal hides of texts with secrets cannot
	// be called by a comment.
	return sqltext.AppendNormal(dst, unsafe.String(unsafe.SliceData(scratch), len(scratch)), m, canonMax), scratch
}

// canonMax bounds a canonical form, in bytes: more than any packet gives.
const canonMax = 1 << 30

// appendFolded appends the tokens of a text in one spelling, with a space between, and its values as 0 and an empty string.
func appendFolded(dst []byte, text string, m sqltext.Mode) []byte {
	start := len(dst)
	end := start // of what is in front of the semicolons at the end
	l := sqltext.NewLexer(text, m)
	dotted, signed := true, false // the last token was a dot, or a sign
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			return dst[:end]
		}
		word := text[t.Pos:t.End]
		dot := t.Kind == sqltext.KindOp && word == "."
		if !dotted && !dot && !(signed && t.Kind == sqltext.KindNumber) {
			dst = append(dst, ' ')
		}
		dotted, signed = dot, word == "-" || word == "+"
		switch t.Kind {
		case sqltext.KindString:
			dst = append(dst, "''"...)
		case sqltext.KindNumber, sqltext.KindHex, sqltext.KindBit:
			dst = append(dst, '0')
		case sqltext.KindQuotedIdent:
			dst = appendName(dst, sqltext.UnquoteIdent(word, m))
		case sqltext.KindParam:
			dst = append(dst, '?')
		default:
			dst = appendLower(dst, word)
		}
		if t.Kind != sqltext.KindSemicolon {
			end = len(dst)
		}
	}
}

// appendName appends a name in lower case, in backquotes where it is not plain.
func appendName(dst []byte, name string) []byte {
	plain := name != "" && (name[0] < '0' || name[0] > '9')
	for k := 0; plain && k < len(name); k++ {
		c := name[k]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
	}
	if plain {
		return appendLower(dst, name)
	}
	dst = append(dst, '`')
	dst = appendLower(dst, strings.ReplaceAll(name, "`", "``"))
	return append(dst, '`')
}

// appendLower appends a text in lower case.
func appendLower(dst []byte, s string) []byte {
	for k := 0; k < len(s); k++ {
		c := s[k]
		if c >= utf8.RuneSelf {
			return appendLowerRunes(dst, s[k:])
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// appendLowerRunes appends a text in lower case, whatever letters it has; what is not UTF-8 stays.
func appendLowerRunes(dst []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[0])
		} else {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		s = s[n:]
	}
	return dst
}

// appendPlain appends a text as patterns see it: tokens as they are written, one space for every run of blanks and comments, nothing
// ahead of the first token, no semicolons behind the last. What a version comment holds is there if the server carries it out.
func appendPlain(dst []byte, text string, m sqltext.Mode) []byte {
	start := len(dst)
	end, last := start, -1
	l := sqltext.NewLexer(text, m)
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF {
			return dst[:end]
		}
		if last >= 0 && t.Pos > last {
			dst = append(dst, ' ')
		}
		last = t.End
		dst = append(dst, text[t.Pos:t.End]...)
		if t.Kind != sqltext.KindSemicolon {
			end = len(dst)
		}
	}
}

// cutMark ends a digest that SHOW KS DIGESTS did not show whole.
var cutMark = []byte("...")

// canonOf is the canonical form of a rule's digest; cut says that what follows it does not count.
func canonOf(digest string) (canon []byte, cut bool) {
	digest, cut = strings.CutSuffix(strings.TrimSpace(digest), string(cutMark))
	canon, _ = appendCanon(nil, nil, digest, sqltext.Mode{})
	if !cut && bytes.HasSuffix(canon, cutMark) { // a secret would follow
		return bytes.TrimSuffix(canon, cutMark), true
	}
	return canon, cut
}
