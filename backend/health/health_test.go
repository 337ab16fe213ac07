package health

import (
	"testing"
	"time"

	"kingshard/backend"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name      string
		last      backend.State
		o         Observations
		downAfter time.Duration
		want      backend.State
	}{
		{"first good probe", backend.Unknown, Observations{}, 0, backend.Up},
		{"good after down", backend.Down, Observations{}, time.Hour, backend.Up},
		{"one failure moves nothing", backend.Up, Observations{Failures: 1, Since: time.Hour}, 0, backend.Up},
		{"three in a row", backend.Up, Observations{Failures: 3, Since: 2 * time.Second}, 0, backend.Down},
		{"three, but not long enough", backend.Up, Observations{Failures: 3, Since: 2 * time.Second}, 10 * time.Second, backend.Up},
		{"long enough", backend.Up, Observations{Failures: 11, Since: 10 * time.Second}, 10 * time.Second, backend.Down},
		{"never reached yet", backend.Unknown, Observations{Failures: 2, Since: time.Second}, 0, backend.Unknown},
		{"never reached", backend.Unknown, Observations{Failures: 3, Since: 2 * time.Second}, 0, backend.Down},
		{"stays down", backend.Down, Observations{Failures: 1}, 0, backend.Down},
		{"silent everywhere for long enough", backend.Up, Observations{Failures: 1, Since: 3 * time.Second, TimedOut: true, Quiet: 3 * time.Second}, 0, backend.Down},
		{"silent everywhere, and to be patient with", backend.Up, Observations{Failures: 1, Since: 3 * time.Second, TimedOut: true, Quiet: 3 * time.Second}, 4 * time.Second, backend.Up},
		{"silent to probes, and busy with others", backend.Up, Observations{Failures: 9, Since: time.Minute, TimedOut: true, Quiet: 2 * time.Second}, 0, backend.Up},
		{"silent, not long enough", backend.Up, Observations{Failures: 3, Since: 2 * time.Second, TimedOut: true, Quiet: 2900 * time.Millisecond}, 0, backend.Up},
		{"refuses by an answer", backend.Up, Observations{Failures: 3, Since: 2 * time.Second, Refused: true}, 0, backend.Down},
		{"nobody listens", backend.Up, Observations{Failures: 3, Since: 300 * time.Millisecond, Quiet: 300 * time.Millisecond}, 0, backend.Down},
	} {
		if got := Judge(c.last, c.o, c.downAfter); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestJudgeLag(t *testing.T) {
	behind := func(d time.Duration) backend.Lag { return backend.Lag{Behind: d, Known: true} }
	strict, auto := Bound{Max: 4 * time.Second}, Bound{Max: 4 * time.Second, Lenient: true}
	for _, c := range []struct {
		name       string
		passedOver bool
		l          backend.Lag
		refused    bool
		b          Bound
		want       bool
	}{
		{"no bound", false, behind(time.Hour), false, Bound{}, false},
		{"no bound, not known", true, backend.Lag{}, false, Bound{}, false},
		{"not known", false, backend.Lag{}, false, strict, true},
		{"may not ask", false, backend.Lag{}, true, strict, true},
		{"may not ask, and need not know", true, backend.Lag{}, true, auto, false},
		{"not known, for another reason", false, backend.Lag{}, false, auto, true},
		{"within", false, behind(4 * time.Second), false, strict, false},
		{"beyond", false, behind(5 * time.Second), false, strict, true},
		{"beyond the automatic bound", false, behind(5 * time.Second), false, auto, true},
		{"comes back not yet", true, behind(3 * time.Second), false, strict, true},
		{"comes back", true, behind(2 * time.Second), false, strict, false},
		{"comes back to a bound of a second", true, behind(0), false, Bound{Max: time.Second}, false},
	} {
		if got := JudgeLag(c.passedOver, c.l, c.refused, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestReplication(t *testing.T) {
	row := func(receiver, applier, behind string) backend.ReplicaStatus {
		return backend.ReplicaStatus{Receiver: receiver, Applier: applier, Behind: behind}
	}
	ten := backend.Lag{Behind: 10 * time.Second, Known: true}
	for _, c := range []struct {
		name   string
		rows   []backend.ReplicaStatus
		want   backend.Lag
		reason string
		cutOff bool
	}{
		{"runs", []backend.ReplicaStatus{row("Yes", "Yes", "3")}, backend.Lag{Behind: 3 * time.Second, Known: true}, "", false},
		{"the later of two", []backend.ReplicaStatus{row("Yes", "Yes", "3"), row("Yes", "Yes", "1")}, backend.Lag{Behind: 3 * time.Second, Known: true}, "", false},
		{"no applier", []backend.ReplicaStatus{row("Yes", "No", "NULL")}, backend.Lag{}, "replication does not run", false},
		{"no receiver, still applying", []backend.ReplicaStatus{row("No", "Yes", "0")}, backend.Lag{}, "replication does not run", false},
		{"one of two stopped", []backend.ReplicaStatus{row("Yes", "Yes", "0"), row("No", "No", "NULL")}, backend.Lag{}, "replication does not run", false},
		{"lost its source", []backend.ReplicaStatus{row("Connecting", "Yes", "NULL")}, backend.Lag{Behind: 15 * time.Second, Known: true}, "it does not reach its source", true},
		{"lost its source, and stopped", []backend.ReplicaStatus{row("Connecting", "No", "NULL")}, backend.Lag{}, "replication does not run", false},
	} {
		var r replication
		for _, one := range c.rows {
			r.add(one)
		}
		r.Known = r.reason == "" && !r.cutOff
		if !r.Known {
			r.since(ten, 5*time.Second)
			if r.reason != "it does not reach its source" {
				r.Behind = 0
			}
		}
		if r.Lag != c.want || r.reason != c.reason || r.cutOff != c.cutOff {
			t.Errorf("%s: %+v, %q, cut off %v", c.name, r.Lag, r.reason, r.cutOff)
		}
	}
}

// Heartbeats have the last word on a lag, but on a server that is no replica, or where they may tell less than there is.
func TestMeasured(t *testing.T) {
	says := func(s time.Duration) replication { return replication{Lag: backend.Lag{Behind: s, Known: true}} }
	known := func(s time.Duration, atLeast bool) backend.Behind {
		return backend.Behind{Lag: backend.Lag{Behind: s, Known: true}, AtLeast: atLeast}
	}
	for _, c := range []struct {
		name string
		r    replication
		b    backend.Behind
		want backend.Lag
	}{
		{"there are none", says(3), backend.Behind{}, backend.Lag{Behind: 3, Known: true}},
		{"less than it says", says(3), known(2, false), backend.Lag{Behind: 2, Known: true}},
		{"more than it says", says(0), known(2, false), backend.Lag{Behind: 2, Known: true}},
		{"they may tell less", says(3), known(2, true), backend.Lag{Behind: 3, Known: true}},
		{"they may tell less, and do not", says(1), known(2, true), backend.Lag{Behind: 2, Known: true}},
		{"it has stopped", replication{reason: "replication does not run"}, known(2, false), backend.Lag{Behind: 2, Known: true}},
		{"it answers late", replication{late: true}, known(2, false), backend.Lag{Behind: 2, Known: true}},
		{"it has lost its source", replication{cutOff: true}, known(2, true), backend.Lag{Behind: 2, Known: true}},
		{"no replica", replication{reason: "it is no replica", detached: true}, known(2, false), backend.Lag{}},
	} {
		if c.r.measured(c.b); c.r.Lag != c.want || (c.r.reason == "") != c.want.Known || c.want.Known && (c.r.late || c.r.cutOff) {
			t.Errorf("%s: %+v", c.name, c.r)
		}
	}
}

// A probe has as long as an answer takes where something hangs on its haste; of an instance that is down each third one has as long as a login may take.
func TestPatience(t *testing.T) {
	m := &Monitor{cfg: Config{Timeout: time.Second, Connect: 5 * time.Second}}
	for _, c := range []struct {
		failures int
		state    backend.State
		want     time.Duration
	}{
		{0, backend.Unknown, 5 * time.Second}, {0, backend.Up, 5 * time.Second}, {1, backend.Up, time.Second}, {3, backend.Up, time.Second}, {1, backend.Unknown, time.Second},
		{1, backend.Down, time.Second}, {2, backend.Down, time.Second}, {3, backend.Down, 5 * time.Second}, {4, backend.Down, time.Second}, {6, backend.Down, 5 * time.Second},
	} {
		if got := m.patience(c.failures, c.state); got != c.want {
			t.Errorf("%d failures, %v: %v, want %v", c.failures, c.state, got, c.want)
		}
	}
}
