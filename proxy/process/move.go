package process

// The values of Entry.reads.
const (
	readsNot    uint32 = iota // something of a command has come, or a loop waits for it
	readsIdle                 // a goroutine waits for the client
	readsCalled               // and was called away from that
)

// BeginAwait notes that the goroutine of the session begins to wait for the client's next command; EndAwait follows. They are the session's.
func (e *Entry) BeginAwait() { e.reads.Store(readsIdle) }

// EndAwait ends the wait for the client. called says that somebody has asked the session to move meanwhile, by CallAway of the client, which
// has returned by now; closing that the session is to end.
func (e *Entry) EndAwait() (called, closing bool) {
	if e.reads.Swap(readsNot) != readsCalled {
		return false, false
	}
	e.mu.Lock() // until CallAway has returned
	defer e.mu.Unlock()
	return true, e.closing
}

// CallToMove asks an idle session that can move to another process to do so: it ends its wait for the client. Others do it by themselves
// after the command under way.
func (e *Entry) CallToMove() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing || !e.loggedIn || e.busy || e.kept.inTx || e.kept.pins != 0 || e.stays {
		return
	}
	e.client.CallAway(e.reads.CompareAndSwap(readsIdle, readsCalled))
}

// Move calls give, which gives the session to another process, unless the session is closing, and returns what it says: gone, that the
// session is not this process's any more, for better or worse; stays, that it is not to be asked again. A KILL waits until it is clear whose
// session it is. It is the session's, between two commands.
func (e *Entry) Move(give func() (gone, stays bool)) (gone bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return false
	}
	gone, e.stays = give()
	e.moved = gone && !e.stays
	return gone
}

// SwapClient calls swap, which puts another network connection under the client's, unless the session is closing: others close it at any
// moment. It is for sessions that an event loop takes, which swap reports, between two commands.
func (e *Entry) SwapClient(swap func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing || !swap() {
		return
	}
	if e.cancel != nil && !isClosed(e.cancel) {
		e.cancel = nil // most sessions of a loop never wait again
	}
}
