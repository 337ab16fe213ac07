package session

import (
	"errors"
	"time"

	"kingshard/backend"
	"kingshard/backend/pool"
)

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

// fetch has a goroutine ask the pool for one connection: wait for it among others, open it, give it the setting. Those in
// line stay there meanwhile, for another may come back sooner.
func (sh *shelf) fetch() {
	if sh.fetching {
		return
	}
	h, patience := sh.h, sh.line[0].snap.Config.PoolWaitTimeout.Duration()
	sh.fetching, sh.asked = true, h.now
	sh.key.instance.Lined(-1) // who counts among those who wait at the pool
	h.lanes.running.Go(func() {
		p, err := sh.key.instance.Get(sh.key.setting, time.Now().Add(patience), h.lanes.stop)
		h.deliver(fetched{sh, p, err})
	})
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
	sh.fetching = false
	sh.key.instance.Lined(1)
	switch {
	case errors.Is(f.err, pool.ErrTimeout), errors.Is(f.err, pool.ErrTooManyWaiters):
		// Those in line wait on. Whose time is over is seen to in Tick.
	case f.err != nil:
		sh.dissolve() // each hears of the error, or finds another instance
	case f.p.Instance != sh.key.instance:
		f.p.Put() // a reload has put it in the place of the old one
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
		sh.serve(le)
	}
	sh.settle()
}
