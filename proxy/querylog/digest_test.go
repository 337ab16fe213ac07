package querylog

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/config"
)

// statement is one that took so long.
func statement(text string, took time.Duration) *Statement {
	return &Statement{User: "ks", DB: "shop", Client: netip.MustParseAddrPort("10.0.0.9:5000"), Text: text, Start: time.Unix(1e9, 0), Total: took, Wait: took / 5, Exec: took / 2, Plan: PlanForward, Shards: 1}
}

// open gives a log that keeps statistics of so many digests and writes no file.
func open(t testing.TB, digests int) *Log {
	t.Helper()
	cfg := config.Default()
	cfg.Digests = digests
	l := new(Log)
	if err := l.Open(cfg); err != nil {
		t.Fatal(err)
	}
	return l
}

// A statement whose normal form is known is of the same digest, and has the same line, as one whose normal form is made here.
func TestNormalIsKnown(t *testing.T) {
	var out [2]string
	l := open(t, 100)
	for k := range out {
		st := statement("SELECT a FROM t WHERE id = 5", time.Millisecond)
		if k == 1 {
			st.Text, st.Normal = "SELECT a FROM t WHERE id = 27", "SELECT a FROM t WHERE id = ?"
		}
		l.Statement(st)
		out[k] = logged(t, func(c *config.Config) { c.LogLiterals = false }, st)
	}
	if rows := l.Digests(); len(rows) != 1 || rows[0].Count != 2 || rows[0].Text != "SELECT a FROM t WHERE id = ?" {
		t.Errorf("%+v", rows)
	}
	if out[0] != out[1] || !strings.Contains(out[0], "id = ?") {
		t.Errorf("%q and %q", out[0], out[1])
	}
	st := statement("SELECT a FROM t WHERE id = 27", time.Millisecond)
	st.Normal = "SELECT a FROM t WHERE id = ?"
	if got := logged(t, func(c *config.Config) { c.LogLiterals = true }, st); !strings.Contains(got, "id = 27") {
		t.Errorf("with literals %q", got)
	}
}

func TestDigests(t *testing.T) {
	l := open(t, 100)
	for k := range 10 {
		st := statement(fmt.Sprintf("SELECT a FROM t WHERE id = %d", k), time.Duration(k+1)*time.Millisecond)
		st.Start = st.Start.Add(time.Duration(k) * time.Second)
		st.Rows, st.Bytes = 2, 100
		if k == 3 {
			st.ErrorCode = 1064
		}
		l.Statement(st)
	}
	l.Statement(statement("SELECT a FROM t WHERE id IN (1, 2)", time.Microsecond))
	other := statement("SELECT a FROM t WHERE id = 1", time.Microsecond)
	other.User = "root"
	l.Statement(other)
	other.DB = "x"
	l.Statement(other)
	l.Statement(statement("", time.Second)) // what could not be read as a command

	rows := l.Digests()
	if len(rows) != 4 {
		t.Fatalf("%d digests: %+v", len(rows), rows)
	}
	ms := time.Millisecond
	first := rows[0]
	for _, p := range []*time.Duration{&first.Total.P50, &first.Total.P95, &first.Total.P99, &first.Exec.P50, &first.Exec.P95, &first.Exec.P99} {
		*p = p.Round(ms)
	}
	want := Digest{ // percentiles are the middles of buckets
		User: "ks", DB: "shop", Text: "SELECT a FROM t WHERE id = ?", Count: 10, Errors: 1, Rows: 20, Bytes: 1000, Shards: 10, Plan: PlanForward,
		First: time.Unix(1e9, 0), Last: time.Unix(1e9+9, 0),
		Total: Times{Sum: 55 * ms, Min: ms, Mean: 5500 * time.Microsecond, P50: 5 * ms, P95: 9 * ms, P99: 9 * ms, Max: 10 * ms},
		Exec:  Times{Sum: 55 * ms / 2, Min: ms / 2, Mean: 2750 * time.Microsecond, P50: 2 * ms, P95: 5 * ms, P99: 5 * ms, Max: 5 * ms},
		Wait:  11 * ms,
	}
	if first != want {
		t.Errorf("got  %+v\nwant %+v", first, want)
	}
	l.ResetDigests()
	if rows := l.Digests(); len(rows) != 0 || l.Stats().Digests != 0 {
		t.Errorf("after a reset: %+v", rows)
	}
	l.Statement(other)
	if rows := l.Digests(); len(rows) != 1 || rows[0].Count != 1 {
		t.Errorf("after a reset: %+v", rows)
	}
}

