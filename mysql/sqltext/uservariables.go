package sqltext

import (
	"slices"
	"strings"
)

// UserVariables lists the names of the user variables in a text, in lower case, without @ and quotes, each once. It reports false for a text, or a name,
// that servers may read otherwise.
func UserVariables(text string, m Mode) (names []string, ok bool) {
	p := newParser(text, m)
	for p.tok.Kind != KindEOF {
		if p.tok.Kind != KindUserVar {
			p.next()
			continue
		}
		name, ok := p.userVar()
		if !ok {
			return nil, false
		}
		if !slices.Contains(names, name) {
			names = append(names, strings.Clone(name))
		}
	}
	return names, !p.l.Doubt()
}
