package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"kingshard/backend/pool"
)

// collectPoolCounts sends the counters of a pool, every outcome by name.
func collectPoolCounts(send func(*prometheus.Desc, prometheus.ValueType, float64, ...string), st pool.Stats) {
	for o, c := range st.Gets {
		outcome := pool.Outcome(o).String()
		send(descPoolGets, prometheus.CounterValue, float64(c.N), outcome)
		send(descPoolWait, prometheus.CounterValue, c.Wait.Seconds(), outcome)
	}
	for c, n := range st.Closed {
		send(descPoolClosed, prometheus.CounterValue, float64(n), pool.CloseCause(c).String())
	}
	send(descPoolDials, prometheus.CounterValue, float64(st.DialFailures))
}
