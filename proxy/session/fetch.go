package session

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
)

// fetchesMax is how many connections are opened at once for a line.
const fetchesMax = 8

// fetched is what came of asking the pool for a connection on behalf of those in line at a shelf.
type fetched struct {
	shelf *shelf
	p     backend.Pooled
	err   error
}

func (f *fetched) giveBack() {
	if f.err == nil {
		f.p.Put()
	}
}

// fetch sees to it that n goroutines ask the pool for a connection each: wait for it among others, open it, give it the
// setting. Those in line stay there meanwhile, for another may come back sooner.
func (sh *shelf) fetch(n int) {
	for sh.fetching < n {
		patience := sh.line[0].snap.Config.PoolWaitTimeout.Duration()
		sh.asked = sh.h.now
		sh.fetching++
		sh.key.instance.Lined(-1) // who counts among those who wait at the pool
		log := sh.line[0].shared.Log
		sh.h.lanes.running.Go(func() { sh.h.deliver(sh.get(patience, log)) })
	}
}

// get asks the pool. A panic concerns nobody but those in line.
func (sh *shelf) get(patience time.Duration, log *slog.Logger) (f fetched) {
	f.shelf = sh
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic while a connection was fetched", "panic", r, "stack", string(debug.Stack()))
			f.err = fmt.Errorf("panic: %v", r)
		}
	}()
	f.p, f.err = sh.key.instance.Get(sh.key.setting, time.Now().Add(patience), sh.h.lanes.stop)
	return f
}

// deliver gives the loop what was fetched.
func (h *shelves) deliver(f fetched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		f.giveBack()
		return
	}
	h.fetched = append(h.fetched, f)
	h.loop.Poke()
}

// receive takes what was fetched.
func (h *shelves) receive() {
	h.mu.Lock()
	list := h.fetched
	h.fetched = nil
	h.mu.Unlock()
	for _, f := range list {
		f.shelf.receive(f)
	}
}

func (sh *shelf) receive(f fetched) {
	sh.fetching--
	instance := sh.key.instance
	instance.Lined(1)
	var dial *pool.DialError
	switch {
	case errors.Is(f.err, pool.ErrTimeout), errors.Is(f.err, pool.ErrTooManyWaiters), errors.As(f.err, &dial) && sh.out > 0:
		return // those in line wait on; when their time is over is seen to in Tick
	case f.err != nil:
		sh.dissolve() // each hears of the error, or finds another instance
	case f.p.Instance != instance, instance.State() == backend.Down:
		f.p.Put() // a reload has put another in its place, or it is not to be used
		sh.dissolve()
	case len(sh.line) == 0:
		f.p.Put()
	default:
		le := sh.borrow(f.p)
		if le == nil {
			sh.dissolve()
			return
		}
		sh.out++
		le.used = sh.h.now
		sh.credit = len(sh.line) // the fetch waited its turn for all of them
		sh.serve(le)
	}
	sh.settle()
}
