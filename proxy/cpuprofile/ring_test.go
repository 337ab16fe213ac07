package cpuprofile

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// fake is a runtime whose profiles have one sample, of as many nanoseconds as they took.
type fake struct {
	t     *testing.T
	now   time.Time
	w     io.Writer // nil: no profile is being taken
	began time.Time
	taken bool // by somebody else
}

func (f *fake) start(w io.Writer) error {
	if f.w != nil {
		f.t.Error("two profiles at a time")
	}
	if f.taken {
		return errors.New("taken")
	}
	f.w, f.began = w, f.now
	return nil
}

func (f *fake) stop() {
	kind := &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	fn := &profile.Function{ID: 1, Name: "main"}
	at := &profile.Location{ID: 1, Line: []profile.Line{{Function: fn}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{kind}, PeriodType: kind, Period: 1, Function: []*profile.Function{fn}, Location: []*profile.Location{at},
		Sample: []*profile.Sample{{Location: []*profile.Location{at}, Value: []int64{int64(f.now.Sub(f.began))}}},
	}
	if err := p.Write(f.w); err != nil {
		f.t.Error(err)
	}
	f.w = nil
}

// pass has the ring tick every second.
func (f *fake) pass(r *Ring, seconds int, keep time.Duration) {
	for range seconds {
		f.now = f.now.Add(time.Second)
		r.Tick(keep)
	}
}

func startFake(t *testing.T) (*fake, *Ring) {
	f := &fake{t: t, now: time.Unix(1e9, 0)}
	return f, &Ring{clock: clock{func() time.Time { return f.now }, f.start, f.stop}}
}

// nanos is the sum of what a profile says.
func nanos(p *profile.Profile) (n time.Duration) {
	for _, s := range p.Sample {
		n += time.Duration(s.Value[0])
	}
	return n
}

func TestRing(t *testing.T) {
	f, r := startFake(t)
	check := func(what string, last, want time.Duration) {
		t.Helper()
		p, covers, err := r.Last(last)
		if err != nil || covers != want || nanos(p) != want {
			t.Errorf("%s: covers %v, want %v: %v", what, covers, want, err)
		}
	}
	f.pass(r, 5, 0)
	if _, _, err := r.Last(time.Second); err != ErrOff || f.w != nil {
		t.Errorf("switched off: %v", err)
	}
	r.Tick(time.Minute)
	f.pass(r, 4, time.Minute)
	check("of four seconds", time.Minute, 4*time.Second)
	f.pass(r, 36, time.Minute)
	check("of all", time.Minute, 40*time.Second)
	check("of a part, in whole pieces", 15*time.Second, 16*time.Second)
	f.pass(r, 600, time.Minute)
	check("of ten minutes", time.Hour, time.Minute)
	if len(r.pieces) > 10 {
		t.Errorf("%d pieces are kept", len(r.pieces))
	}

	// One on demand has the runtime for itself, and the ring goes on afterwards; two may overlap.
	one, two := r.Suspend(), r.Suspend()
	if f.w != nil {
		t.Error("not suspended")
	}
	f.pass(r, 20, time.Minute)
	one()
	f.pass(r, 5, time.Minute)
	check("while it is suspended", 25*time.Second+1, 10*time.Second)
	if _, _, err := r.Last(20 * time.Second); err != ErrEmpty {
		t.Errorf("of a time when it was suspended: %v", err)
	}
	two()
	f.pass(r, 11, time.Minute)
	check("after that", 11*time.Second, 10*time.Second)

	// Somebody else's profile is not disturbed.
	r.Tick(0)
	f.taken = true
	f.pass(r, 3, time.Minute)
	if _, _, err := r.Last(time.Second); err != ErrEmpty {
		t.Errorf("while another one is taken: %v", err)
	}
	f.taken = false
	f.pass(r, 3, time.Minute)
	check("after that one", time.Minute, 2*time.Second)
	r.Close()
	if f.w != nil || r.pieces != nil {
		t.Error("it goes on after Close")
	}
	if _, _, err := r.Last(time.Second); err != ErrOff {
		t.Errorf("after Close: %v", err)
	}
}

// The runtime's own profiles: pieces, one on demand between them, and both are read.
func TestRealProfiles(t *testing.T) {
	var r Ring
	defer r.Close()
	r.Tick(time.Minute)
	if p, _, err := r.Last(time.Minute); err != nil || len(p.SampleType) != 2 {
		t.Fatalf("the last minute: %v", err)
	}
	if _, took, err := r.Take(t.Context(), time.Millisecond); err != nil || took < time.Millisecond {
		t.Errorf("on demand: %v after %v", err, took)
	}
	r.Tick(time.Minute)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Take(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
	var other Ring
	r.Tick(time.Minute)
	if _, _, err := other.Take(t.Context(), time.Hour); err != ErrBusy {
		t.Errorf("while another profile is taken: %v", err)
	}
}
