package lockwaits

import (
	"crypto/rand"
	"log/slog"
	"maps"
	"sync"
	"time"

	"kingshard/backend"
)

const (
	// After is how long a change waits for a server before the watch is told of it.
	After = 100 * time.Millisecond
	// Servers keep what they say of transactions for a tenth of a second, so that it is no use to ask more often. While nothing new
	// happens they are asked less and less.
	askFirst, askLast = 120 * time.Millisecond, time.Second
	// alone is how long a change that waits alone goes on to, before its servers are asked.
	alone = 200 * time.Millisecond
	// meetMax is how long a server's first answer is waited for.
	meetMax = time.Second
	// deniedFor is how long a server that may not be asked is not asked again.
	deniedFor = time.Minute
)

// Wait is a change of several nodes that waits for one of them. Its fields are set once.
type Wait struct {
	ID    uint32    // of the session
	Began time.Time // the change
	// Instances are the servers that it has, or may have, locks on.
	Instances []*backend.Instance
	// Threads are its connections there, each to the instance at its place.
	Threads []Thread
	// GiveWay ends what the change waits for. It may be called when the change is over, and any number of times. That of another process is
	// nil: the process ends it.
	GiveWay func()

	process string // whose it is
}

// Watch looks for circles among the changes that wait. Zero is ready; any goroutine may use it.
type Watch struct {
	running sync.WaitGroup // those who look and ask
	mu      sync.Mutex
	log     *slog.Logger
	primary func(node string) *backend.Instance
	process string // names this one among those that servers are told of; "" before the first change
	waits   map[*Wait]bool
	changed chan struct{}            // has one when waits have changed; nil while nobody looks
	denied  map[string]time.Time     // by address: until when a server is not asked
	met     map[string]chan struct{} // by address: closed when the server was asked for the first time
}

// Log sets where it is told that servers may not be asked; before it nowhere.
func (w *Watch) Log(log *slog.Logger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = log
}

// Primaries sets how the primaries of nodes are found, nil for none: before it, and where others name nodes otherwise, changes of other processes are
// not known.
func (w *Watch) Primaries(primary func(node string) *backend.Instance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.primary = primary
}

// Close waits until nobody looks or asks any more, for as long as a question may take. No change is in, nor comes.
func (w *Watch) Close() { w.running.Wait() }

// Enter adds a change. It is paired with Leave.
func (w *Watch) Enter(one *Wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waits == nil {
		w.waits, w.process = make(map[*Wait]bool), rand.Text()
	}
	one.process, one.Began = w.process, time.UnixMicro(one.Began.UnixMicro()) // as others are told of it
	w.waits[one] = true
	w.tellLocked()
	if w.changed == nil && (len(w.waits) > 1 || w.primary != nil) { // else one alone waits for somebody who goes on
		w.changed = make(chan struct{}, 1)
		changed := w.changed
		w.running.Go(func() { w.look(changed) })
	}
}

// Leave takes a change out; it need not be in.
func (w *Watch) Leave(one *Wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waits, one)
	w.tellLocked()
}

func (w *Watch) tellLocked() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Blind reports whether one of the servers does not say, or not to the account of its node. One that nobody asked before is asked now,
// which is waited for a second at most.
func (w *Watch) Blind(list []*backend.Instance) (blind bool) {
	for _, i := range list {
		blind = w.blind(i) || blind
	}
	return blind
}

func (w *Watch) blind(i *backend.Instance) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	met := w.met[i.Addr]
	if met == nil {
		met = make(chan struct{})
		if w.met == nil {
			w.met = make(map[string]chan struct{})
		}
		w.met[i.Addr] = met
		w.running.Go(func() {
			a := asker{instance: i}
			no, err := a.ask(make(map[edge]bool))
			a.close()
			w.note(i, no, err)
			close(met)
		})
	}
	select {
	case <-met:
	default:
		w.mu.Unlock()
		select {
		case <-met:
		case <-time.After(meetMax):
		}
		w.mu.Lock()
	}
	_, denied := w.denied[i.Addr]
	return denied
}

