package pool

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults and limits.
const (
	maxWaitersDefault  = 64 << 10
	dialsMaxDefault    = 16
	dialTimeoutDefault = 10 * time.Second
	// aliveAfter is how long a connection must have been idle before it is checked on its way out: servers and
	// firewalls do not close a connection used a moment ago, and a system call per loan would show.
	aliveAfter = time.Second
)

// Conn is what the pool needs of a connection.
type Conn interface {
	comparable
	// Close frees the connection. It must not wait for the other side: the connection holds its slot until it returns.
	Close() error
	// Alive tells without a round trip whether the connection can still be used. It is called on connections that have
	// been idle for more than a second, before they are lent.
	Alive() bool
}

// Config says how to open connections and how many.
type Config[C Conn, K comparable] struct {
	// Dial opens and authenticates one connection, by the deadline at the latest. It is called by the goroutine that
	// wants the connection, without locks held. The connection carries the zero setting.
	Dial func(deadline time.Time) (C, error)
	// Max is the hard ceiling of connections, those being dialled counted; at least 1.
	Max int
	// Limit, unless nil, tells how many connections may be lent at a time, from 1 to Max. It is asked by Open, by the pool's goroutine each
	// [LimitInterval] and by Adapt, with what was used since, and must not use the pool. nil means Max.
	Limit func(Use) int
	// MaxWaiters is how many may wait for a connection, however fast the line moves; 0 means 65536.
	MaxWaiters int
	// DialsMax is how many connections may be dialled at once; 0 means 16. While dials fail it is one at a time.
	DialsMax int
	// DialTimeout bounds one dial, whose deadline is the sooner of this and the borrower's; 0 means 10 s.
	DialTimeout time.Duration
	// IdleTimeout is how long a connection may lie unused; 0 means for ever.
	IdleTimeout time.Duration
	// MaxLifetime is how old a connection may become, ±10 % by lot so that they do not all go at once; 0 means no
	// limit. A connection on loan is closed when it comes back.
	MaxLifetime time.Duration
	// Down tells that nobody may have a connection, nor wait for one, who gets ErrDown instead; nil means that it never is so. It is called under the
	// pool's mutex: it must neither wait nor use the pool.
	Down func() bool
}

// Pooled is a connection with what the pool knows of it. It belongs to the borrower from Get until Put or Taint, and
// must not be touched afterwards: the same Pooled is lent again.
type Pooled[C Conn, K comparable] struct {
	Conn C
	// Key is the setting that the connection carries now, the zero value if none. The borrower updates it after
	// applying another one.
	Key K

	state      state
	generation uint64        // the pool's when the dial began
	expires    time.Duration // on the pool's clock; 0: never
	idleSince  time.Duration // on the pool's clock
	// Rest is how long it was idle before it was lent last; the borrower may read it.
	Rest time.Duration

	newer, older       *Pooled[C, K] // neighbours among all idle ones
	keyNewer, keyOlder *Pooled[C, K] // neighbours among the idle ones with the same Key
}

// state is where a connection is: lent, then idle and lent by turns, at last closing.
type state uint8

const (
	lent state = iota
	idle
	closing
)

// Pool lends connections. Its methods may be called by any goroutine.
type Pool[C Conn, K comparable] struct {
	cfg    Config[C, K]
	start  time.Time // zero of the pool's clock, which is monotonic
	spare  sync.Pool // waiters to be used again, with their timers
	retry  *time.Timer
	stop   chan struct{}
	done   chan struct{} // closed when the goroutine of run has ended
	counts counts

	wanted atomic.Pointer[func()] // that of WhenWanted

	doubted atomic.Int64 // see CheckIdle, on the pool's clock
	shown   atomic.Int32 // see Lent

	mu         sync.Mutex // guards what follows
	max        int
	limit      int // that Config.Limit told; see lendableLocked
	used       Use // since Limit was asked
	open       int // slots taken: idle, lent, dialling and closing connections
	dialling   int // Invariant: ≤ DialsMax
	closing    int
	idle       idleList[C, K]
	evicted    evicted[K]
	queue      queue[C, K]
	pace       pace
	backoff    backoff
	generation uint64
	closed     bool
}

