package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Result is what came of one fault.
type Result struct {
	Fault    string
	Server   string // name and version
	Revision string // of the proxy
	Began    time.Time
	Lasted   float64 // seconds from its begin until all was whole
	// Broken has, for each guarantee that was broken, by its name, what broke it first.
	Broken map[string]string `json:",omitempty"`
	// Operations were due while it lasted and in the time behind it; Errors are those of them that failed, by error, Unknown those of which nobody knows what became.
	Operations int
	Errors     map[string]int    `json:",omitempty"`
	Texts      map[string]string `json:",omitempty"` // of the first error of each kind
	Unknown    int
	// Longest is the longest answer, in seconds from the moment when its operation was due; Session is the same from when it began.
	Longest, Session float64
	// Recovery is how many seconds behind the fault the last error was heard.
	Recovery float64
}

// Guarantees are what each fault is judged by, in the order of the table.
var Guarantees = []string{WrongAnswer, Lost, Half, Stuck, Leak, Alone}

// The names of the guarantees.
const (
	WrongAnswer = "no wrong answer"
	Lost        = "no lost write"
	Half        = "atomic"
	Stuck       = "none stuck"
	Leak        = "no leak"
	Alone       = "recovers alone"
)

// Figures of the guarantees, which runs that make documents have.
const (
	StuckMax = 15 * time.Second
	AloneMax = 5 * time.Second
)

// broke notes a breach of a guarantee, of which there are n.
func (r *Result) broke(guarantee, what string, n int) {
	if r.Broken == nil {
		r.Broken = map[string]string{}
	}
	if r.Broken[guarantee] != "" {
		return
	}
	if n > 1 {
		what = fmt.Sprintf("%s; and %d more", what, n-1)
	}
	r.Broken[guarantee] = what
}

// count takes the operations' figures, and judges by when they had their answers; the fault lasted from began until healed.
func (r *Result) count(f *Fault, o *Options, operations []operation, began, healed time.Time) {
	for i := range operations {
		one := &operations[i]
		if one.ended.Before(began) {
			if one.fault != "" {
				r.broke(Alone, fmt.Sprintf("error %s ahead of the fault: %s", one.fault, one.text), 1)
			}
			continue
		}
		r.Operations++
		r.Longest = max(r.Longest, seconds(one.ended.Sub(one.due)))
		took := one.ended.Sub(one.began)
		r.Session = max(r.Session, seconds(took))
		limit := o.Stuck
		if f.holds {
			limit += healed.Sub(began)
		}
		if took > limit {
			r.broke(Stuck, fmt.Sprintf("an answer (%s) after %.1f s", one.fault, took.Seconds()), 1)
		}
		if one.fault == "" {
			continue
		}
		if r.Errors == nil {
			r.Errors, r.Texts = map[string]int{}, map[string]string{}
		}
		if r.Errors[one.fault]++; r.Errors[one.fault] == 1 {
			r.Texts[one.fault] = one.text
		}
		if one.outcome == unknown {
			r.Unknown++
		}
		after := one.ended.Sub(healed)
		r.Recovery = max(r.Recovery, seconds(after))
		if after > o.Alone {
			r.broke(Alone, fmt.Sprintf("error %s %.1f s behind the fault: %s", one.fault, after.Seconds(), one.text), 1)
		}
	}
}

// seconds rounds to hundredths.
func seconds(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }

// String is the result in a line, and one for each guarantee that was broken.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s %-18s %5.1f s, %d operations, errors %s, %d unknown, longest %.2f s, recovery %.2f s", r.Fault, r.Server, r.Lasted, r.Operations, r.errors(), r.Unknown, r.Longest, r.Recovery)
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		fmt.Fprintf(&b, "\n  %s: %s", name, r.Texts[name])
	}
	for _, g := range Guarantees {
		if what := r.Broken[g]; what != "" {
			fmt.Fprintf(&b, "\n  BROKEN %s: %s", g, what)
		}
	}
	return b.String()
}

// errors are the counts by error, "0" without any.
func (r *Result) errors() string {
	if len(r.Errors) == 0 {
		return "0"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		parts = append(parts, fmt.Sprintf("%s: %d", name, r.Errors[name]))
	}
	return strings.Join(parts, ", ")
}
