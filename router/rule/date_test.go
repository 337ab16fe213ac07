package rule

import (
	"errors"
	"slices"
	"testing"
	"time"

	"kingshard/mysql/value"
)

func TestDateNumbers(t *testing.T) {
	for _, c := range []struct {
		kind     string
		from, to int
		want     []int
	}{
		{DateYear, 2014, 2017, []int{2014, 2015, 2016, 2017}},
		{DateYear, 2017, 2013, []int{2013, 2014, 2015, 2016, 2017}},
		{DateMonth, 201603, 201511, []int{201511, 201512, 201601, 201602, 201603}},
		{DateDay, 20160227, 20160304, []int{20160227, 20160228, 20160229, 20160301, 20160302, 20160303, 20160304}},
		{DateDay, 20160304, 20160301, []int{20160301, 20160302, 20160303, 20160304}},
		{DateDay, 20151231, 20160101, []int{20151231, 20160101}},
	} {
		if got := DateNumbers(c.kind, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s %d-%d: %v", c.kind, c.from, c.to, got)
		}
	}
}

func dateRule(t testing.TB, kind string, from, to int) *DateRule {
	r, err := NewDateRule(kind, DateNumbers(kind, from, to), time.UTC)
	return must(t, r, err)
}

func TestDateGrammar(t *testing.T) {
	year, month, day := dateRule(t, DateYear, 1000, 3000), dateRule(t, DateMonth, 100001, 300012), dateRule(t, DateDay, 20000101, 20301231)
	for text, want := range map[string][3]int{ // 0: cannot be placed
		"2016-03-06":                  {2016, 201603, 20160306},
		"2016/03/06":                  {2016, 201603, 20160306},
		"2016-3-6":                    {2016, 201603, 20160306},
		"2016-02-29 23:59:59":         {2016, 201602, 20160229},
		"2016-02-28T10:20":            {2016, 201602, 20160228},
		"2016-02-28 10:20:30.5":       {2016, 201602, 20160228},
		"2016-02-28 23:59:59.000":     {2016, 201602, 20160228},
		"20160306":                    {2016, 201603, 20160306},
		"20160306102030":              {2016, 201603, 20160306},
		"2016":                        {2016, 0, 0},
		"2016-03":                     {2016, 0, 0},
		"2016-13":                     {},
		"2016-12-31 23:59:59.5":       {}, // DATETIME rounds it to the next year
		"2015-02-29":                  {},
		"2016-13-01":                  {},
		"2016-00-00":                  {},
		"0000-00-00":                  {},
		"16-03-06":                    {},
		"201603":                      {},
		"1457242646":                  {},
		"2016-03-06 ":                 {},
		"2016-03-06 24:00:00":         {},
		"2016-03-06 10:20:30+05:30":   {},
		"2016-03-06 10:20:30 UTC":     {},
		"2016-03-06x10:20:30":         {},
		"201":                         {},
		"abcd":                        {},
		"":                            {},
		"2016-03-06 10:20.5":          {},
		"2016-03-06 10-20-30":         {},
		"2016x03x06":                  {},
		"\uff12\uff10\uff11\uff16":    {},
		"2016-03-0\u0666":             {},
		"20160306 10:20:30":           {},
		"2016-03-06 10:20:30.":        {},
		"2016-03-061":                 {},
		" 2016-03-06":                 {},
		"99999999999999999999-01-01":  {},
		"2016-03-06 1:02:03":          {},
		"2016-03-06  10:20:30":        {},
		"2016-03-06 10:20:30.1234567": {2016, 201603, 20160306},
	} {
		for k, r := range []*DateRule{year, month, day} {
			position, err := r.Find(value.NewString(text))
			if want[k] == 0 {
				if !errors.Is(err, ErrConvert) {
					t.Errorf("%s %q: %d, %v", r.Kind(), text, position, err)
				}
			} else if err != nil || r.Number(position) != want[k] {
				t.Errorf("%s %q: %d, %v", r.Kind(), text, position, err)
			}
		}
	}
}

func TestDateZone(t *testing.T) {
	east := time.FixedZone("east", 8*3600)
	r, err := NewDateRule(DateDay, []int{20160306, 20160307}, east)
	must(t, r, err)
	last := time.Date(2016, 3, 6, 23, 59, 59, 0, east).Unix()
	for seconds, want := range map[int64]int{last: 0, last + 1: 1} {
		if got, err := r.Find(value.NewInt(seconds)); err != nil || got != want {
			t.Errorf("%d: %d, %v", seconds, got, err)
		}
	}
	for _, seconds := range []int64{-1 << 63, 1<<63 - 1, last + 3*86400} {
		if _, err := r.Find(value.NewInt(seconds)); !errors.Is(err, ErrNoShard) {
			t.Errorf("%d: %v", seconds, err)
		}
	}
}

// FuzzMoment checks that a text that is read is a date of the calendar, and that its own text is read as the same one.
func FuzzMoment(f *testing.F) {
	for _, s := range []string{"2016-03-06", "2016-3-6 10:20:30.5", "20160306102030", "2016-02-30", "9999/12/31T23:59:59", "0000-00-00", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := parseMoment(text)
		if !ok {
			return
		}
		at := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.second, 0, time.UTC)
		if at.Year() != m.year || int(at.Month()) != m.month || at.Day() != m.day || at.Hour() != m.hour || at.Second() != m.second {
			t.Fatalf("%q: %+v is %v", text, m, at)
		}
		if again, ok := parseMoment(m.text()); !ok || again != m {
			t.Fatalf("%q: %q is %+v", text, m.text(), again)
		}
	})
}
