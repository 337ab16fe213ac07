package scenario

import (
	"context"
	"fmt"
	"time"

	"kingshard/bench/load"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// openClients is how many statements an open loop has under way at most.
const openClients = 256

// openRate is an open loop at one rate, or at a share of what a closed loop reaches before it.
type openRate struct {
	rate      float64       // statements a second
	share     float64       // instead of rate
	stallFor  time.Duration // the server stands still for so long
	stallEach time.Duration // once in such a time
}

// tailConns is a ceiling of connections that shows what one does for the tail.
const tailConns = 16

// capacityClients are those of the closed loop that finds the capacity.
const capacityClients = 64

func (l openRate) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	rate := l.rate
	if l.share > 0 {
		capacity, err := closed{clients: capacityClients, statement: point}.run(ctx, c, t, load.Window{})
		if err != nil {
			return outcome{}, err
		}
		rate = l.share * capacity.QPS()
	}
	stop := l.stalls(c)
	defer stop()
	result, err := l.open(c, t, rate, w).Run(ctx)
	return outcome{Result: result, more: map[report.Metric]float64{report.Rate: rate}}, err
}

func (l openRate) takes(t timing) time.Duration {
	if l.share > 0 {
		return 2 * (t.warmup + t.measured) // the capacity is found first
	}
	return t.warmup + t.measured
}

func (openRate) open(c *rig.Contender, t timing, rate float64, w load.Window) load.Open {
	return load.Open{
		Login: c.Login(rig.DB), Clients: openClients, Statement: point, Rate: rate,
		Warmup: t.warmup, Duration: t.measured, Window: w,
	}
}

// stalls makes the server stand still again and again until stop, the first time after half of stallEach.
func (l openRate) stalls(c *rig.Contender) (stop func()) {
	if l.stallFor == 0 {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for next := l.stallEach / 2; ; next = l.stallEach {
			select {
			case <-quit:
				return
			case <-time.After(next):
				c.Server.Pause()
				time.Sleep(l.stallFor)
				c.Server.Resume()
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// highestRate searches the highest rate that holds an SLO.
type highestRate struct{ slo load.SLO }

func (l highestRate) run(ctx context.Context, c *rig.Contender, t timing, w load.Window) (outcome, error) {
	search := load.Search{From: 1000, Tolerance: 1.05, RateMax: 1e6}
	highest, err := search.Highest(func(rate float64) (bool, error) {
		result, err := openRate{}.open(c, t, rate, load.Window{}).Run(ctx)
		return l.slo.Holds(result), err
	})
	if err != nil {
		return outcome{}, err
	}
	if highest == 0 {
		return outcome{}, fmt.Errorf("no rate holds %v", l.slo)
	}
	result, err := openRate{}.open(c, t, highest, w).Run(ctx) // once more, to know what it costs
	return outcome{Result: result, more: map[report.Metric]float64{report.HighestRate: highest, report.Rate: highest}}, err
}

// takes reckons with five doublings, as many bisections, a second try of what fails and the time to know what the rate costs.
func (highestRate) takes(t timing) time.Duration { return 16 * (t.warmup + t.measured) }

// DefaultSLO is what scenarios search for unless WithSLO changes it.
var DefaultSLO = load.SLO{Quantile: 0.99, Limit: 60 * time.Millisecond}

// rates are open loops: constant rates, most of the capacity, a server that stands still, and the search for the end.
func rates() []Scenario {
	against := []rig.Spec{direct, plain, haproxy}
	var all []Scenario
	for _, rate := range []float64{50, 500, 2000, 5000, 10_000, 16_000, 32_000} {
		all = append(all, Scenario{Family: "rate", Parameter: "rate", X: rate, Work: openRate{rate: rate}, Against: against})
	}
	return append(all,
		Scenario{
			Family: "rate-of-capacity", Parameter: "percent", X: 60, Against: []rig.Spec{direct, plain, limited(tailConns), haproxy},
			SecondsMin: 5, Work: openRate{share: 0.6},
		},
		Scenario{
			Family: "rate-with-stalls", Parameter: "rate", X: 1000, Against: against, SecondsMin: 20,
			Work: openRate{rate: 1000, stallFor: 200 * time.Millisecond, stallEach: 10 * time.Second},
		},
		Scenario{Family: "slo", Work: highestRate{DefaultSLO}, Against: against, SecondsMin: 3},
	)
}

// WithSLO gives the scenarios another SLO to search for.
func WithSLO(all []Scenario, slo load.SLO) []Scenario {
	changed := append([]Scenario(nil), all...)
	for i := range changed {
		if _, ok := changed[i].Work.(highestRate); ok {
			changed[i].Work = highestRate{slo}
		}
	}
	return changed
}
