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
