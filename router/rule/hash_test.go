package rule

import (
	"errors"
	"math"
	"testing"

	"kingshard/mysql/value"
)

func must[R Rule](t testing.TB, r R, err error) R {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHashVectors are facts of the predecessor: the position among 4, 8, 12 and 16 shards.
func TestHashVectors(t *testing.T) {
	str, i := value.NewString, value.NewInt
	for _, c := range []struct {
		v    value.Value
		want [4]int
	}{
		{str("abc"), [4]int{2, 2, 6, 2}},
		{str("ABC"), [4]int{0, 0, 0, 8}},
		{str("kingshard"), [4]int{0, 4, 8, 12}},
		{str(""), [4]int{0, 0, 0, 0}},
		{str("-1"), [4]int{2, 2, 6, 10}},
		{str("x"), [4]int{3, 3, 3, 3}},
		{str("user_1"), [4]int{0, 0, 8, 0}},
		{str("5.0"), [4]int{1, 1, 9, 9}},
		{str(" 5"), [4]int{2, 6, 10, 14}},
		{str("00000000-0000-0000-0000-000000000001"), [4]int{3, 7, 3, 15}},
		{i(-1), [4]int{3, 7, 3, 15}},
		{i(-5), [4]int{3, 3, 11, 11}},
		{i(17), [4]int{1, 1, 5, 1}},
		{str("17"), [4]int{1, 1, 5, 1}},
		{str("0017"), [4]int{1, 1, 5, 1}},
		{i(math.MaxInt64), [4]int{3, 7, 7, 15}},
		{value.NewUint(1 << 63), [4]int{0, 0, 8, 0}},
		{str("18446744073709551615"), [4]int{3, 7, 3, 15}},
	} {
		for k, n := range []int{4, 8, 12, 16} {
			r, err := NewHash(n)
			if got, err2 := must(t, r, err).Find(c.v); err2 != nil || got != c.want[k] {
				t.Errorf("%v among %d: %d, %v", c.v, n, got, err2)
			}
		}
	}
}

// TestOtherHashes are published vectors of the functions.
func TestOtherHashes(t *testing.T) {
	for text, want := range map[string]uint32{"": 0, "abc": 891568578, "ABC": 2743272264, "kingshard": 1740694220, "-1": 808273962} {
		if got := checksum(text); got != want {
			t.Errorf("CRC32 of %q: %d", text, got)
		}
	}
	for text, want := range map[string]uint32{
		"": 0, "test": 0xba6bd213, "hello": 0x248bfa47, "Hello, world!": 0xc0363e43, "The quick brown fox jumps over the lazy dog": 0x2e4ff723,
	} {
		if got := murmur3(text); got != want || murmur3([]byte(text)) != want {
			t.Errorf("murmur3 of %q: %#x", text, got)
		}
	}
}

func TestSpellingsOfOneKey(t *testing.T) {
	same := []value.Value{value.NewInt(1234567), value.NewString("1234567"), value.NewString("0001234567"), value.NewBytes("1234567")}
	for _, r := range hashRules(t, 97) {
		first, err := r.Find(same[0])
		for _, v := range same {
			if got, err2 := r.Find(v); got != first || err != nil || err2 != nil {
				t.Errorf("%s: %v on %d, not %d; %v", r.Kind(), v, got, first, err2)
			}
		}
	}
}

func TestMod(t *testing.T) {
	r, err := NewMod(12)
	must(t, r, err)
	for v, want := range map[value.Value]int{
		value.NewInt(25): 1, value.NewInt(-1): 11, value.NewString("-13"): 11, value.NewInt(-12): 0, value.NewInt(math.MinInt64): 4,
		value.NewUint(math.MaxUint64): 3,
	} {
		if got, err := r.Find(v); err != nil || got != want {
			t.Errorf("%v: %d, %v", v, got, err)
		}
	}
	if _, err := r.Find(value.NewString("x")); !errors.Is(err, ErrConvert) {
		t.Errorf("x: %v", err)
	}
}

func TestSlots(t *testing.T) {
	shardOf := make([]int, SlotCount)
	before, err := NewSlots(2, shardOf)
	must(t, before, err)
	v := value.NewString("some key")
	slot, err := before.Slot(v)
	if err != nil || slot != int(checksum("some key")%4096) {
		t.Fatalf("slot %d, %v", slot, err)
	}
	shardOf[slot] = 1
	after, err := NewSlots(2, shardOf)
	must(t, after, err)
	for k := range int64(100000) {
		v := value.NewInt(k)
		s, _ := after.Slot(v)
		was, _ := before.Find(v)
		is, _ := after.Find(v)
		if moved := is != was; moved != (s == slot) {
			t.Fatalf("key %d of slot %d moved: %v", k, s, moved)
		}
	}
	if a, _ := after.Find(v); a != 1 {
		t.Error("the slot did not move")
	}
	for _, bad := range [][]int{nil, make([]int, 4095), append(make([]int, 4095), 2), append(make([]int, 4095), -1)} {
		if _, err := NewSlots(2, bad); err == nil {
			t.Error("a bad map of slots is taken")
		}
	}
}

// TestEvenness checks that successive integers, the commonest keys, fill shards alike.
func TestEvenness(t *testing.T) {
	for _, r := range hashRules(t, 16) {
		var count [16]int
		for k := range int64(16 * 4096) {
			position, _ := r.Find(value.NewInt(k))
			count[position]++
		}
		for position, n := range count {
			if n < 3600 || n > 4600 {
				t.Errorf("%s: %d of 4096 on shard %d", r.Kind(), n, position)
			}
		}
	}
}

func hashRules(t testing.TB, n int) []Rule {
	hash, err := NewHash(n)
	must(t, hash, err)
	crc, err := NewCRC32(n)
	must(t, crc, err)
	murmur, err := NewMurmur3(n)
	must(t, murmur, err)
	shardOf := make([]int, SlotCount)
	for slot := range shardOf {
		shardOf[slot] = slot % n
	}
	slots, err := NewSlots(n, shardOf)
	must(t, slots, err)
	mod, err := NewMod(n)
	must(t, mod, err)
	return []Rule{hash, crc, murmur, slots, mod}
}

func TestNoShards(t *testing.T) {
	_, hash := NewHash(0)
	_, mod := NewMod(-1)
	_, wide := NewRange(10, math.MaxInt64)
	_, list := NewList(nil)
	_, date := NewDateRule(DateYear, nil, nil)
	_, reference := NewReference(0)
	for k, err := range []error{hash, mod, wide, list, date, reference} {
		if err == nil {
			t.Errorf("%d: no error", k)
		}
	}
}
