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
	} {
		if got := Judge(c.last, c.o, c.downAfter); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestJudgeLag(t *testing.T) {
	behind := func(d time.Duration) backend.Lag { return backend.Lag{Behind: d, Known: true} }
	for _, c := range []struct {
		name       string
		passedOver bool
		l          backend.Lag
		max        time.Duration
		want       bool
	}{
		{"no bound", false, behind(time.Hour), 0, false},
		{"no bound, not known", true, backend.Lag{}, 0, false},
		{"not known", false, backend.Lag{}, time.Hour, true},
		{"within", false, behind(4 * time.Second), 4 * time.Second, false},
		{"beyond", false, behind(5 * time.Second), 4 * time.Second, true},
		{"comes back not yet", true, behind(3 * time.Second), 4 * time.Second, true},
		{"comes back", true, behind(2 * time.Second), 4 * time.Second, false},
		{"comes back to a bound of a second", true, behind(0), time.Second, false},
	} {
		if got := JudgeLag(c.passedOver, c.l, c.max); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
