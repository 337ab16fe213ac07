package sqltext

import (
	"strings"
	"sync/atomic"
)

// templateMax is the length in bytes of the longest text that a template is made of.
const templateMax = 256

// templateValuesMax is the number of values that such a text has at most, and valueMax the length in bytes from which on a value is not
// looked at: what is long is rare, and to compare it in vain would cost more than to read the text.
const (
	templateValuesMax = 16
	valueMax          = 4 << 10
)

// normalMax is more than the normal form of such a text can have, in bytes.
const normalMax = 4 * templateMax

// Template is what texts have in common that differ in whole numbers and in strings 'x' without escapes: the tokens of such
// texts are the same in kind and number, and what is found in them is found in all. Values of these two kinds are not kept.
// A template does not change, and may be kept and used by any goroutine.
type Template struct {
	fixed  []templatePart // each with a value behind it
	rest   string
	mode   Mode
	info   Info
	behind int    // bytes behind Info.End
	normal string // as AppendNormal gives it, not cut
	number uint32
}

// templatePart is text ahead of a value: of a string if it is quoted, else of digits.
type templatePart struct {
	text   string
	quoted bool
}

// makeTemplate makes a template of a text whose Info is known; nil where texts that look alike may differ in more than their
// values: what is in version comments, and names of nodes; what a quote begins, for the normal form looks at the whole text then; and
// characters that look like quotes.
func makeTemplate(text string, m Mode, info *Info) *Template {
	switch info.Class {
	case Select, With, Insert, Replace, Update, Delete:
	default:
		return nil
	}
	if len(text) > templateMax || info.Has(Doubt|Multi|Body) || info.Next != len(text) || m.Charset.Multibyte() ||
		strings.Contains(text, "/*") || strings.IndexByte(text, '"') >= 0 {
		return nil
	}
	t := &Template{mode: m, info: *info, behind: len(text) - info.End, number: templates.Add(1)}
	l, from := NewLexer(text, m), 0
	for tok := l.Next(); tok.Kind != KindEOF; tok = l.Next() {
		if isValue(tok, text) {
			if len(t.fixed) == templateValuesMax {
				return nil
			}
			t.fixed = append(t.fixed, templatePart{strings.Clone(text[from:tok.Pos]), tok.Kind == KindString})
			from = tok.End
		}
	}
	t.rest = strings.Clone(text[from:])
	t.normal = string(AppendNormal(nil, text, m, normalMax))
	return t
}

// templates counts those that were made.
var templates atomic.Uint32

// isValue tells whether a token may be another one in texts of the same template.
func isValue(t Token, text string) bool {
	token, rest := text[t.Pos:t.End], text[t.End:]
	switch t.Kind {
	case KindNumber:
		return strings.Trim(token, "0123456789") == "" && (rest == "" || !isIdent(rest[0]) && rest[0] != '.')
	case KindString:
		return token[0] == '\'' && strings.IndexByte(token, '\\') < 0 && strings.Count(token, "'") == 2
	}
	return false
}

// Matches tells whether a text that is read in a mode is one of the template's.
func (t *Template) Matches(text string, m *Mode) bool {
	for k := range t.fixed {
		part := &t.fixed[k]
		n := len(part.text)
		if n >= len(text) || text[:n] != part.text {
			return false
		}
		text = text[n:]
		if n = 0; part.quoted {
			n = quotedLen(text)
		} else {
			for n < len(text) && isDigit(text[n]) {
				n++
			}
		}
		if n == 0 {
			return false
		}
		text = text[n:]
	}
	return text == t.rest && t.mode == *m
}

// quotedLen is the length of the string 'x' without escapes that a text begins with; 0 for none. Whether it ends there, and not
// in a pair of quotes, is seen by what follows.
func quotedLen(text string) int {
	if text[0] != '\'' {
		return 0
	}
	n := strings.IndexByte(text[1:min(len(text), valueMax)], '\'')
	if n < 0 || strings.IndexByte(text[1:1+n], '\\') >= 0 {
		return 0
	}
	return n + 2
}

// Normal is what AppendNormal appends for texts that match.
func (t *Template) Normal() string { return t.normal }

// Mode is the one in which the template's texts are read.
func (t *Template) Mode() Mode { return t.mode }

// Number is for tables of templates; it comes again after 1<<32 of them.
func (t *Template) Number() uint32 { return t.number }

// Info gives what Classify gives for a text that matches.
func (t *Template) Info(text string) Info {
	i := t.info
	i.End, i.Next = len(text)-t.behind, len(text)
	return i
}
