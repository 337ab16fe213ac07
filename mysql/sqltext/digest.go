package sqltext

import "hash/maphash"

// LiteralKind is the kind of a Literal, as it is written.
type LiteralKind uint8

// The kinds. MySQL manual: "Literal Values".
const (
	LiteralInt     LiteralKind = iota // digits, perhaps with a sign; of any length
	LiteralDecimal                    // with a point
	LiteralFloat                      // with an exponent
	LiteralString                     // 'x', and "x" without ANSI_QUOTES
	LiteralHex                        // 0x1f, X'1f'
	LiteralBit                        // 0b1, B'1'
	LiteralNull                       // NULL as a value of a row of INSERT; elsewhere it is part of the key
	LiteralParam                      // ?
)

// Literal is a value that the key leaves out.
type Literal struct {
	Pos, End int // bytes of the text, a sign included
	Kind     LiteralKind
	List     int32 // place in Digest.Lists of the list that it belongs to; -1 for none
}

// ListKind is what a List is.
type ListKind uint8

// The kinds of lists.
const (
	ListIn     ListKind = iota // IN (1, 2): each literal is an element
	ListInRows                 // IN ((1, 2), (3, 4))
	ListValues                 // VALUES (1, 2), (3, 4) of INSERT and REPLACE
)

// List is a run of elements or rows of one layout, of which the key holds one whatever their number.
type List struct {
	Kind  ListKind
	First int // place in Digest.Literals of its first literal; the others follow
	Rows  int // elements or rows, at least 1
	Width int // literals in each: 1 in ListIn; 0 and more in a row, which may hold other expressions too
	Row   int // place in Digest.Rows of its first row; the others follow. There are none for ListIn
}

// Row is a row of a List, from its '(' to behind its ')', in bytes of the text.
type Row struct{ Pos, End int }

// Digest is a statement apart from its values, the key under which its plan is kept. It is used again and again: Scan
// overwrites what an earlier one left, and in the long run allocates nothing. The zero Digest is ready.
//
// Two texts with the same Key differ in their Literals, in the Rows of their Lists, in blanks and in comments only, and have
// the same Class and Traits. They have as many Lists, and literals outside of lists, in the same order; a plan that refers to
// a value does so by these numbers, and reads it again each time. What decides how a plan looks stays in the key.
type Digest struct {
	Hash uint64 // of Key; it differs from process to process, so that nobody can make two keys collide
	// Key is the text with comments and blanks reduced to one space, and literals to '?' and a letter for their kind: i, d,
	// f, s, x, b, p for parameters, l in LIMIT, and v for any kind but parameters as a value of a row of INSERT, where
	// NULL and values of several kinds are mixed. '?[i]' is a list of them, '?[m]' one of several kinds. Ahead of all is what
	// the text's meaning depends on, the Mode.
	Key      []byte
	Literals []Literal // in the order of the text
	Lists    []List    // in the order of the text. Every row of a VALUES is in one
	Rows     []Row     // in the order of the text

	levels []level
}

// List gives the list that a literal of the digest belongs to; nil if it is in none.
func (d *Digest) List(l *Literal) *List {
	if l.List < 0 {
		return nil
	}
	return &d.Lists[l.List]
}

// digestSeed makes the hashes of this process.
var digestSeed = maphash.MakeSeed()

// Scan reads one statement: SELECT, WITH, INSERT, REPLACE, UPDATE or DELETE. It returns false for any other, for several
// statements, and for text that is malformed or ambiguous; then the digest holds nothing of use. What Mode does not tell
// (default database, PIPES_AS_CONCAT and the like) is the caller's to add to the key.
//
// Kept in the key are, beside words and operators: literals of select lists, GROUP BY, ORDER BY and HAVING with all that is
// inside of them, such as subqueries; lengths of types; typed literals, strings with an introducer, N'x', strings put
// together of several; intervals; JSON paths; conditions that are made of constants only; TRUE, FALSE and NULL; and whatever
// is not known to be a plain value. So are optimizer hints, version comments, comments that may name a node, and the blanks
// and comments of a select list, which the names of columns are made of.
func (d *Digest) Scan(sql string, m Mode) bool {
	d.Key = appendMode(d.Key[:0], m)
	d.Literals, d.Lists, d.Rows, d.levels = d.Literals[:0], d.Lists[:0], d.Rows[:0], d.levels[:0]
	s := digester{d: d, sql: sql, l: NewLexer(sql, m), top: level{list: -1}}
	if !s.run() {
		return false
	}
	d.Hash = maphash.Bytes(digestSeed, d.Key)
	return true
}

// appendMode appends a mode in a fixed number of bytes.
func appendMode(b []byte, m Mode) []byte {
	bits := byte(m.Charset) << 3
	if m.ANSIQuotes {
		bits |= 1
	}
	if m.NoBackslashEscapes {
		bits |= 2
	}
	if m.MariaDB {
		bits |= 4
	}
	syntax := byte(0)
	for k, on := range [...]bool{m.PipesAsConcat, m.HighNotPrecedence, m.IgnoreSpace} {
		if on {
			syntax |= 1 << k
		}
	}
	v := uint32(m.ServerVersion) // less than 1 << 24
	return append(b, bits, syntax, byte(v), byte(v>>8), byte(v>>16))
}
