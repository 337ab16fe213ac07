package process

// interruptedBefore is what Cancelled gives those who ask too late.
var interruptedBefore = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Cancelled returns a channel that is closed to end the session's wait for whatever it is: by a KILL, or when the session is closed.
func (e *Entry) Cancelled() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel == nil {
		e.cancel = make(chan struct{})
	}
	return e.cancel
}

// IsCancelled reports whether the channel of Cancelled is closed.
func (e *Entry) IsCancelled() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cancel != nil && isClosed(e.cancel)
}

// interruptLocked ends the session's wait.
func (e *Entry) interruptLocked() {
	switch {
	case e.cancel == nil:
		e.cancel = interruptedBefore
	case !isClosed(e.cancel):
		close(e.cancel)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Victim is a session's wait that may have to end so that others go on, as they wait for what the session holds. Zero is a wait that goes on.
type Victim struct {
	chosen, over bool // under the lock of the entry
}

// GiveWay ends the session's wait, unless it is over.
func (e *Entry) GiveWay(v *Victim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if v.over {
		return
	}
	v.chosen = true
	e.interruptLocked()
}

// GaveWay ends what v is about and reports whether it was GiveWay that ended the session's wait: then the session can wait anew. If it was
// killed or closed, too, it cannot.
func (e *Entry) GaveWay(v *Victim) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	v.over = true
	if !v.chosen || e.killed || e.closing {
		return false
	}
	e.cancel = nil
	return true
}
