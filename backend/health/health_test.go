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