// Many digests at a time: the table stays within its bound, what is used much stays, and nothing is lost from the sums.
func TestDigestsAreBounded(t *testing.T) {
	const limit, workers, each = 32, 4, 5000
	l := open(t, limit)
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			for k := range each {
				text := "SELECT often FROM t"
				if k%2 == 1 {
					text = fmt.Sprintf("SELECT c%d_%d FROM t", w, k)
				}
				l.Statement(statement(text, time.Microsecond))
			}
		})
	}
	running.Wait()
	var all, often uint64
	rows := l.Digests()
	for _, r := range rows {
		all += r.Count
		if r.Text == "SELECT often FROM t" {
			often += r.Count
		}
	}
	if last := rows[len(rows)-1]; last.Text != "" || last.Count == 0 {
		t.Errorf("no row for the rest: %+v", last)
	}
	st := l.Stats()
	if all != workers*each || often < workers*each/2-workers || st.Digests > limit || len(rows) > limit+1 || st.Evicted == 0 {
		t.Errorf("%d of %d statements, %d of the frequent one, %d rows, %+v", all, workers*each, often, len(rows), st)
	}
}

func TestDigestsResize(t *testing.T) {
	l := open(t, 100)
	for k := range 50 {
		for range k + 1 {
			l.Statement(statement(fmt.Sprintf("SELECT c%d FROM t", k), time.Duration(k+1)*time.Millisecond))
		}
	}
	cfg := config.Default()
	cfg.Digests = 10
	l.Apply(cfg)
	rows := l.Digests()
	if len(rows) > 11 || len(rows) < 5 || rows[0].Text != "SELECT c49 FROM t" || rows[0].Count != 50 {
		t.Errorf("%d rows, first %+v", len(rows), rows[0])
	}
	var all uint64
	for _, r := range rows {
		all += r.Count
	}
	if all != 50*51/2 {
		t.Errorf("%d statements", all)
	}
	cfg.Digests = 0
	l.Apply(cfg)
	l.Statement(statement("SELECT 1", time.Millisecond))
	if l.On() || l.Digests() != nil || l.Stats().Digests != 0 {
		t.Errorf("still on: %+v", l.Digests())
	}
}

// Percentiles are within an eighth of the true ones.
func TestPercentiles(t *testing.T) {
	for _, scale := range []time.Duration{time.Microsecond, 100 * time.Microsecond, 20 * time.Millisecond} {
		var h histogram
		var times []time.Duration
		for range 20_000 {
			d := scale + time.Duration(rand.ExpFloat64()*float64(10*scale))
			h.add(d)
			times = append(times, d)
		}
		slices.Sort(times)
		var s sum
		s.add(&h)
		for _, share := range []float64{0.01, 0.5, 0.95, 0.99} {
			got := s.percentile(share, times[0], times[len(times)-1])
			want := times[int(share*float64(len(times)))-1]
			if off := float64(got-want) / float64(want); off < -0.13 || off > 0.13 {
				t.Errorf("p%v of %v: %v, want %v", 100*share, scale, got, want)
			}
		}
		if got := s.percentile(1, times[0], times[len(times)-1]); got > times[len(times)-1] {
			t.Errorf("p100 %v is more than the longest", got)
		}
	}
}

func TestBuckets(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < 100*time.Second; d += d/50 + 64 {
		k := bucketOf(d)
		if k < last || k > last+1 || k >= bucketsMax {
			t.Fatalf("%v is in bucket %d after %d", d, k, last)
		}
		if last = k; k < bucketsMax-1 && d > time.Microsecond {
			if off := float64(middle(k)-d) / float64(d); off < -0.126 || off > 0.126 {
				t.Fatalf("%v is in a bucket of %v", d, middle(k))
			}
		}
	}
	if last != bucketsMax-1 {
		t.Errorf("only %d buckets of %d", last+1, bucketsMax)
	}
	if bucketOf(-time.Second) != 0 {
		t.Error("a clock that went back")
	}
}

// A full bucket halves all, so that shares stay.
func TestHistogramOverflow(t *testing.T) {
	var h histogram
	k := bucketOf(time.Millisecond)
	h[k], h[k+8] = 1<<32-2, 1000
	h.add(time.Millisecond)
	if h[k] != 1<<31-1 || h[k+8] != 500 {
		t.Errorf("%d, %d", h[k], h[k+8])
	}
}
