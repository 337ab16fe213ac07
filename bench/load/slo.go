package load

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// SLO is a promise about latency: so many of all statements take less than Limit.
type SLO struct {
	Quantile float64 // 0.5, 0.9, 0.99, 0.999 or 1
	Limit    time.Duration
}

// ParseSLO reads an SLO such as p99=60ms; max=1s is the highest latency.
func ParseSLO(text string) (SLO, error) {
	name, limit, ok := strings.Cut(text, "=")
	s := SLO{Quantile: 1}
	if name != "max" {
		digits, isP := strings.CutPrefix(name, "p")
		percent, err := strconv.ParseFloat(digits, 64)
		if !isP || err != nil {
			return SLO{}, fmt.Errorf("no SLO: %q; write one as p99=60ms", text)
		}
		s.Quantile = math.Round(percent*10) / 1000
	}
	d, err := time.ParseDuration(limit)
	if !ok || err != nil || d <= 0 {
		return SLO{}, fmt.Errorf("no SLO: %q; write one as p99=60ms", text)
	}
	s.Limit = d
	_, err = Latency{}.Quantile(s.Quantile)
	return s, err
}

// String gives the SLO as ParseSLO reads it.
func (s SLO) String() string {
	if s.Quantile == 1 {
		return "max=" + s.Limit.String()
	}
	return "p" + strconv.FormatFloat(math.Round(s.Quantile*1000)/10, 'f', -1, 64) + "=" + s.Limit.String()
}

// Holds tells whether a result keeps the promise. One with errors does not.
func (s SLO) Holds(r Result) bool {
	micros, err := r.Latency.Quantile(s.Quantile)
	return err == nil && r.Errors == 0 && r.Queries > 0 && micros < float64(s.Limit)/float64(time.Microsecond)
}

// Search says how to look for the highest rate.
type Search struct {
	From      float64 // first rate tried, above 0
	Tolerance float64 // ratio of the lowest rate that fails to the highest that holds, above 1, at which the search ends
	RateMax   float64 // no higher rate is tried
}

// Highest gives the highest rate found to hold, 0 when not even a thousandth of the first does. Rates are doubled until
// one fails, then the gap is halved in proportion. A rate fails only when it fails twice: one disturbance is not the end.
func (s Search) Highest(holds func(rate float64) (bool, error)) (float64, error) {
	twice := func(rate float64) (bool, error) {
		ok, err := holds(rate)
		if ok || err != nil {
			return ok, err
		}
		return holds(rate)
	}
	var good, bad float64
	for rate := s.From; bad == 0; rate *= 2 {
		rate = min(rate, s.RateMax)
		ok, err := twice(rate)
		switch {
		case err != nil:
			return 0, err
		case !ok:
			bad = rate
		case rate == s.RateMax:
			return rate, nil
		default:
			good = rate
		}
	}
	for good == 0 || bad/good > s.Tolerance {
		middle := math.Sqrt(good * bad)
		if good == 0 {
			middle = bad / 2
		}
		if middle < s.From/1000 {
			return 0, nil
		}
		ok, err := twice(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			good = middle
		default:
			bad = middle
		}
	}
	return good, nil
}

// Machines is how many machines like the one measured carry a rate.
func Machines(goal, perMachine float64) int {
	return int(math.Ceil(goal/perMachine - 1e-9))
}
