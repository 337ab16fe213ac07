package process

import "time"

// Expiry is the limit of one statement's time.
type Expiry struct {
	entry *Entry
	timer *time.Timer
	at    time.Time
	over  bool // under the lock of the entry
}

// ExpireAfter ends the statement under way, as a KILL QUERY does, when it goes on for d from now. It is paired with Stop.
func (e *Entry) ExpireAfter(d time.Duration) *Expiry {
	x := &Expiry{entry: e, at: time.Now().Add(d)}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expiry = x
	x.timer = time.AfterFunc(d, x.expire)
	return x
}

func (x *Expiry) expire() {
	e := x.entry
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.expiry != x || e.closing {
		return
	}
	x.over = true
	e.killLocked()
}

// Stop ends the limit: from here on the time does not matter. It reports whether it was exceeded.
func (x *Expiry) Stop() (over bool) {
	x.timer.Stop()
	x.entry.mu.Lock()
	defer x.entry.mu.Unlock()
	x.entry.expiry = nil
	return x.over
}

// Expired reports whether the statement under way has exceeded its limit.
func (e *Entry) Expired() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.expiry != nil && e.expiry.over
}

// TimeLeft returns how long the statement under way may still take; limited is false where it has no limit.
func TimeLeft(e *Entry) (left time.Duration, limited bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.expiry == nil {
		return 0, false
	}
	return max(time.Until(e.expiry.at), 0), true
}
