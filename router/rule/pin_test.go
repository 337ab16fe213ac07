package rule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/value"
)

// TestPinned places keys by hand: under every form of its value a pinned key is on its shards, on the rule's own if that is
// among them, and all others are where the rule has them.
func TestPinned(t *testing.T) {
	hash, err := NewHash(6)
	must(t, hash, err)
	crc, err := NewCRC32(6)
	must(t, crc, err)
	folds, err := FoldBy(crc, "utf8mb4_0900_ai_ci_v1")
	must(t, folds, err)
	at := map[string]Set{"42": {4, 5}, "10": {3, 4, 5}, "Straße": {0}, "1.50": {2}, "-7": {1}}
	for _, c := range []struct {
		rule     Rule
		key      value.Value
		position int // -1: as the rule has it
	}{
		{hash, value.NewInt(42), 4}, {hash, value.NewString("42"), 4}, {hash, value.NewString("042"), 4}, {hash, value.NewBytes("42"), 4}, {hash, value.NewInt(-7), 1},
		{hash, value.NewInt(10), 4}, {hash, value.NewInt(43), -1}, {hash, value.NewString("4x2"), -1}, {hash, value.NewInt(-42), -1},
		{crc, value.NewDecimal("1.5"), 2}, {crc, value.NewString("1.50"), 2}, {crc, value.NewString("1.5"), -1}, {crc, value.NewString("Straße"), 0}, {crc, value.NewString("strasse"), -1},
		{folds, value.NewString("Straße"), 0}, {folds, value.NewString("STRASSE"), 0}, {folds, value.NewString("strasse "), 0}, {folds, value.NewString("strase"), -1}, {folds, value.NewString("-7 "), 1},
	} {
		p, err := Pinned(c.rule, at)
		must(t, p, err)
		want := c.position
		if want < 0 {
			want, err = c.rule.Find(c.key)
			must(t, p, err)
		}
		if got, err := p.Find(c.key); err != nil || got != want || Pins(p, c.key) != (c.position >= 0) {
			t.Errorf("%s, %v: on %d, want %d; pinned %v, error %v", c.rule.Kind(), c.key, got, want, Pins(p, c.key), err)
		}
		if p.Kind() != c.rule.Kind() || p.Shards() != 6 || Unfolded(p) != Unfolded(c.rule) || FoldName(p) != FoldName(c.rule) {
			t.Errorf("%s: another rule", p.Kind())
		}
	}
}

// TestPinnedColumns finds pinned keys of columns of every class, as they are written and as they are asked for.
func TestPinnedColumns(t *testing.T) {
	crc, err := NewCRC32(6)
	must(t, crc, err)
	folds, err := FoldBy(crc, "utf8mb4_general_ci_v1")
	must(t, folds, err)
	for _, c := range []struct {
		pin    string
		column Column
		key    value.Value
	}{
		{"42", Column{Class: Integer}, value.NewString(" 42")}, {"18446744073709551615", Column{Class: Unsigned}, value.NewUint(1<<64 - 1)},
		{"1.50", Column{Class: Decimal, Scale: 3}, value.NewDecimal("1.500")}, {"2.00", Column{Class: Decimal, Scale: 2}, value.NewInt(2)}, {"-0.5", Column{Class: Decimal, Scale: 1}, value.NewDecimal("-.50")},
		{"Abc", Column{Class: CharCI}, value.NewString("aBC")}, {"Abc", Column{Class: CharBinary}, value.NewString("ABC ")}, {"12", Column{Class: CharCI}, value.NewString("12")},
		{"ab", Column{Class: Bytes}, value.NewBytes("ab")}, {"ab\x00\x00", Column{Class: Bytes, Length: 4}, value.NewString("ab\x00\x00")},
		{"2024-01-31", Column{Class: Date}, value.NewString("2024-1-31")}, {"2024-01-31", Column{Class: Date}, value.NewInt(20240131)}, {"2024-01-31 10:00:00", Column{Class: DateTime}, value.NewString("2024-01-31T10:00")},
		{"2024-01-31 10:00:00.5", Column{Class: DateTime, Scale: 3}, value.NewString("2024-01-31 10:00:00.500")}, {"1706695200", Column{Class: Timestamp, Zone: time.UTC}, value.NewString("2024-01-31 10:00:00")},
		{"2024", Column{Class: Year}, value.NewInt(2024)},
	} {
		base := Rule(crc)
		if c.column.Class == CharCI || c.column.Class == CharBinary {
			base = folds
		}
		p, err := Pinned(base, map[string]Set{c.pin: {5}})
		must(t, p, err)
		stored, err := Store(p, c.key, c.column)
		must(t, p, err)
		asked, _, err := Convert(p, c.key, c.column)
		must(t, p, err)
		for _, v := range []value.Value{stored, asked} {
			if at, err := p.Find(v); err != nil || at != 5 || !Pins(p, v) {
				t.Errorf("%v of class %v, pinned as %s: on %d, %v", c.key, c.column.Class, c.pin, at, err)
			}
		}
	}
}

