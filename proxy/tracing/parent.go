package tracing

import (
	"encoding/hex"
	"strings"
)

// Parent is the span of a client that a statement belongs to. W3C: "Trace Context".
type Parent struct {
	TraceID [16]byte
	SpanID  [8]byte
	Sampled bool // the client's trace is recorded
}

// Known tells whether there is a parent: no id of one is all zeros.
func (p *Parent) Known() bool { return p.TraceID != [16]byte{} }

// Name is the key of a parent in a sqlcommenter comment, and the name of a query attribute with one.
const Name = "traceparent"

// parentLen is the length of a traceparent of version 00: version, trace id, span id and flags in hex with dashes between them.
const parentLen = 2 + 1 + 32 + 1 + 16 + 1 + 2

// ParseParent reads a traceparent. One that is malformed is none. Versions to come may be longer.
func ParseParent(text string) (p Parent, ok bool) {
	if len(text) < parentLen || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return Parent{}, false
	}
	var version, flags [1]byte
	if !unhex(version[:], text[:2]) || !unhex(p.TraceID[:], text[3:35]) || !unhex(p.SpanID[:], text[36:52]) || !unhex(flags[:], text[53:55]) {
		return Parent{}, false
	}
	longer := len(text) > parentLen
	switch {
	case version[0] == 0xff, version[0] == 0 && longer, longer && text[parentLen] != '-':
		return Parent{}, false
	case !p.Known() || p.SpanID == [8]byte{}:
		return Parent{}, false
	}
	p.Sampled = flags[0]&1 != 0
	return p, true
}

// unhex decodes lower-case digits, as the specification wants them.
func unhex(dst []byte, text string) bool {
	for k := range len(text) {
		if c := text[k]; c >= 'A' && c <= 'F' {
			return false
		}
	}
	var b [32]byte
	n := copy(b[:], text)
	_, err := hex.Decode(dst, b[:n])
	return err == nil
}

// commentMax is how far from an end of a text a comment with a parent may reach, in bytes.
const commentMax = 2048

// ParentIn finds the parent in a statement's sqlcommenter comment: the last thing in the text, or the first. It looks at no more
// than commentMax bytes at either end. A text that only looks as if it had the comment gives a parent, too: that is harmless.
func ParentIn(text string) (p Parent, ok bool) {
	tail := text
	for len(tail) > 0 && (isBlank(tail[len(tail)-1]) || tail[len(tail)-1] == ';') && len(text)-len(tail) < commentMax {
		tail = tail[:len(tail)-1]
	}
	if strings.HasSuffix(tail, "*/") {
		tail = tail[max(len(tail)-commentMax, 0) : len(tail)-2]
		if at := strings.LastIndex(tail, "/*"); at >= 0 {
			if p, ok = parentInComment(tail[at+2:]); ok {
				return p, true
			}
		}
	}
	if strings.HasPrefix(text, "/*") {
		head := text[2:min(len(text), commentMax)]
		if end := strings.Index(head, "*/"); end >= 0 {
			return parentInComment(head[:end])
		}
	}
	return Parent{}, false
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// parentInComment reads key='value' pairs with commas between them; values are URL-encoded, which a parent only needs for its
// dashes, if at all. OpenTelemetry: "SQLCommenter".
func parentInComment(comment string) (p Parent, ok bool) {
	for rest := comment; ; {
		at := strings.Index(rest, Name)
		if at < 0 {
			return Parent{}, false
		}
		before := byte(',')
		if at > 0 {
			before = rest[at-1]
		}
		rest = rest[at+len(Name):]
		value, quoted := strings.CutPrefix(rest, "='")
		if !quoted || before != ',' && !isBlank(before) {
			continue
		}
		end := strings.IndexByte(value, '\'')
		if end < 0 {
			return Parent{}, false
		}
		value = value[:end]
		if strings.IndexByte(value, '%') >= 0 {
			value = strings.ReplaceAll(strings.ReplaceAll(value, "%2D", "-"), "%2d", "-")
		}
		return ParseParent(value)
	}
}
