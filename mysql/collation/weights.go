package collation

import (
	"bufio"
	"bytes"
	"compress/flate"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:generate go test -run TestTables -update

// tables are the weights of characters, a file for each fold, made from the servers by TestTables with -update. A file is
// compressed by flate: for each code point from 0 to [utf8.MaxRune], but for surrogates, a byte which is its number of weights
// or one of the kinds below; then for the same code points the weights, each as the signed varint of what it has more than
// the weight before.
//
//go:embed tables
var tables embed.FS

// Kinds of code points other than those with 0 to weightsMax weights.
const (
	weightsMax = 8
	// unknown is one that cannot be folded by itself.
	unknown = 14
	// implicit is one whose first weight is in the file, and whose second is 0x8000 and its low 15 bits: the way in which the
	// Unicode Collation Algorithm has it for characters that its table does not.
	implicit = 15
)

// weights are those of all characters under a collation.
type weights struct {
	pages []*[256]uint32
	at    [(utf8.MaxRune + 1) / 256]uint16 // page of each 256 code points
	// several are the weights of characters that have two or more.
	several []uint16
	// ascii has the printable character of ASCII, in lower case, that has a weight.
	ascii map[uint16]byte
}

// table gives what reads a fold's file, at its first use.
func table(name string) func() *weights {
	return sync.OnceValue(func() *weights {
		w, err := read(name)
		if err != nil {
			panic("the table of " + name + ": " + err.Error()) // it is a part of the program
		}
		return w
	})
}

func read(name string) (*weights, error) {
	data, err := tables.ReadFile("tables/" + name + ".bin")
	if err != nil {
		return nil, err
	}
	return decode(flate.NewReader(bytes.NewReader(data)))
}

// decode reads a table.
func decode(from io.Reader) (*weights, error) {
	r := bufio.NewReader(from)
	kinds := make([]byte, utf8.MaxRune+1)
	for x := range kinds {
		if kinds[x] = unknown; surrogate(rune(x)) {
			continue
		}
		var err error
		if kinds[x], err = r.ReadByte(); err != nil {
			return nil, err
		}
	}
	w := &weights{ascii: map[uint16]byte{}}
	known := map[[256]uint32]uint16{}
	last := int64(0)
	next := func() (uint16, error) {
		more, err := binary.ReadVarint(r)
		last += more
		return uint16(last), err
	}
	var page [256]uint32
	for x, kind := range kinds {
		entry := uint32(kind)
		switch {
		case kind == implicit || kind == 1:
			one, err := next()
			if err != nil {
				return nil, err
			}
			entry |= uint32(one) << 4
		case kind <= weightsMax:
			entry |= uint32(len(w.several)) << 4
			for range kind {
				one, err := next()
				if err != nil {
					return nil, err
				}
				w.several = append(w.several, one)
			}
			if kind == 0 {
				entry = 0
			}
		case kind != unknown:
			return nil, fmt.Errorf("a code point of kind %d", kind)
		}
		if page[x%256] = entry; x%256 != 255 {
			continue
		}
		at, ok := known[page]
		if !ok {
			at = uint16(len(w.pages))
			known[page] = at
			w.pages = append(w.pages, &page)
			w.pages[at] = new([256]uint32)
			*w.pages[at] = page
		}
		w.at[x/256] = at
	}
	for c := byte('~'); c >= ' '; c-- {
		entry := w.entry(rune(c))
		if entry&15 != 1 {
			return nil, fmt.Errorf("%q has not one weight", c)
		}
		w.ascii[uint16(entry>>4)] = strings.ToLower(string(rune(c)))[0]
	}
	return w, nil
}

func surrogate(x rune) bool { return x >= 0xd800 && x < 0xe000 }

func (w *weights) entry(x rune) uint32 { return w.pages[w.at[x/256]][x%256] }

// of appends the weights of a character; ok is false where it has none of its own.
func (w *weights) of(to []uint16, x rune) (all []uint16, ok bool) {
	entry := w.entry(x)
	switch kind := entry & 15; kind {
	case unknown:
		return to, false
	case implicit:
		return append(to, uint16(entry>>4), 0x8000|uint16(x)&0x7fff), true
	case 1:
		return append(to, uint16(entry>>4)), true
	default:
		return append(to, w.several[entry>>4:][:kind]...), true
	}
}

// beyond is where the characters begin that stand for weights no character of printable ASCII has.
const beyond = 0x10000

// fold writes the weights of a text one after the other: each as the character of ASCII that has it, or as one of plane 1.
func (w *weights) fold(text string) (string, error) {
	folded := make([]byte, 0, 2*len(text))
	var room [weightsMax]uint16
	for at, x := range text {
		if x == utf8.RuneError && !strings.HasPrefix(text[at:], string(utf8.RuneError)) {
			return "", fmt.Errorf("it is not in UTF-8")
		}
		all, ok := w.of(room[:0], x)
		if !ok {
			return "", fmt.Errorf("its character %U cannot be folded", x)
		}
		for _, one := range all {
			if c, ok := w.ascii[one]; ok {
				folded = append(folded, c)
			} else {
				folded = utf8.AppendRune(folded, beyond+rune(one))
			}
		}
	}
	return string(bytes.TrimRight(folded, " ")), nil
}