// TestPinnedEqual tells rules apart by their pins.
func TestPinnedEqual(t *testing.T) {
	with := func(at map[string]Set) Rule {
		hash, err := NewHash(4)
		must(t, hash, err)
		p, err := Pinned(hash, at)
		must(t, p, err)
		return p
	}
	none, a, b := with(nil), with(map[string]Set{"1": {2}, "x": {3}}), with(map[string]Set{"x": {3}, "1": {2}})
	if Equal(none, a) || !Equal(a, b) || Equal(a, with(map[string]Set{"1": {3}, "x": {3}})) || Equal(a, with(map[string]Set{"1": {2}})) {
		t.Error("pins do not count, or their order does")
	}
}

// TestPinnedBetween asks the shards of pinned keys in an interval, and no others.
func TestPinnedBetween(t *testing.T) {
	r, err := NewRange(10, 100)
	must(t, r, err)
	p, err := Pinned(r, map[string]Set{"50": {9}, "51": {8}, "250": {2, 7}})
	must(t, p, err)
	bound := func(n int64) *Bound { return &Bound{value.NewInt(n), true} }
	for _, c := range []struct {
		lo, hi *Bound
		want   Set
	}{
		{bound(0), bound(49), Set{0}}, {bound(0), bound(50), Set{0, 9}}, {bound(51), bound(120), Set{0, 1, 8}}, {bound(50), bound(51), Set{0, 8, 9}}, {bound(240), bound(260), Set{2}},
		{nil, bound(99), Set{0, 8, 9}}, {bound(900), nil, Set{9}},
	} {
		if got := p.Between(c.lo, c.hi); !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}

// TestPinnedErrors pins keys that no rule can have.
func TestPinnedErrors(t *testing.T) {
	hash, err := NewHash(4)
	must(t, hash, err)
	ascii := foldedASCII(hash)
	for _, c := range []struct {
		rule Rule
		at   map[string]Set
		want string
	}{
		{ascii, map[string]Set{"Abc": {1}, "aBC": {2}}, `key "aBC" cannot be pinned: it is the same as "Abc"`},
		{ascii, map[string]Set{"é": {1}}, `key "é" cannot be pinned: sharding key "é" cannot be placed`},
		{hash, map[string]Set{"a ": {1}}, `key "a " cannot be pinned: a rule with strings: exact`},
		{hash, map[string]Set{"7": {1}, "07": {1}}, `key "7" cannot be pinned: it is the same as "07"`},
		{&Mod{hash.spread}, map[string]Set{"x": {1}}, `key "x" cannot be pinned: sharding key "x": a rule of type mod cannot place it`},
	} {
		if _, err := Pinned(c.rule, c.at); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.at, err, c.want)
		}
	}
}

// TestPinnedAllocatesNothing looks pinned and other keys up.
func TestPinnedAllocatesNothing(t *testing.T) {
	crc, err := NewCRC32(4)
	must(t, crc, err)
	p, err := Pinned(crc, map[string]Set{"42": {1}, "acme": {2}})
	must(t, p, err)
	for _, v := range []value.Value{value.NewInt(42), value.NewInt(43), value.NewString("acme"), value.NewString("other")} {
		if n := testing.AllocsPerRun(100, func() { _, _ = p.Find(v) }); n > 0 {
			t.Errorf("%v: %v allocations", v, n)
		}
	}
}