// Open makes a pool and starts its one goroutine, which Close stops. It dials nothing.
func Open[C Conn, K comparable](cfg Config[C, K]) *Pool[C, K] {
	if cfg.MaxWaiters <= 0 {
		cfg.MaxWaiters = maxWaitersDefault
	}
	if cfg.DialsMax <= 0 {
		cfg.DialsMax = dialsMaxDefault
	}
	if cfg.DialTimeout <= 0 {
		cfg.DialTimeout = dialTimeoutDefault
	}
	p := &Pool[C, K]{
		cfg:   cfg,
		start: time.Now(),
		retry: time.NewTimer(time.Hour),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
		max:   max(1, cfg.Max),
		limit: math.MaxInt,
	}
	p.retry.Stop()
	p.spare.New = func() any { return newWaiter[C, K]() }
	p.idle.tops = make(map[K]*Pooled[C, K])
	p.Adapt()
	go p.run()
	return p
}

// now reads the pool's clock.
func (p *Pool[C, K]) now() time.Duration { return time.Since(p.start) }

// request is one Get on its way.
type request struct {
	began, until time.Duration // on the pool's clock
	cancel       <-chan struct{}
	ahead        bool
}

// cancelled tells whether the borrower has given up.
func (r *request) cancelled() bool {
	select {
	case <-r.cancel:
		return true
	default:
		return false
	}
}

// Get borrows a connection, if possible one that carries want: an idle one that does, a clean one, any idle one, a new one, in this order; else
// it waits for its turn. The new one comes before one with another setting where fewer than 64 are idle, all used less than a second ago,
// and one with want was lent to somebody with another setting, one of the last 64 times that this was done. The borrower compares Key with want, applies want if
// they differ, and ends with Put or Taint.
//
// The deadline bounds waiting and dialling; once it has passed, as the zero time always has, only what is idle is
// given. Closing cancel, which may be nil, ends the wait. Errors are [ErrClosed], [ErrDown], [ErrCancelled], a [*CrowdedError] at once where so many
// wait that the deadline would pass, a [*TimeoutError], or a [*DialError] when the connection could not be opened or the last attempts failed, nothing is
// on loan and it is too soon for another.
func (p *Pool[C, K]) Get(want K, deadline time.Time, cancel <-chan struct{}) (*Pooled[C, K], error) {
	return p.get(want, request{began: p.now(), until: deadline.Sub(p.start), cancel: cancel})
}

// GetAhead is Get for a borrower that holds connections of other pools: it waits ahead of those who hold none, and for nothing but Max. The sooner it
// goes on, the sooner what it holds comes back.
func (p *Pool[C, K]) GetAhead(want K, deadline time.Time, cancel <-chan struct{}) (*Pooled[C, K], error) {
	return p.get(want, request{began: p.now(), until: deadline.Sub(p.start), cancel: cancel, ahead: true})
}

func (p *Pool[C, K]) get(want K, r request) (*Pooled[C, K], error) {
	var failed error // why a new connection could not be had; an idle one with another setting will do then
	for {
		now := p.now()
		p.mu.Lock()
		if p.closed || p.downLocked() {
			err := ErrDown
			if p.closed {
				err = ErrClosed
			}
			p.mu.Unlock()
			return nil, p.fail(err, 0)
		}
		room := p.roomLocked(r.ahead)
		mayDial := room && failed == nil && now < r.until && p.queue.len == 0 && p.mayDialLocked(now)
		var pc *Pooled[C, K]
		var how Outcome
		if room {
			pc, how = p.takeIdleLocked(want, mayDial, now)
		}
		switch {
		case pc != nil:
			p.mu.Unlock()
			pc.Rest = now - pc.idleSince
			if p.sound(pc) {
				p.counts.got(how, 0)
				return pc, nil
			}
			p.retire(pc, ClosedDead)
		case failed != nil:
			p.mu.Unlock()
			return nil, p.fail(failed, 0)
		case mayDial:
			s := p.reserveLocked()
			p.mu.Unlock()
			var err error
			if pc, err = p.dial(s, &r); err == nil {
				p.counts.got(Dialled, 0)
				return pc, nil
			}
			failed = err
			if _, dialled := err.(*DialError); !dialled {
				return nil, p.fail(err, 0)
			}
		default:
			w := p.spare.Get().(*waiter[C, K])
			err := p.enqueueLocked(w, &r, now)
			if err == nil {
				w.timer.Reset(r.until - now)
			}
			p.mu.Unlock()
			if err != nil {
				p.spare.Put(w)
				return nil, p.fail(err, 0)
			}
			if f := p.wanted.Load(); f != nil {
				(*f)()
			}
			return p.await(w, &r)
		}
	}
}

