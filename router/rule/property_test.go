package rule

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kingshard/mysql/value"

	"pgregory.net/rapid"
)

func allRules(t testing.TB) []Rule {
	rules := hashRules(t, 7)
	r, err := NewRange(7, 100)
	must(t, r, err)
	list, err := NewList([][]string{{"1", "-5", "300"}, {"2", "18446744073709551615"}, {"0"}})
	must(t, list, err)
	texts, err := NewList([][]string{{"de", "at"}, {"us", "7"}})
	must(t, texts, err)
	reference, err := NewReference(3)
	must(t, reference, err)
	folds, err := FoldBy(rules[0], "utf8mb4_0900_ai_ci_v1")
	must(t, folds, err)
	pinned, err := Pinned(rules[0], map[string]Set{"7": {3}, "-5": {1, 2}, "x": {0}, "300": {6}})
	must(t, pinned, err)
	pinnedRange, err := Pinned(r, map[string]Set{"7": {3}, "250": {6}, "699": {0, 2}, "1": {0, 1}})
	must(t, pinnedRange, err)
	pinnedFolds, err := Pinned(folds, map[string]Set{"é": {3}, "42": {1, 2}})
	must(t, pinnedFolds, err)
	return append(rules, r, list, texts, reference, NewSingle(), foldedASCII(rules[0]), foldedASCII(texts), folds, pinned, pinnedRange, pinnedFolds,
		dateRule(t, DateYear, 1970, 1973), dateRule(t, DateMonth, 197002, 197105), dateRule(t, DateDay, 19700101, 19700320))
}

var anyValue = rapid.Custom(func(t *rapid.T) value.Value {
	n := rapid.Int64().Draw(t, "n")
	small := rapid.Int64Range(-1000, 100_000_000).Draw(t, "small")
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0:
		return value.NewInt(n)
	case 1:
		return value.NewUint(uint64(n))
	case 2:
		return value.NewDecimal(strconv.FormatInt(small, 10) + "." + strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "fraction")))
	case 3:
		return value.NewFloat(rapid.Float64().Draw(t, "float"))
	case 4:
		return value.NewString(rapid.String().Draw(t, "string"))
	case 5:
		return value.NewBytes(rapid.StringMatching(`[0-9.+ e-]{0,6}`).Draw(t, "bytes"))
	case 6:
		return value.NewString(time.Unix(small, 0).UTC().Format("2006-01-02 15:04:05"))
	case 7:
		return value.NewInt(small)
	}
	return value.Value{}
})

// TestEveryValueHasOnePlace checks that Find gives a shard or an error of a kind, the same one each time.
func TestEveryValueHasOnePlace(t *testing.T) {
	rules := allRules(t)
	rapid.Check(t, func(t *rapid.T) {
		r, v := rapid.SampledFrom(rules).Draw(t, "rule"), anyValue.Draw(t, "value")
		c := Column{Class: Class(rapid.IntRange(0, int(Other)+1).Draw(t, "class")), Zone: time.UTC}
		if converted, _, err := Convert(r, v, c); err == nil {
			v = converted
		} else if !errors.Is(err, ErrNoShard) && !errors.Is(err, ErrConvert) || err.Error() == "" {
			t.Fatalf("%s, %v as %v: %v", r.Kind(), v, c.Class, err)
		}
		position, err := r.Find(v)
		if err != nil && errors.Is(err, ErrNoShard) == errors.Is(err, ErrConvert) || position < 0 || position >= r.Shards() {
			t.Fatalf("%s, %v: %d, %v", r.Kind(), v, position, err)
		}
		if again, _ := r.Find(v); again != position {
			t.Fatalf("%s, %v: %d, then %d", r.Kind(), v, position, again)
		}
	})
}

// TestBetweenHoldsWhatFindFinds checks that the shard of each key of an interval is in Between's set.
func TestBetweenHoldsWhatFindFinds(t *testing.T) {
	rules := allRules(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rules).Draw(t, "rule")
		number := rapid.OneOf(rapid.Int64Range(-10, 10), rapid.Int64Range(-200, 1000), rapid.Int64Range(0, 100_000_000), rapid.Int64())
		lo, v, hi := number.Draw(t, "lo"), number.Draw(t, "v"), number.Draw(t, "hi")
		open := rapid.SampledFrom([]string{"", "lo", "hi"}).Draw(t, "open")
		incLo, incHi := rapid.Bool().Draw(t, "from lo"), rapid.Bool().Draw(t, "to hi")
		inside := (open == "lo" || lo < v || incLo && lo == v) && (open == "hi" || v < hi || incHi && v == hi)
		position, err := r.Find(value.NewInt(v))
		if err != nil || !inside {
			return
		}
		form := rapid.SampledFrom([]func(int64) value.Value{value.NewInt, asDecimal}).Draw(t, "form")
		from, to := &Bound{form(lo), incLo}, &Bound{form(hi), incHi}
		if open == "lo" {
			from = nil
		} else if open == "hi" {
			to = nil
		}
		if set := r.Between(from, to); !slices.Contains(set, position) {
			t.Fatalf("%s: %d is on %d, but %d to %d on %v", r.Kind(), v, position, lo, hi, set)
		}
	})
}

