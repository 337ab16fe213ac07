package config

import (
	"fmt"
	"strings"
	"time"
)

// dateLayouts are the forms of a date number by rule type, in the words of time.Parse.
var dateLayouts = map[string]struct{ layout, shown string }{
	"date_year":  {"2006", "YYYY"},
	"date_month": {"200601", "YYYYMM"},
	"date_day":   {"20060102", "YYYYMMDD"},
}

// DateRange reads "a" or "a-b" for a rule type; ends in the wrong order are swapped. The numbers are of equal length, so
// they compare as text.
func DateRange(kind, text string) (from, to string, err error) {
	form := dateLayouts[kind]
	from, to, isRange := strings.Cut(strings.TrimSpace(text), "-")
	if !isRange {
		to = from
	}
	for _, end := range []string{from, to} {
		if _, err := time.Parse(form.layout, end); err != nil {
			return "", "", fmt.Errorf("must be %s or %s-%s for type %s, not %q", form.shown, form.shown, form.shown, kind, text)
		}
	}
	return min(from, to), max(from, to), nil
}

// dateCount is the number of years, months or days of a range.
func dateCount(kind, from, to string) int {
	first, _ := time.Parse(dateLayouts[kind].layout, from)
	last, _ := time.Parse(dateLayouts[kind].layout, to)
	years := last.Year() - first.Year()
	switch kind {
	case "date_year":
		return years + 1
	case "date_month":
		return years*12 + int(last.Month()) - int(first.Month()) + 1
	}
	return int(last.Unix()-first.Unix())/(24*60*60) + 1
}
