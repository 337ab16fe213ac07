package sqltext

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzDigest(f *testing.F) {
	for _, c := range digestCases {
		for _, m := range []byte{0, 1, 2, 4, 0x20, 0x50} {
			f.Add(c.sql, m)
		}
	}
	for _, s := range seeds {
		f.Add(s, byte(0))
	}
	f.Fuzz(func(t *testing.T, sql string, mode byte) {
		m := modeOf(mode)
		checkSplices(t, sql, m)
	})
}

// checkSplices checks a digest of its text, and those of texts with other literals, with rows taken out, and with a
// comment in front.
func checkSplices(t *testing.T, sql string, m Mode) {
	t.Helper()
	var d Digest
	if !d.Scan(sql, m) {
		return
	}
	checkLiterals(t, &d, sql, m)
	checkLists(t, &d, sql)
	checkTokens(t, &d, sql, m)
	i := Classify(sql, m)
	switch i.Class {
	case Select, With, Insert, Replace, Update, Delete:
	default:
		t.Fatalf("%q is %v", sql, i.Class)
	}
	if i.Has(Multi) {
		t.Fatalf("%q is more than one statement", sql)
	}
	var b strings.Builder
	at := 0
	for _, l := range d.Literals {
		b.WriteString(sql[at:l.Pos])
		b.WriteString(otherLiteral(sql[l.Pos:l.End], l.Kind))
		at = l.End
	}
	b.WriteString(sql[at:])
	checkSame(t, &d, sql, b.String(), m)
	if !strings.Contains(sql, "/*") { // else a comment that names a node might no longer be the first
		checkSame(t, &d, sql, " /* a=b */\n"+sql, m)
	}
	for _, l := range d.Lists {
		if l.Kind != ListIn {
			checkSame(t, &d, sql, sql[:d.Rows[l.Row].End]+sql[d.Rows[l.Row+l.Rows-1].End:], m)
		}
	}
}

// checkSame checks that another text has the same key, class and traits.
func checkSame(t *testing.T, d *Digest, sql, other string, m Mode) {
	t.Helper()
	var e Digest
	if !e.Scan(other, m) || !bytes.Equal(d.Key, e.Key) || d.Hash != e.Hash || len(d.Lists) != len(e.Lists) {
		t.Fatalf("%q has key %q\n%q has key %q", sql, d.Key[modeBytes:], other, e.Key)
	}
	if i, j := Classify(sql, m), Classify(other, m); i.Class != j.Class || i.Traits != j.Traits || i.NodeHint != j.NodeHint {
		t.Fatalf("%q is %v %s\n%q is %v %s", sql, i.Class, i.Traits.names(), other, j.Class, j.Traits.names())
	}
}

// checkLiterals checks that the literals are tokens of the lexer, perhaps with a sign, and have values.
func checkLiterals(t *testing.T, d *Digest, sql string, m Mode) {
	t.Helper()
	l, end := NewLexer(sql, m), 0
	for _, lit := range d.Literals {
		if lit.Pos < end || lit.End <= lit.Pos || lit.End > len(sql) {
			t.Fatalf("%q: literal %+v behind %d", sql, lit, end)
		}
		end = lit.End
		tok := l.Next()
		for tok.End <= lit.Pos && tok.Kind != KindEOF {
			tok = l.Next()
		}
		start := tok.Pos
		if c := sql[lit.Pos]; c == '-' || c == '+' {
			tok = l.Next()
			if tok.Pos != start+1 {
				t.Fatalf("%q: no number behind a sign", sql)
			}
		}
		if start != lit.Pos || tok.End != lit.End {
			t.Fatalf("%q: literal %+v is no token", sql, lit)
		}
		if _, ok := lit.Value(sql, m); !ok && lit.Kind != LiteralParam && lit.Kind != LiteralFloat {
			t.Fatalf("%q: literal %+v has no value", sql, lit)
		}
	}
}

// checkTokens checks that a key in which nothing is folded holds the tokens that the lexer finds, and nothing else.
func checkTokens(t *testing.T, d *Digest, sql string, m Mode) {
	t.Helper()
	for _, l := range d.Lists {
		if l.Kind == ListIn || l.Rows > 1 {
			return
		}
	}
	key, end, next := string(d.Key[modeBytes:]), 0, 0
	l := NewLexer(sql, m)
	for tok := l.Next(); tok.Kind != KindEOF && tok.Kind != KindSemicolon; tok = l.Next() {
		if tok.Pos < end {
			continue // the number behind a sign
		}
		gap, text := sql[end:tok.Pos], sql[tok.Pos:tok.End]
		end = tok.End
		literal := next < len(d.Literals) && d.Literals[next].Pos == tok.Pos
		if literal {
			text, end = "?", d.Literals[next].End
			next++
		}
		rest, ok := strings.CutPrefix(key, gap+text)
		if !ok && gap != "" {
			rest, ok = strings.CutPrefix(strings.TrimPrefix(key, " "), text)
		}
		if !ok || literal && (rest == "" || strings.IndexByte(literalMarks+"lv", rest[0]) < 0) {
			t.Fatalf("%q: %q is not where it should be, at %q of key %q", sql, text, key, d.Key[modeBytes:])
		}
		if key = rest; literal {
			key = rest[1:]
		}
	}
	if key != "" && !strings.Contains(sql[end:], key) {
		t.Fatalf("%q: %q at the end of key %q", sql, key, d.Key[modeBytes:])
	}
}

// checkLists checks that lists hold what they say.
func checkLists(t *testing.T, d *Digest, sql string) {
	t.Helper()
	rows := 0
	for _, l := range d.Lists {
		if l.Rows < 1 || l.First+l.Rows*l.Width > len(d.Literals) || l.Kind == ListIn && l.Width != 1 {
			t.Fatalf("%q: list %+v of %d literals", sql, l, len(d.Literals))
		}
		if l.Kind == ListIn {
			continue
		}
		if l.Row != rows {
			t.Fatalf("%q: list %+v behind %d rows", sql, l, rows)
		}
		rows += l.Rows
		for k, r := range d.Rows[l.Row : l.Row+l.Rows] {
			if sql[r.Pos] != '(' || sql[r.End-1] != ')' {
				t.Fatalf("%q: row %q", sql, sql[r.Pos:r.End])
			}
			for _, lit := range d.Literals[l.First+k*l.Width:][:l.Width] {
				if lit.Pos <= r.Pos || lit.End >= r.End {
					t.Fatalf("%q: literal %+v in row %+v", sql, lit, r)
				}
			}
		}
	}
	if rows != len(d.Rows) {
		t.Fatalf("%q: %d rows in lists, %d in all", sql, rows, len(d.Rows))
	}
}

// otherLiteral gives another literal that begins and ends alike.
func otherLiteral(text string, kind LiteralKind) string {
	sign := ""
	if text[0] == '-' || text[0] == '+' {
		sign, text = text[:1], text[1:]
	}
	point := "2.7"
	if text[0] == '.' {
		point = ".7"
	}
	switch kind {
	case LiteralInt:
		return sign + "7"
	case LiteralDecimal:
		return sign + point
	case LiteralFloat:
		return sign + point + "e1"
	case LiteralString:
		return text[:1] + "z" + text[:1]
	case LiteralHex:
		if text[0] == '0' {
			return "0x2a"
		}
		return text[:2] + "2A'"
	case LiteralBit:
		if text[0] == '0' {
			return "0b11"
		}
		return text[:2] + "11'"
	}
	return text
}