// TryGet borrows an idle connection that carries want, or gives nil: it neither waits nor opens one, and does not pass
// those who wait. It ends with Put or Taint. Without one, full tells that Get would wait, too.
func (p *Pool[C, K]) TryGet(want K) (pc *Pooled[C, K], full bool) {
	for {
		now := p.now()
		p.mu.Lock()
		pc := p.idle.tops[want]
		down := p.closed || p.downLocked()
		room := p.roomLocked(false)
		if pc == nil || p.queue.len > 0 || down || !room {
			full := !down && (p.queue.len > 0 || !room || p.idle.len == 0 && p.open >= p.max)
			p.mu.Unlock()
			return nil, full
		}
		p.idle.remove(pc)
		p.lendLocked(pc)
		p.mu.Unlock()
		pc.Rest = now - pc.idleSince
		if p.sound(pc) {
			p.counts.got(Hit, 0)
			return pc, false
		}
		p.retire(pc, ClosedDead)
	}
}

// downLocked tells whether nothing may be lent. It is asked under the mutex: whoever has made it so, and then finds in Stats that nothing is lent nor dialled, knows
// that nobody uses a connection.
func (p *Pool[C, K]) downLocked() bool { return p.cfg.Down != nil && p.cfg.Down() }

// sound tells whether a connection that was idle can be lent.
func (p *Pool[C, K]) sound(pc *Pooled[C, K]) bool {
	return pc.Rest <= aliveAfter && int64(pc.idleSince) > p.doubted.Load() || pc.Conn.Alive()
}

// CheckIdle says that one connection was found dead: those that are idle now are looked at before they are lent, however short a time
// they were idle.
func (p *Pool[C, K]) CheckIdle() { p.doubted.Store(int64(p.now())) }

// Waiters is how many wait for a connection here. It takes no lock: the answer may be a moment old.
func (p *Pool[C, K]) Waiters() int { return int(p.queue.shown.Load()) }

// Lent is how many connections borrowers have. It takes no lock: the answer may be a moment old.
func (p *Pool[C, K]) Lent() int { return int(p.shown.Load()) }

// lendLocked notes that a connection is on loan.
func (p *Pool[C, K]) lendLocked(pc *Pooled[C, K]) {
	pc.state = lent
	p.used.Lent = max(p.used.Lent, int(p.shown.Add(1)))
}

// WhenWanted has f called each time that somebody begins to wait, for a borrower that keeps connections to spare. f must
// neither wait nor use the pool.
func (p *Pool[C, K]) WhenWanted(f func()) { p.wanted.Store(&f) }

// Put gives a connection back in a clean protocol state, with its Key telling the setting it carries. It goes to the
// first waiter, if that may have one, else it stays idle; or it is closed, when the pool is closed, the ceiling was lowered, CloseIdle was
// called since it was opened or its lifetime is over.
func (p *Pool[C, K]) Put(pc *Pooled[C, K]) { p.put(pc, nil) }

// put is Put from a line, which may be nil. A place of the line that is served is not told: it is returned.
func (p *Pool[C, K]) put(pc *Pooled[C, K], l *Line[C, K]) *Place[C, K] {
	now := p.now()
	p.mu.Lock()
	p.mustBeLentLocked(pc)
	if cause, surplus := p.surplusLocked(pc, now); surplus {
		p.markClosingLocked(pc, cause)
		p.mu.Unlock()
		p.finishClose(pc)
		return nil
	}
	w := p.nextLocked(l, now)
	pc.Rest, pc.idleSince = 0, now
	switch {
	case w == nil:
		pc.state = idle
		p.shown.Add(-1)
		p.idle.push(pc)
	case l != nil && w.line == l:
		p.servedLocked(w, now)
		p.mu.Unlock()
		p.counts.got(Waited, now-w.began)
		return w.place
	default:
		p.servedLocked(w, now)
		w.conn = pc
		w.answer()
	}
	p.mu.Unlock()
	return nil
}

// surplusLocked tells whether a connection that comes back is to be closed.
func (p *Pool[C, K]) surplusLocked(pc *Pooled[C, K], now time.Duration) (CloseCause, bool) {
	switch {
	case p.closed, pc.generation != p.generation, p.open-p.closing > p.max:
		return ClosedRetired, true
	case pc.expired(now):
		return ClosedLifetime, true
	}
	return 0, false
}

// mustBeLentLocked stops a borrower that gives back what it no longer has: going on would lend one connection twice.
func (p *Pool[C, K]) mustBeLentLocked(pc *Pooled[C, K]) {
	if pc.state != lent {
		p.mu.Unlock()
		panic("pool: a connection was given back twice")
	}
}

// expired tells whether the connection's lifetime is over.
func (pc *Pooled[C, K]) expired(now time.Duration) bool { return pc.expires != 0 && now >= pc.expires }

// lentLocked is the number of connections that borrowers have.
func (p *Pool[C, K]) lentLocked() int { return p.open - p.idle.len - p.dialling - p.closing }
