package sqltext

import (
	"fmt"
	"testing"
)

// TestQuotedTextsEndWhereTheyShould checks that what is written between quotes reads as one token with that value, whatever second bytes of
// characters look like; and that what could not is not written.
func TestQuotedTextsEndWhereTheyShould(t *testing.T) {
	for _, cs := range []Charset{ASCIISafe, SingleByte, GBK, SJIS, Big5, GB18030} {
		for _, lead := range []string{"", "a", "\xbf", "\x95", "\xa1\xa1\xbf", "\x81\x30\x81\x30", "\xe4\xb8\xad"} {
			for _, trail := range []string{"\\", "`", "'", "\"", "\x00", "", "\xbf"} {
				for _, rest := range []string{"", "'", "`", "\\", "', 1 -- ", "`, 1 -- ", "\\', 1 -- ", "''", "``"} {
					for _, escapes := range []bool{true, false} {
						m := Mode{Charset: cs, NoBackslashEscapes: !escapes}
						value := lead + trail + rest
						what := fmt.Sprintf("%q in %d, escapes %v", value, cs, escapes)
						for kind, quote := range map[Kind]func(string, Mode) (string, bool){KindQuotedIdent: QuoteIdent, KindString: QuoteString} {
							text, ok := quote(value, m)
							if !ok {
								continue
							}
							l := NewLexer(text+" tail", m)
							first, second := l.Next(), l.Next()
							if first.Kind != kind || first.End != len(text) || second.Kind != KindWord || l.Next().Kind != KindEOF || cs.Multibyte() && l.Doubt() {
								t.Errorf("%s became %q: %v, then %v", what, text, first, second)
							}
							if got, ok := Unquote(text, m); !ok || got != value {
								t.Errorf("%s became %q, which is %q", what, text, got)
							}
						}
					}
				}
			}
		}
	}
	for value, m := range map[string]Mode{"a\x00b": {}, "\xbf": {Charset: GBK}, "\xbf'": {Charset: GBK}, "a\x81": {Charset: SJIS}} {
		if text, ok := QuoteIdent(value, m); ok {
			t.Errorf("%q became %q", value, text)
		}
	}
}
