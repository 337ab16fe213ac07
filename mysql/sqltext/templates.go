package sqltext

// The size of Templates: sets of templates that begin alike, or have one hash by chance.
const (
	templateSetsLog = 5
	templateSets    = 1 << templateSetsLog
	templateWays    = 4
)

// templatePatience is how many texts without a template there are for each that is made into one, in the mean, so that texts which
// never come again cost little. The number changes each time: statements that come in turns all have theirs.
const templatePatience = 8

// templatePrefix is how much of a text decides its set, in bytes; a multiple of 8.
const templatePrefix = 64

// Templates are the templates of the texts that came last. They give what Classify and AppendNormal give, most of the time
// without reading a text token by token. Zero is ready; the methods are not for concurrent use. They keep at most 128 templates of
// some 500 bytes, 1.5 KB at most.
type Templates struct {
	sets [templateSets][templateWays]*Template
	wait int   // texts without a template until one is made
	turn uint8 // what the next wait follows from
}

// Classify is the function Classify, and gives the text's template; nil without one.
func (t *Templates) Classify(text string, m Mode) (Info, *Template) {
	set := &t.sets[templateSet(text)]
	if p := find(set, text, &m); p != nil {
		return p.Info(text), p
	}
	info := Classify(text, m)
	if t.wait--; t.wait < 0 {
		return info, t.learn(set, text, m, &info)
	}
	return info, nil
}

// AppendNormal is the function AppendNormal.
func (t *Templates) AppendNormal(dst []byte, text string, m Mode, max int) []byte {
	if max < normalMax {
		return AppendNormal(dst, text, m, max)
	}
	set := &t.sets[templateSet(text)]
	if p := find(set, text, &m); p != nil {
		return append(dst, p.normal...)
	}
	if t.wait--; t.wait < 0 && len(text) <= templateMax {
		info := Classify(text, m)
		t.learn(set, text, m, &info)
	}
	return AppendNormal(dst, text, m, max)
}

// find looks for the template of a text; what is found goes one place ahead.
func find(set *[templateWays]*Template, text string, m *Mode) *Template {
	for k, p := range set {
		if p == nil {
			return nil
		}
		if p.Matches(text, m) {
			if k > 0 {
				set[k-1], set[k] = p, set[k-1]
			}
			return p
		}
	}
	return nil
}

// learn makes a template of a text, in the place of the set's last; nil for texts that have none.
func (t *Templates) learn(set *[templateWays]*Template, text string, m Mode, info *Info) *Template {
	t.turn = t.turn*5 + 3 // each number in turn, as if by chance
	t.wait = templatePatience/2 + int(t.turn)*templatePatience/256
	p := makeTemplate(text, m, info)
	if p == nil {
		return nil
	}
	k := 0
	for k < templateWays-1 && set[k] != nil {
		k++
	}
	set[k] = p
	return p
}

// templateSet gives the number of the set for a text: it goes by the begin, up to the first value, and by the last byte.
func templateSet(text string) uint64 {
	const factor = 0x9e3779b97f4a7c15
	h, k := uint64(0), 0
	for end := min(len(text), templatePrefix); k < end; {
		if word, plain := plainWord(text[k:]); plain {
			h = (h ^ word) * factor
			k += 8
			continue
		}
		for stop := min(k+8, end); k < stop; k++ {
			c := text[k]
			if c == '\'' || isDigit(c) && (k == 0 || !isIdent(text[k-1])) {
				end = k
				break
			}
			h = (h ^ uint64(c)) * factor
		}
	}
	if last := len(text) - 1; last >= 0 && !isDigit(text[last]) {
		h = (h ^ uint64(text[last])) * factor
	}
	return h >> (64 - templateSetsLog)
}

// plainWord gives the first eight bytes of a text, if there are as many; plain is true where no value can begin among them.
func plainWord(text string) (word uint64, plain bool) {
	const bytes = 0x0101010101010101
	if len(text) < 8 {
		return 0, false
	}
	word = uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	quote := word ^ '\''*bytes
	column := word&(0xf0*bytes) ^ 0x30*bytes // digits, and what else is in their column of ASCII
	return word, ((quote-bytes)&^quote|(column-bytes)&^column)&(0x80*bytes) == 0
}
