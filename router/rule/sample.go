package rule

import (
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"kingshard/mysql/value"
)

// spreadKeys is how many numbers stand for all keys of rules that spread them: with so many every one of the 4096 slots,
// and every remainder of a table with up to some thousands of shards, is met.
const spreadKeys = 100_000

// Sample gives keys by which two rules can be told apart: if a places some key on one shard and b does not, it does so with
// one of these. Of rules that spread keys over very many shards it is very likely.
func Sample(a, b Rule) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		samples := []iter.Seq[value.Value]{pins(a), pins(b), edges(a), edges(b), everyKind(max(a.Shards(), b.Shards()))}
		switch Unfolded(a).(type) {
		case *Range, *List, *DateRule:
			if a.Kind() == b.Kind() {
				samples = samples[:4] // nothing lies between the edges
			}
		}
		for _, keys := range samples {
			for key := range keys {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// pins are the keys that a rule places by hand.
func pins(r Rule) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		if f, ok := r.(*folded); ok {
			r = f.Rule
		}
		p, ok := r.(*pinned)
		if !ok {
			return
		}
		for _, text := range p.texts {
			v := value.NewString(text)
			if !yield(v) {
				return
			}
			for _, form := range pinForms(v) {
				if form != v && !yield(form) {
					return
				}
			}
		}
	}
}

// edges are the keys at which a rule goes from one shard to the next.
func edges(r Rule) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		switch r := Unfolded(r).(type) {
		case *Range:
			for k := range len(r.all) {
				if first := int64(k) * r.width; !yield(value.NewInt(first)) || !yield(value.NewInt(first+r.width-1)) {
					return
				}
			}
		case *List:
			for key := range r.positions {
				if !yield(key) || key.Kind() == value.String && !yield(value.NewString(strings.ToUpper(key.Text()))) {
					return
				}
			}
		case *DateRule:
			for _, n := range r.numbers {
				first := r.first(n)
				text := value.NewString(first.Format("2006-01-02"))
				last := r.first(nextNumber(r.kind, n)).Unix() - 1
				if !yield(text) || !yield(value.NewInt(first.Unix())) || !yield(value.NewInt(last)) {
					return
				}
			}
		}
	}
}

// first is the moment at which the date of a shard begins.
func (r *DateRule) first(number int) time.Time {
	switch r.kind {
	case DateYear:
		return time.Date(number, 1, 1, 0, 0, 0, 0, r.zone)
	case DateMonth:
		return time.Date(number/100, time.Month(number%100), 1, 0, 0, 0, 0, r.zone)
	}
	return time.Date(number/10000, time.Month(number/100%100), number%100, 0, 0, 0, 0, r.zone)
}

// everyKind are numbers on both sides of 0, those at the ends, texts and dates.
func everyKind(shards int) iter.Seq[value.Value] {
	return func(yield func(value.Value) bool) {
		for _, n := range []int64{math.MinInt64, math.MaxInt64, 1 << 31, 1 << 32, 1 << 53} {
			if !yield(value.NewInt(n)) {
				return
			}
		}
		for _, text := range []string{"", "abc", "ABC", "é", "5x", "1.5", "2024-02-29", "2024-02-29 12:00:00"} {
			if !yield(value.NewString(text)) {
				return
			}
		}
		if !yield(value.NewUint(math.MaxUint64)) || !yield(value.NewDecimal("1.5")) {
			return
		}
		for n := range int64(max(spreadKeys, 2*shards)) {
			if !yield(value.NewInt(n)) || !yield(value.NewInt(-n)) || n%16 == 0 && (!yield(value.NewString("k"+strconv.FormatInt(n, 10))) || !yield(value.NewString("K"+strconv.FormatInt(n, 10)))) {
				return
			}
		}
	}
}
