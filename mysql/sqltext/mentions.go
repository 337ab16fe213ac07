package sqltext

import (
	"slices"
	"strings"
)

// Mentions reports whether a text has a word in it, in any case and wherever it stands: in a string, too, or as a part of another word.
func Mentions(text, word string) bool {
	for k := 0; k+len(word) <= len(text); k++ {
		if text[k]|0x20 == word[0]|0x20 && strings.EqualFold(text[k:k+len(word)], word) {
			return true
		}
	}
	return false
}

// HasWord reports whether a text has one of the words, of lower-case letters, outside of strings and quoted names.
func HasWord(text string, m Mode, words ...string) bool {
	l := NewLexer(text, m)
	for t := l.Next(); t.Kind != KindEOF; t = l.Next() {
		if t.Kind == KindWord && slices.Contains(words, strings.ToLower(text[t.Pos:t.End])) {
			return true
		}
	}
	return false
}
