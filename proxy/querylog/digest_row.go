package querylog

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// summary is what all cores counted.
type summary struct {
	counts      counts
	total, exec sum
}

func (d *digest) sum() *summary {
	s := new(summary)
	for k := range d.cells {
		c := d.cells[k].Load()
		if c == nil {
			continue
		}
		c.mu.Lock()
		s.counts.merge(&c.counts)
		s.total.add(&c.total)
		s.exec.add(&c.exec)
		c.mu.Unlock()
	}
	return s
}

// Digest is a row of the statistics: the statements of one user in one database that differ in their values only.
type Digest struct {
	User, DB string
	// Text is the statement without its values, of at most 1024 bytes. It is empty in the row of those that have no row of their
	// own: they were evicted, or too many new ones came at a time.
	Text        string
	Count       uint64
	Errors      uint64
	Rows, Bytes uint64 // sent to clients
	// MovedRows and MovedBytes are rows that went from one server to another, or into the proxy, for statements to be finished there.
	MovedRows, MovedBytes uint64
	Shards                uint64 // asked, by all executions together
	Plan                  Plan   // of the last execution
	First, Last           time.Time
	// Total is the time in the proxy and the servers, Exec that from when a connection was there.
	Total, Exec Times
	// Wait is the time that all executions together waited for a connection; what Total.Sum has beyond it and Exec.Sum is the proxy's own.
	Wait time.Duration
}

// Times say how long the executions of a digest took. Percentiles are off by 12.5 % at the most.
type Times struct{ Sum, Min, Mean, P50, P95, P99, Max time.Duration }

func (d *digest) row() Digest {
	s := d.sum()
	c := &s.counts
	r := Digest{
		User: printable(d.user), DB: printable(d.db), Text: printable(d.text), Count: c.n, Errors: c.errors, Rows: c.rows, Bytes: c.bytes,
		MovedRows: c.movedRows, MovedBytes: c.movedBytes, Shards: c.shards, Plan: c.plan, Wait: c.waitSum,
	}
	if c.n == 0 {
		return r
	}
	r.First, r.Last = time.Unix(0, c.first), time.Unix(0, c.last)
	r.Total = s.total.times(c.n, c.totalSum, c.totalMin, c.totalMax)
	r.Exec = s.exec.times(c.n, c.execSum, c.execMin, c.execMax)
	return r
}

func (s *sum) times(n uint64, all, shortest, longest time.Duration) Times {
	at := func(share float64) time.Duration { return s.percentile(share, shortest, longest) }
	return Times{Sum: all, Min: shortest, Mean: all / time.Duration(n), P50: at(0.5), P95: at(0.95), P99: at(0.99), Max: longest}
}

// rows lists the table, what took the most time first; the row without a text is the last.
func (t *digests) rows() []Digest {
	var list []Digest
	for _, d := range t.all() {
		if r := d.row(); r.Count > 0 {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Digest) int { return cmp.Compare(b.Total.Sum, a.Total.Sum) })
	if r := t.other.row(); r.Count > 0 {
		list = append(list, r)
	}
	return list
}

func printable(s string) string { return strings.ToValidUTF8(s, "?") }
