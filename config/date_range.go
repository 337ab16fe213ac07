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

// dateRange reads "a" or "a-b" for a rule type; ends in the wrong order are swapped. The numbers are of equal length, so
// they compare as text.
func dateRange(kind, text string) (from, to string, err error) {
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
