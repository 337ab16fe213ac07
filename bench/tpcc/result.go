package tpcc

import (
	"maps"
	"slices"
	"time"
)

// Result is what clients saw.
type Result struct {
	Seconds float64 // of the measured time
	// Measured are the transactions that ended within the measured time, All those of the whole run.
	Measured, All [kinds]Count
	// Latencies are those of the measured transactions that were committed, or rolled back as they must be, sorted: from the first try, so
	// with all that it took to run them again.
	Latencies [kinds][]time.Duration
	Retries   uint64           // of transactions, in the whole run
	Errors    map[string]Fault // of the whole run, those behind which a transaction was run again too: by number, [WrongAnswer] or [BrokenConnection]
}

// Count is how many transactions of a kind ended in which way.
type Count struct {
	Committed  uint64
	RolledBack uint64 // by the client, as 1 of 100 new-orders must be
	Refused    uint64 // by the proxy, which does not do it
	Failed     uint64 // by an error, or because the run was long over before it succeeded
	Unknown    uint64 // the connection broke, or the proxy's to a server, between COMMIT and its answer
}

// Fault is errors of one number.
type Fault struct {
	Count uint64
	First string // its text
}

func (c *Count) add(o Count) {
	c.Committed += o.Committed
	c.RolledBack += o.RolledBack
	c.Refused += o.Refused
	c.Failed += o.Failed
	c.Unknown += o.Unknown
}

// Total returns the sum over all kinds.
func Total(counts [kinds]Count) Count {
	var total Count
	for _, c := range counts {
		total.add(c)
	}
	return total
}

// TPM is the number of new-orders committed in a minute.
func (r *Result) TPM() float64 {
	return float64(r.Measured[NewOrder].Committed) * 60 / r.Seconds
}

// Rate is how many transactions of a kind were committed in a second.
func (r *Result) Rate(k Kind) float64 { return float64(r.Measured[k].Committed) / r.Seconds }

// Latency returns a quantile, 0 to 1, of the latencies of a kind; 0 without any.
func (r *Result) Latency(k Kind, quantile float64) time.Duration {
	l := r.Latencies[k]
	if len(l) == 0 {
		return 0
	}
	return l[int(quantile*float64(len(l)-1))]
}

// Faults returns what errors were counted by, in order.
func (r *Result) Faults() []string { return slices.Sorted(maps.Keys(r.Errors)) }

// fault counts an error.
func (r *Result) fault(err error) {
	if r.Errors == nil {
		r.Errors = make(map[string]Fault)
	}
	f := r.Errors[name(err)]
	if f.Count++; f.First == "" {
		f.First = err.Error()
	}
	r.Errors[name(err)] = f
}

// Add adds what others saw at the same time, or, with their seconds, at another one.
func (r *Result) Add(o *Result) {
	r.Seconds += o.Seconds
	for k := range kinds {
		r.Measured[k].add(o.Measured[k])
		r.All[k].add(o.All[k])
		r.Latencies[k] = append(r.Latencies[k], o.Latencies[k]...)
		slices.Sort(r.Latencies[k])
	}
	r.Retries += o.Retries
	for name, fault := range o.Errors {
		if r.Errors == nil {
			r.Errors = make(map[string]Fault)
		}
		mine := r.Errors[name]
		if mine.First == "" {
			mine.First = fault.First
		}
		mine.Count += fault.Count
		r.Errors[name] = mine
	}
}
