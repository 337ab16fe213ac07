package hotkeys

import (
	"cmp"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"kingshard/mysql/value"
	"kingshard/router"
)

const (
	// sketchKeys is how many keys a sketch keeps: one that has more than one of so many statements is among them.
	sketchKeys = 128
	// keyBytes is how much is kept of a key's text.
	keyBytes = 64
	// halfLife is after how long a statement counts half.
	halfLife = 10 * time.Minute
)

// Key is a key that a statement was routed by.
type Key struct {
	// Placed is what its rule places, by which keys are told apart; Values are what the statement has, of each column.
	Placed value.Value
	Values []value.Value
	Shard  router.Shard
	// Pinned tells that the rule places it by hand.
	Pinned bool
}

// Sketch is what is known of the keys of one table. Any goroutine may use it.
type Sketch struct {
	mu     sync.Mutex
	halved time.Time
	seen   uint64
	used   int
	ids    [sketchKeys]uint64 // hashes of the keys
	keys   [sketchKeys]counted
}

// counted is a key with its count, of which over may be those of keys that it took the place of.
type counted struct {
	count, over uint64
	shard       router.Shard
	pinned      bool
	cut         bool // the key is longer than text
	length      int
	text        [keyBytes]byte
}

// Count is a key with how often it was seen.
type Count struct {
	// Text is the key, its columns separated by ", ", or the beginning of a long one followed by "…". ID is equal for equal keys.
	Text   string
	ID     uint64
	Shard  router.Shard
	Pinned bool
	// Statements is how many had the key, about, and at least as far as the sample goes; those of ten minutes ago count half.
	Statements uint64
	// Share is their part of the statements of the table that were routed by one key, 0 to 1.
	Share float64
}

// seed makes hashes that nobody can make equal from outside.
var seed = maphash.MakeSeed()

// ID is a number that equal keys share, by the value that their rule places.
func ID(placed value.Value) uint64 {
	switch placed.Kind() {
	case value.Int, value.Uint:
		var digits [20]byte
		return maphash.Bytes(seed, strconv.AppendUint(digits[:0], placed.Uint(), 10))
	}
	return maphash.String(seed, placed.Text())
}

// Add counts a key. It allocates nothing, and leaves the key out rather than wait for another goroutine.
func (s *Sketch) Add(k Key, now time.Time) {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	s.age(now)
	s.seen++
	id := ID(k.Placed)
	at := slices.Index(s.ids[:s.used], id)
	switch {
	case at >= 0:
		s.keys[at].count++
	case s.used < sketchKeys:
		at = s.used
		s.used++
		s.keys[at].count, s.keys[at].over = 1, 0
	default: // the one that was met least gives way, and what it had may have been the new one's
		at = 0
		for n := range s.keys {
			if s.keys[n].count < s.keys[at].count {
				at = n
			}
		}
		s.keys[at].over = s.keys[at].count
		s.keys[at].count++
	}
	e := &s.keys[at]
	e.shard, e.pinned = k.Shard, k.Pinned // which a reload may have changed
	if s.ids[at] != id || e.length == 0 {
		s.ids[at] = id
		e.name(k.Values)
	}
}

// age halves what was counted before, once for each half-life that has gone by.
func (s *Sketch) age(now time.Time) {
	if s.halved.IsZero() {
		s.halved = now
	}
	for halfLife <= now.Sub(s.halved) {
		s.halved = s.halved.Add(halfLife)
		s.seen /= 2
		kept := 0
		for n := range s.used {
			if e := &s.keys[n]; e.count >= 2 {
				s.ids[kept], s.keys[kept] = s.ids[n], *e
				s.keys[kept].count, s.keys[kept].over = e.count/2, e.over/2
				kept++
			}
		}
		for n := kept; n < s.used; n++ {
			s.ids[n], s.keys[n] = 0, counted{}
		}
		if s.used = kept; kept == 0 {
			s.halved = now
		}
	}
}

// name keeps the text of a key.
func (e *counted) name(values []value.Value) {
	text, cut := e.text[:0], false
	for n, v := range values {
		if n > 0 {
			text, cut = appendCut(text, ", ", cut)
		}
		switch v.Kind() {
		case value.Int:
			var digits [20]byte
			text, cut = appendCut(text, strconv.AppendInt(digits[:0], v.Int(), 10), cut)
		case value.Uint:
			var digits [20]byte
			text, cut = appendCut(text, strconv.AppendUint(digits[:0], v.Uint(), 10), cut)
		case value.Null:
			text, cut = appendCut(text, "NULL", cut)
		default:
			text, cut = appendCut(text, v.Text(), cut)
		}
	}
	e.length, e.cut = len(text), cut
}

// Text is how Counts would show a key.
func Text(values []value.Value) string {
	var e counted
	e.name(values)
	return e.shown()
}

// appendCut appends what there is room for.
func appendCut[T string | []byte](text []byte, more T, cut bool) ([]byte, bool) {
	room := cap(text) - len(text)
	if cut || len(more) > room {
		return append(text, more[:min(room, len(more))]...), true
	}
	return append(text, more...), false
}

// shown is the text of a key; one that is no text is shown in hexadecimal.
func (e *counted) shown() string {
	text := e.text[:e.length]
	if e.cut {
		for k := 0; k < utf8.UTFMax && !utf8.Valid(text) && len(text) > 0; k++ {
			text = text[:len(text)-1]
		}
	}
	if !utf8.Valid(text) {
		text = e.text[:e.length]
		return "X'" + strings.ToUpper(hex.EncodeToString(text)) + "'"
	}
	if e.cut {
		return string(text) + "…"
	}
	return string(text)
}

// Counts returns the keys with what is certain of their counts, the greatest first.
func (s *Sketch) Counts(now time.Time) []Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.age(now)
	var counts []Count
	for n := range s.used {
		e := &s.keys[n]
		if certain := e.count - e.over; certain > 0 {
			counts = append(counts, Count{
				Text: e.shown(), ID: s.ids[n], Shard: e.shard, Pinned: e.pinned, Statements: certain * Every, Share: float64(certain) / float64(max(s.seen, certain)),
			})
		}
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.Text, b.Text))
	})
	return counts
}