// look asks the servers until no change waits, or one of this process alone where those of others are not known.
func (w *Watch) look(changed <-chan struct{}) {
	askers, tellers := make(map[string]*asker), make(map[string]*teller)
	defer func() {
		for _, a := range askers {
			a.close()
		}
		for _, t := range tellers {
			t.stop()
		}
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := askFirst
	known := make(map[*Wait]bool)
	before := make(map[edge]bool)
	var foreign []*Wait
	for first := true; ; first = false {
		<-timer.C
		w.mu.Lock()
		if w.fewLocked() {
			w.changed = nil
			w.mu.Unlock()
			return
		}
		waits := maps.Clone(w.waits)
		w.mu.Unlock()
		if first && len(waits) == 1 {
			w.rest(changed, timer, alone) // most wait for somebody who goes on
			continue
		}
		if pause = min(2*pause, askLast); !maps.Equal(waits, known) {
			pause, known = askFirst, waits
		}
		w.tell(waits, tellers)
		all := maps.Clone(waits)
		for _, one := range foreign {
			all[one] = true
		}
		now, told := w.ask(all, askers)
		// The servers are asked one after the other, each at its own moment: what two rounds found was so in between.
		lasting := make(map[edge]bool)
		threads := make(map[*Wait][]Thread)
		for e := range now {
			if before[e] {
				lasting[e] = true
			}
		}
		for one := range waits {
			threads[one] = one.Threads
		}
		foreign = w.others(told)
		for _, one := range foreign {
			threads[one] = one.Threads
		}
		for _, victim := range victims(lasting, threads) {
			if victim.GiveWay != nil {
				victim.GiveWay()
			}
		}
		before = now
		w.rest(changed, timer, pause)
	}
}

// fewLocked reports whether the changes that wait can be in no circle.
func (w *Watch) fewLocked() bool { return len(w.waits) == 0 || len(w.waits) == 1 && w.primary == nil }

// rest waits until the next round, or until all changes have gone.
func (w *Watch) rest(changed <-chan struct{}, timer *time.Timer, pause time.Duration) {
	timer.Reset(pause)
	short := time.Now().Add(askFirst)
	for {
		select {
		case <-changed:
			w.mu.Lock()
			few := w.fewLocked()
			w.mu.Unlock()
			if few {
				timer.Reset(0)
				return
			}
			timer.Reset(max(0, min(time.Until(short), pause))) // somebody new
		case <-timer.C:
			timer.Reset(0)
			return
		}
	}
}

// ask gives the edges that the servers of the changes tell of, and what other processes have told them.
func (w *Watch) ask(waits map[*Wait]bool, askers map[string]*asker) (edges map[edge]bool, told map[string]bool) {
	now := time.Now()
	for one := range waits {
		for _, i := range one.Instances {
			if askers[i.Addr] == nil {
				askers[i.Addr] = &asker{instance: i}
			}
		}
	}
	edges, told = make(map[edge]bool), make(map[string]bool)
	var mu sync.Mutex
	var running sync.WaitGroup
	for addr, a := range askers {
		w.mu.Lock()
		until, denied := w.denied[addr]
		w.mu.Unlock()
		if denied && now.Before(until) {
			continue
		}
		running.Go(func() {
			found := make(map[edge]bool)
			no, err := a.ask(found)
			if err == nil {
				texts := a.told()
				mu.Lock()
				maps.Copy(edges, found)
				for _, text := range texts {
					told[text] = true
				}
				mu.Unlock()
			}
			w.note(a.instance, no, err)
		})
	}
	running.Wait()
	return edges, told
}

// note keeps whether a server may be asked.
func (w *Watch) note(i *backend.Instance, denied bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, was := w.denied[i.Addr]
	switch {
	case denied:
		if w.denied == nil {
			w.denied = make(map[string]time.Time)
		}
		w.denied[i.Addr] = time.Now().Add(deniedFor)
		if !was && w.log != nil {
			w.log.Warn("the server does not say who waits for whose row locks: changes of several nodes that cannot keep their order wait for them a second at most, and begin anew",
				"node", i.Node, "instance", i.Addr, "needs", "PROCESS, in MySQL 8 and later SELECT on performance_schema, too", "error", err)
		}
	case err == nil && was:
		delete(w.denied, i.Addr)
	}
}
