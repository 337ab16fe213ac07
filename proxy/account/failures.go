package account

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

const (
	// failuresFree is how many failures of an address are answered at once: people mistype.
	failuresFree = 2
	// delayLeast is the delay of the first answer after them; each further one waits twice as long as the one before.
	delayLeast = 100 * time.Millisecond
	// failuresAbreast is how many logins of an address may fail side by side, each with its delay, before its passwords are looked at in turn.
	failuresAbreast = 4
	// turnEach is the time between two looks at passwords that are taken in turn, turnMost the longest that one waits for its look.
	turnEach = 50 * time.Millisecond
	turnMost = 5 * time.Second
	// inTurnMost bounds for how long what an address has done until now has its passwords looked at in turn.
	inTurnMost = 5 * time.Minute
	// failuresKept is how long an address is remembered after its last failure.
	failuresKept = 10 * time.Minute
	// sourcesMax bounds the addresses that are remembered, goodMax the good logins, heldMost the answers that wait at one time.
	sourcesMax = 4096
	goodMax    = 4096
	heldMost   = 256
)

// Failures remembers logins that failed, by the address that they came from, so that passwords cannot be tried fast: the answers to
// further failures are delayed, ever longer, and of an address that fails at many connections at once passwords are looked at one after the
// other. Who has the password is let in, whoever else fails: a good login is never delayed beyond its turn, and that of a user who
// logged in from there before has no turn to wait for. Users are not what failures go by, so that nobody can shut out a user who comes
// from elsewhere. Zero is ready; any goroutine may use it.
type Failures struct {
	mu      sync.Mutex
	sources map[netip.Prefix]*source
	good    map[origin]struct{}
	held    int
	counts  FailureCounts
	lines   lines

	now  func() time.Time // nil: time.Now
	seed maphash.Seed     // of the names of users
}

// origin is a user who logged in, and from where; the user is a hash of the name.
type origin struct {
	from netip.Prefix
	user uint64
}

// source is an address whose logins failed.
type source struct {
	failures int
	last     time.Time
	// due is when all its failures would be over if only so many as may be had been side by side.
	due time.Time
	// turn is when the next password is looked at, if they are looked at in turn.
	turn time.Time
	// user is a hash of the name that all the failures were for; several says that there were others.
	user    uint64
	several bool
	lines   lines
}

// FailureCounts are those of Failures.
type FailureCounts struct {
	Failed, Delayed, Queued, Refused uint64 // since the start
	Held, Sources                    int    // answers that wait now, addresses remembered
}

// prefix is what an address is remembered by: all of an IPv4 address, the network of an IPv6 one, whose hosts choose the rest. One over a
// unix socket has none: everybody there would be the same.
func prefix(addr netip.Addr) (netip.Prefix, bool) {
	if !addr.IsValid() {
		return netip.Prefix{}, false
	}
	bits := 64
	if addr = addr.Unmap().WithZone(""); addr.Is4() {
		bits = 32
	}
	p, err := addr.Prefix(bits)
	return p, err == nil
}

func (f *Failures) time() time.Time {
	if f.now == nil {
		return time.Now()
	}
	return f.now()
}

// Turn tells how long a login from addr is to wait before its password is looked at; ok is false, and counted, when too many wait
// already. most is the longest delay of an answer; 0: there are none, nor turns.
func (f *Failures) Turn(addr netip.Addr, user string, most time.Duration) (wait time.Duration, ok bool) {
	p, known := prefix(addr)
	if !known || most == 0 {
		return 0, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s, now := f.sources[p], f.time()
	if s == nil || s.due.Sub(now) <= most {
		return 0, true
	}
	if _, before := f.good[origin{p, f.hash(user)}]; before {
		return 0, true
	}
	if s.turn.Before(now) {
		s.turn = now
	}
	if wait = s.turn.Sub(now); wait > turnMost {
		f.counts.Refused++
		return 0, false
	}
	f.counts.Queued++
	s.turn = s.turn.Add(turnEach)
	return wait, true
}

// Failed counts a login that failed, and tells how long its answer is to wait, up to most.
func (f *Failures) Failed(addr netip.Addr, user string, most time.Duration) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts.Failed++
	p, ok := prefix(addr)
	if !ok || most == 0 {
		return 0
	}
	now := f.time()
	s := f.sources[p]
	if s != nil && now.Sub(s.last) >= failuresKept && !s.due.After(now) {
		s = nil
	}
	name := f.hash(user)
	if s == nil {
		if f.sources == nil {
			f.sources = make(map[netip.Prefix]*source)
		}
		f.roomLocked(now)
		s = &source{user: name}
		f.sources[p] = s
	}
	s.failures, s.last = s.failures+1, now
	s.several = s.several || s.user != name
	var delay time.Duration
	if n := s.failures - failuresFree; n > 0 {
		delay = min(delayLeast<<min(n-1, 20), most)
	}
	if s.due.Before(now) {
		s.due = now
	}
	if s.due = s.due.Add(max(delay, min(delayLeast, most)) / failuresAbreast); s.due.Sub(now) > inTurnMost {
		s.due = now.Add(inTurnMost)
	}
	return delay
}

// Good remembers that the user has logged in from an address, and forgets the failures there if they were all that user's.
func (f *Failures) Good(addr netip.Addr, user string) {
	p, ok := prefix(addr)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o := origin{p, f.hash(user)}
	if _, before := f.good[o]; !before {
		if f.good == nil {
			f.good = make(map[origin]struct{})
		}
		for old := range f.good { // in an order that nobody outside can choose
			if len(f.good) < goodMax {
				break
			}
			delete(f.good, old)
		}
		f.good[o] = struct{}{}
	}
	if s := f.sources[p]; s != nil && !s.several && s.user == o.user {
		delete(f.sources, p)
	}
}

// Hold counts an answer that waits; ok is false when too many do, and the answer goes at once: what an address may try is bounded
// all the same. Each ok is paired with Release.
func (f *Failures) Hold() (ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held >= heldMost {
		return false
	}
	f.held++
	f.counts.Delayed++
	return true
}

// Release ends what Hold began.
func (f *Failures) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held--
}

// Counts gives the counts.
func (f *Failures) Counts() FailureCounts {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.counts
	c.Held, c.Sources = f.held, len(f.sources)
	return c
}

// hash stands for a user's name, which may be long.
func (f *Failures) hash(user string) uint64 {
	if f.seed == (maphash.Seed{}) {
		f.seed = maphash.MakeSeed()
	}
	return maphash.String(f.seed, user)
}

// roomLocked makes room for one more address: those that are over go, and if that does not help, one that failed long ago among a few.
func (f *Failures) roomLocked(now time.Time) {
	if len(f.sources) < sourcesMax {
		return
	}
	var oldest netip.Prefix
	var last time.Time
	seen := 0
	for p, s := range f.sources { // in an order that nobody outside can choose
		if seen++; last.IsZero() || s.last.Before(last) {
			oldest, last = p, s.last
		}
		if seen == 16 || now.Sub(last) >= failuresKept {
			break
		}
	}
	delete(f.sources, oldest)
}
