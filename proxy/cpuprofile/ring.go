// Package cpuprofile takes CPU profiles of the process: of the seconds to come and, as far as a [Ring] keeps them, of those that went by.
package cpuprofile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/google/pprof/profile"
)

// PieceLength is how long each of the profiles is that a Ring keeps.
const PieceLength = 10 * time.Second

// What a Ring cannot give.
var (
	ErrOff   = errors.New("no profile of what went by is kept: set continuous_profile")
	ErrEmpty = errors.New("nothing has been kept yet")
	ErrBusy  = errors.New("another CPU profile is being taken")
)

// Ring keeps profiles of the last while, one after the other, while it is told to. Zero keeps nothing. The runtime takes one CPU profile
// at a time: one on demand suspends the ring. Any goroutine may use it.
type Ring struct {
	mu     sync.Mutex
	keep   time.Duration // 0: nothing
	pieces []piece       // the oldest first
	// under is the piece under way, which began at began; nil: there is none.
	under *bytes.Buffer
	began time.Time
	// demanded is how many profiles on demand suspend the ring.
	demanded int

	clock clock
}

// piece is a profile, packed as the runtime gives it.
type piece struct {
	data       []byte
	began, end time.Time
}

// clock is the runtime's, but in tests.
type clock struct {
	now   func() time.Time
	start func(w io.Writer) error
	stop  func()
}

// real gives the clock; the caller holds mu.
func (r *Ring) real() *clock {
	if r.clock.now == nil {
		r.clock = clock{time.Now, pprof.StartCPUProfile, pprof.StopCPUProfile}
	}
	return &r.clock
}

// Tick is called about every second, by one goroutine, with how much of the past is to be kept: 0 is nothing, and costs nothing.
func (r *Ring) Tick(keep time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = keep
	now := r.real().now()
	switch {
	case keep == 0:
		r.endLocked()
		r.pieces = nil
	case r.demanded > 0:
	case r.under == nil || now.Sub(r.began) >= PieceLength:
		r.endLocked()
		r.beginLocked()
	}
	r.forgetLocked(now)
}

// Close ends what Tick began. The ring keeps nothing then.
func (r *Ring) Close() { r.Tick(0) }

// beginLocked begins a piece, unless somebody else takes a profile: then the next Tick tries again.
func (r *Ring) beginLocked() {
	b := new(bytes.Buffer)
	if r.real().start(b) == nil {
		r.under, r.began = b, r.clock.now()
	}
}

// endLocked ends the piece under way and keeps it. It takes up to a fifth of a second.
func (r *Ring) endLocked() {
	if r.under == nil {
		return
	}
	r.clock.stop()
	r.pieces = append(r.pieces, piece{bytes.Clone(r.under.Bytes()), r.began, r.clock.now()})
	r.under = nil
}

// forgetLocked drops what is too old.
func (r *Ring) forgetLocked(now time.Time) {
	k := 0
	for k < len(r.pieces) && now.Sub(r.pieces[k].end) >= r.keep {
		k++
	}
	r.pieces = append(r.pieces[:0:0], r.pieces[k:]...)
}

// Suspend ends the piece under way and begins no other until resume is called: somebody takes a profile on demand.
func (r *Ring) Suspend() (resume func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLocked()
	r.demanded++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.demanded--
	}
}

// Take takes a profile of the seconds to come, d of them or until ctx ends, which is an error. It tells how long that took.
func (r *Ring) Take(ctx context.Context, d time.Duration) (*profile.Profile, time.Duration, error) {
	defer r.Suspend()()
	var b bytes.Buffer
	if pprof.StartCPUProfile(&b) != nil {
		return nil, 0, ErrBusy
	}
	began := time.Now()
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-end.C:
	case <-ctx.Done():
	}
	took := time.Since(began)
	pprof.StopCPUProfile()
	if ctx.Err() != nil {
		return nil, 0, fmt.Errorf("nobody waited for the profile: %w", ctx.Err())
	}
	p, err := profile.Parse(&b)
	return p, took, err
}

// Last gives a profile of the last d, in whole pieces, and tells how much time they cover: less than d where the ring does not reach
// that far or was suspended, and up to PieceLength more.
func (r *Ring) Last(d time.Duration) (*profile.Profile, time.Duration, error) {
	pieces, err := r.last(d)
	if err != nil {
		return nil, 0, err
	}
	var covers time.Duration
	profiles := make([]*profile.Profile, 0, len(pieces))
	for _, one := range pieces {
		p, err := profile.ParseData(one.data)
		if err != nil {
			return nil, 0, err
		}
		profiles = append(profiles, p)
		covers += one.end.Sub(one.began)
	}
	p, err := profile.Merge(profiles)
	return p, covers, err
}

// last gives the pieces of the last d, the one under way included.
func (r *Ring) last(d time.Duration) ([]piece, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keep == 0 {
		return nil, ErrOff
	}
	now := r.real().now()
	if r.under != nil {
		r.endLocked()
		if r.demanded == 0 {
			r.beginLocked()
		}
	}
	k := len(r.pieces)
	for k > 0 && now.Sub(r.pieces[k-1].end) < d {
		k--
	}
	if k == len(r.pieces) {
		return nil, ErrEmpty
	}
	return append([]piece(nil), r.pieces[k:]...), nil
}
