package config

import (
	"errors"
	"strconv"
	"time"
)

// durationMax is the ceiling of MySQL's wait_timeout, a year.
const durationMax = 365 * 24 * time.Hour

// Duration is a time span, written as in "1h30m", "5s" or "250ms"; a number without a unit is seconds.
type Duration time.Duration

// Duration gives the value as the standard library's type.
func (d Duration) Duration() time.Duration { return time.Duration(d) }

// String writes the span in its largest units, as UnmarshalText reads it.
func (d Duration) String() string {
	t := time.Duration(d)
	if t == 0 {
		return "0s"
	}
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if t%u.size == 0 {
			return strconv.FormatInt(int64(t/u.size), 10) + u.name
		}
	}
	return t.String()
}

// MarshalText writes what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a span of 0 to 8760h.
func (d *Duration) UnmarshalText(text []byte) error {
	errForm := errors.New("must be a duration of 0 to 8760h such as 5s, 10m or 8h; a number alone is seconds")
	if seconds, err := strconv.ParseUint(string(text), 10, 32); err == nil {
		text = strconv.AppendUint(nil, seconds, 10)
		text = append(text, 's')
	}
	t, err := time.ParseDuration(string(text))
	if err != nil || t < 0 || t > durationMax {
		return errForm
	}
	*d = Duration(t)
	return nil
}