func asDecimal(n int64) value.Value { return value.NewDecimal(strconv.FormatInt(n, 10)) }

// TestBetweenDates is the same for dates as text.
func TestBetweenDates(t *testing.T) {
	rules := []Rule{dateRule(t, DateYear, 1970, 1973), dateRule(t, DateMonth, 197002, 197105), dateRule(t, DateDay, 19700101, 19700320)}
	text := func(seconds int64) value.Value {
		return value.NewString(time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04:05"))
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rules).Draw(t, "rule")
		number := rapid.Int64Range(-100_000, 150_000_000)
		lo, v, hi := number.Draw(t, "lo"), number.Draw(t, "v"), number.Draw(t, "hi")
		c := Column{Class: rapid.SampledFrom([]Class{Unknown, Date, DateTime}).Draw(t, "class")}
		converted, _, err := Convert(r, text(v), c)
		if err != nil {
			t.Fatal(err)
		}
		if position, err := r.Find(converted); err == nil && lo <= v && v <= hi {
			if set := Interval(r, &Bound{text(lo), true}, &Bound{text(hi), true}, c); !slices.Contains(set, position) {
				t.Fatalf("%v is on %d, not in %v", converted, position, set)
			}
		}
	})
}

// TestEqualKeysAreTogether checks that spellings which an integer column stores alike are placed alike.
func TestEqualKeysAreTogether(t *testing.T) {
	rules := allRules(t)
	rapid.Check(t, func(t *rapid.T) {
		r, n := rapid.SampledFrom(rules).Draw(t, "rule"), rapid.Int64().Draw(t, "n")
		digits := strconv.FormatInt(n, 10)
		first, err := r.Find(value.NewInt(n))
		for _, v := range []value.Value{value.NewString(digits), value.NewString(" " + digits + ".0"), value.NewDecimal(digits + ".00")} {
			converted, err2 := Store(r, v, Column{Class: Integer})
			if err2 != nil {
				t.Fatalf("%v: %v", v, err2)
			}
			compared, exact, err2 := Convert(r, v, Column{Class: Integer})
			double := r.Kind() != "single" && r.Kind() != "reference" && v.Kind() == value.String && strings.Contains(v.Text(), ".")
			if double != errors.Is(err2, ErrConvert) || !double && (!exact || compared != converted) {
				t.Fatalf("%v is compared as %v, %v", v, compared, err2)
			}
			if got, err2 := r.Find(converted); got != first || (err == nil) != (err2 == nil) {
				t.Fatalf("%s, %v: %d, not %d", r.Kind(), v, got, first)
			}
		}
	})
}

func TestEqual(t *testing.T) {
	a, b := allRules(t), allRules(t)
	for k := range a {
		for l := range b {
			if Equal(a[k], b[l]) != (k == l) {
				t.Errorf("%s %d and %s %d: not %v", a[k].Kind(), k, b[l].Kind(), l, k == l)
			}
		}
	}
}

func TestFindDoesNotAllocate(t *testing.T) {
	rules := allRules(t)
	keys := []value.Value{value.NewInt(1), value.NewString("de"), value.NewString("1970-02-03 04:05:06"), value.NewInt(5_000_000)}
	for _, r := range rules {
		for _, v := range keys {
			if _, err := r.Find(v); err != nil {
				continue
			}
			if n := testing.AllocsPerRun(10, func() { _, _ = r.Find(v) }); n != 0 {
				t.Errorf("%s, %v: %v allocations", r.Kind(), v, n)
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for _, r := range allRules(b) {
		for _, v := range []value.Value{value.NewInt(1), value.NewString("de"), value.NewString("1970-02-03 04:05:06"), value.NewInt(5_000_000)} {
			if _, err := r.Find(v); err != nil {
				continue
			}
			b.Run(r.Kind()+"/"+v.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = r.Find(v)
				}
			})
		}
	}
}
