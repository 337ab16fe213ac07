package chaos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// Soak is what came of a load that went on for long, with faults in it.
type Soak struct {
	Server, Revision string
	Began            time.Time
	Lasted           float64 // seconds
	Rate             float64 // operations a second
	Faults           int
	Operations       int
	Errors, Unknown  int
	Longest          float64           // seconds that a session waited at the most
	Early            string            `json:",omitempty"` // why it ended ahead of its time, as a fault could not be made or mended; "" if it did not
	Broken           map[string]string `json:",omitempty"`
	Slopes           []Slope
}

// Slope is how something grew over a soak, by the samples that were taken ahead of each fault.
type Slope struct {
	What string
	// Mean is of all samples; Hour is the growth in an hour, by least squares, and Error the standard error of that.
	Mean, Hour, Error float64
}

// grows reports whether it grew, beyond doubt and by more than a hundredth an hour.
func (s Slope) grows() bool { return s.Hour-2*s.Error > max(0.01*s.Mean, 1) }

// slopesMin is how long a soak is the slopes of which are judged: pools and caches fill for minutes, with what ran at once in one fault or another.
const slopesMin = 30 * time.Minute

// faultEvery is how far the begins of two faults of a soak are apart.
const faultEvery = 30 * time.Second

// RunSoak has the load go on for a while, and something fail every half a minute.
func RunSoak(ctx context.Context, o Options, lasts time.Duration) (soak Soak, err error) {
	var faults []Fault
	for _, f := range o.Faults {
		if f.steady && f.needs == plain && f.Name != calm.Name {
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return soak, errors.New("none of the faults can be in a soak")
	}
	s, err := open(ctx, o, plain)
	if err != nil {
		return soak, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	l := &load{db: s.db, rate: o.Rate}
	if err := s.warm(ctx, l, o); err != nil {
		return soak, err
	}
	l.take()
	before, err := s.calmLevel(ctx)
	if err != nil {
		return soak, err
	}
	from := l.next
	earlier, err := s.readBack(ctx, from)
	if err != nil {
		return soak, err
	}
	began := time.Now()
	soak = Soak{Server: s.cluster.Version(), Revision: o.Revision, Began: began.UTC().Truncate(time.Second), Rate: o.Rate}
	loaded, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.run(loaded)
	}()
	seen, err := s.weather(ctx, o, faults, lasts)
	stop()
	<-ended
	s.hangUp()
	if err != nil {
		if ctx.Err() != nil || len(seen) < 2 {
			return soak, err
		}
		soak.Early = err.Error() // what was seen until then counts
	}
	soak.Lasted, soak.Faults, soak.Slopes = seconds(time.Since(began)), len(seen), slopes(seen[len(seen)/2:])
	r := Result{Broken: soak.Broken}
	leaked, doubt, err := s.settled(ctx, before)
	if err != nil {
		return soak, err
	}
	if leaked != "" {
		r.broke(Leak, leaked, 1)
	}
	if doubt != "" {
		r.broke(Alone, doubt, 1)
	}
	after, err := s.readBack(ctx, from)
	if err != nil {
		return soak, err
	}
	operations := l.take()
	soak.judge(&r, o.Stuck, operations)
	wrongs, lost, half := after.check(operations, earlier.balances)
	for guarantee, found := range map[string][]string{WrongAnswer: wrongs, Lost: lost, Half: half} {
		if len(found) > 0 {
			r.broke(guarantee, found[0], len(found))
		}
	}
	soak.Broken = r.Broken
	return soak, nil
}

// weather has faults happen until the end, in an order by chance, and returns what the proxy had ahead of each.
func (s *subject) weather(ctx context.Context, o Options, faults []Fault, lasts time.Duration) (seen []sample, err error) {
	began := time.Now()
	for next := began; time.Since(began) < lasts; {
		next = next.Add(faultEvery)
		if err := pause(ctx, time.Until(next)); err != nil {
			return seen, err
		}
		l, err := s.level(ctx, true)
		if err != nil {
			return seen, err
		}
		seen = append(seen, sample{time.Since(began).Hours(), l})
		f := faults[rand.IntN(len(faults))]
		if o.Progress != nil {
			o.Progress(fmt.Sprintf("%.0f s: %s", time.Since(began).Seconds(), f.Name))
		}
		if err := f.run(ctx, s, o.Lasts); err != nil {
			return seen, fmt.Errorf("%s: %w", f.Name, err)
		}
		next = later(next, time.Now().Add(-faultEvery/2)) // one that lasted long leaves the next one a while without
	}
	return seen, pause(ctx, o.Behind)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// judge takes the figures of the operations.
func (soak *Soak) judge(r *Result, stuck time.Duration, operations []operation) {
	for i := range operations {
		o := &operations[i]
		soak.Operations++
		took := o.ended.Sub(o.began)
		soak.Longest = max(soak.Longest, seconds(took))
		if took > stuck {
			r.broke(Stuck, fmt.Sprintf("an answer (%s) after %.1f s", o.fault, took.Seconds()), 1)
		}
		if o.fault != "" {
			soak.Errors++
		}
		if o.outcome == unknown {
			soak.Unknown++
		}
	}
	for _, s := range soak.Slopes {
		if s.grows() && soak.Lasted >= slopesMin.Seconds() {
			r.broke(Leak, fmt.Sprintf("%s grew by %.1f an hour from a mean of %.1f", s.What, s.Hour, s.Mean), 1)
		}
	}
}

// sample is what the proxy had at a time.
type sample struct {
	hours float64
	level level
}

// slopes are those of what can leak.
func slopes(seen []sample) []Slope {
	var all []Slope
	for _, one := range []struct {
		what string
		of   func(level) float64
	}{
		{"heap, MiB", func(l level) float64 { return l.Heap / (1 << 20) }}, {"resident memory, MiB", func(l level) float64 { return l.Memory / (1 << 20) }},
		{"goroutines", func(l level) float64 { return l.Goroutines }}, {"descriptors", func(l level) float64 { return l.Files - l.Sessions }},
		{"connections to servers", func(l level) float64 { return l.Connections }},
	} {
		s := slope(seen, one.of)
		s.What = one.what
		all = append(all, s)
	}
	return all
}

// slope fits a line by least squares.
func slope(seen []sample, of func(level) float64) (s Slope) {
	n := float64(len(seen))
	var meanX float64
	for _, x := range seen {
		meanX += x.hours / n
		s.Mean += of(x.level) / n
	}
	var xx, xy float64
	for _, x := range seen {
		xx += (x.hours - meanX) * (x.hours - meanX)
		xy += (x.hours - meanX) * (of(x.level) - s.Mean)
	}
	if n < 3 || xx == 0 {
		return s
	}
	s.Hour = xy / xx
	var rest float64
	for _, x := range seen {
		d := of(x.level) - s.Mean - s.Hour*(x.hours-meanX)
		rest += d * d
	}
	s.Error = math.Sqrt(rest / (n - 2) / xx)
	return s
}

// String is the soak as text.
func (soak *Soak) String() string { return SoakTable([]Soak{*soak}) }

// SoakTable renders soaks as Markdown.
func SoakTable(soaks []Soak) string {
	if len(soaks) == 0 {
		return "No figures yet.\n"
	}
	var b strings.Builder
	b.WriteString("| when, server, revision | lasted | operations | faults | errors, unknown | longest wait | broken | heap an hour | resident memory an hour | goroutines an hour | descriptors an hour | connections to servers an hour |\n|" + strings.Repeat(" --- |", 12) + "\n")
	for _, s := range soaks {
		var broken []string
		for _, g := range Guarantees {
			if s.Broken[g] != "" {
				broken = append(broken, g+": "+strings.ReplaceAll(s.Broken[g], "\n", " "))
			}
		}
		if broken == nil {
			broken = []string{"nothing"}
		}
		if s.Early != "" {
			broken = append(broken, "ended early: "+strings.ReplaceAll(s.Early, "\n", " "))
		}
		fmt.Fprintf(&b, "| %s, %s, `%s` | %.0f min | %d at %.0f/s | %d | %d, %d | %.2f s | %s |", s.Began.Format("2006-01-02 15:04"), s.Server, s.Revision, s.Lasted/60, s.Operations, s.Rate, s.Faults, s.Errors, s.Unknown, s.Longest, strings.Join(broken, "; "))
		for _, one := range s.Slopes {
			unit := ""
			if strings.HasSuffix(one.What, "MiB") {
				unit = " MiB"
			}
			fmt.Fprintf(&b, " %+.1f ± %.1f of %.1f%s |", one.Hour, 2*one.Error, one.Mean, unit)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
