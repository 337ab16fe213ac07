package rule

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"kingshard/mysql/value"
)

// DateRule places by the year, month or day of the key, each of which is one shard. A string is a date or a date with a
// time; a number is seconds since 1970 UTC. Dates of no shard are ErrNoShard.
type DateRule struct {
	kind    string
	numbers []int // of the shards, ascending: 2016, 201603 or 20160306
	all     Set
	zone    *time.Location
}

// The kinds of DateRule.
const (
	DateYear  = "date_year"
	DateMonth = "date_month"
	DateDay   = "date_day"
)

// NewDateRule makes the rule of a kind. The numbers of its shards ascend, as DateNumbers makes them; zone is that in which
// seconds are read as a date.
func NewDateRule(kind string, numbers []int, zone *time.Location) (*DateRule, error) {
	if kind != DateYear && kind != DateMonth && kind != DateDay {
		return nil, fmt.Errorf("%q is no kind of date rule", kind)
	}
	s, err := newSpread(len(numbers))
	if err != nil {
		return nil, err
	}
	for k := 1; k < len(numbers); k++ {
		if numbers[k] <= numbers[k-1] {
			return nil, fmt.Errorf("date %d comes after %d", numbers[k], numbers[k-1])
		}
	}
	if zone == nil {
		return nil, fmt.Errorf("a rule of type %s needs a time zone", kind)
	}
	return &DateRule{kind, slices.Clone(numbers), s.all, zone}, nil
}

// DateNumbers gives the numbers of a kind from one to another, both included; ends in the wrong order are swapped. Both
// must be numbers of dates of the calendar.
func DateNumbers(kind string, from, to int) []int {
	if from > to {
		from, to = to, from
	}
	var numbers []int
	for n := from; n <= to; n = nextNumber(kind, n) {
		numbers = append(numbers, n)
	}
	return numbers
}

func nextNumber(kind string, n int) int {
	switch kind {
	case DateMonth:
		if n++; n%100 > 12 {
			n += 100 - 12
		}
		return n
	case DateDay:
		year, month, day := time.Date(n/10000, time.Month(n/100%100), n%100+1, 0, 0, 0, 0, time.UTC).Date()
		return dateNumber(kind, year, int(month), day)
	}
	return n + 1
}

func dateNumber(kind string, year, month, day int) int {
	switch kind {
	case DateYear:
		return year
	case DateMonth:
		return year*100 + month
	}
	return (year*100+month)*100 + day
}

// Kind is date_year, date_month or date_day.
func (r *DateRule) Kind() string { return r.kind }

// Shards is the number of dates.
func (r *DateRule) Shards() int { return len(r.numbers) }

// Number is the year, month or day of a shard.
func (r *DateRule) Number(position int) int { return r.numbers[position] }

// Find places a row.
func (r *DateRule) Find(v value.Value) (int, error) {
	number, ok := r.number(v)
	if !ok {
		return 0, noPlace(r.kind, v)
	}
	position, found := slices.BinarySearch(r.numbers, number)
	if !found {
		return 0, refuse(ErrNoShard, "sharding key %s: no shard holds its date; the %d shards are %d to %d",
			shown(v), len(r.numbers), r.numbers[0], r.numbers[len(r.numbers)-1])
	}
	return position, nil
}

// Between gives the dates from that of lo to that of hi.
func (r *DateRule) Between(lo, hi *Bound) Set {
	from, to := 0, len(r.numbers)
	if lo != nil {
		if number, ok := r.number(lo.Value); ok {
			from = sort.SearchInts(r.numbers, number)
		}
	}
	if hi != nil {
		if number, ok := r.number(hi.Value); ok {
			to = sort.SearchInts(r.numbers, number+1)
		}
	}
	if from >= to {
		return nil
	}
	return r.all[from:to]
}

// number is the year, month or day of a value. Times before the year 1 have -1, those after 9999 one above all.
func (r *DateRule) number(v value.Value) (int, bool) {
	switch v.Kind() {
	case value.Int:
		return r.ofSeconds(v.Int()), true
	case value.Uint:
		return r.ofSeconds(math.MaxInt64), true
	case value.Decimal:
		// Fractions before 1970 round up to the second here, which may be the next day's first.
		if seconds, whole, ok := floor(v); ok && (seconds >= 0 || whole) {
			return r.ofSeconds(seconds), true
		}
	case value.String, value.Bytes:
		return r.ofText(v.Text())
	}
	return 0, false
}

func (r *DateRule) ofSeconds(seconds int64) int {
	const first, last = -62135596800, 253402300799 // the seconds of the years 1 to 9999
	if seconds < first {
		return -1
	}
	if seconds > last {
		return math.MaxInt32
	}
	year, month, day := time.Unix(seconds, 0).In(r.zone).Date()
	return dateNumber(r.kind, year, int(month), day)
}

func (r *DateRule) ofText(text string) (int, bool) {
	if r.kind == DateYear {
		if year, ok := yearOnly(text); ok {
			return year, true
		}
	}
	m, ok := parseMoment(text)
	return dateNumber(r.kind, m.year, m.month, m.day), ok
}

// yearOnly reads YYYY and YYYY-MM, which is all that a rule by years needs.
func yearOnly(text string) (int, bool) {
	if len(text) != 4 && (len(text) != 7 || !isPunctuation(text[4])) {
		return 0, false
	}
	year, ok := digitsAt(text, 0, 4)
	if len(text) == 7 && ok {
		var month int
		month, ok = digitsAt(text, 5, 2)
		ok = ok && month >= 1 && month <= 12
	}
	return year, ok && year > 0
}
