package process

import (
	"time"

	"kingshard/backend"
)

// KillTimeout bounds the side connection that ends a statement on a backend.
const KillTimeout = 3 * time.Second

// SetRunning notes the connection that the statement runs on, for KILL. It is false when somebody has closed the session: nothing may be sent
// then.
func (e *Entry) SetRunning(p backend.Pooled) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return false
	}
	e.running = p
	return true
}

// SetRunningUnsent notes that a statement of which nothing has been sent yet is to run on p, for KILL to end it. It returns false where the session was killed, and after a KILL QUERY, too, as there is
// nothing to tell the server.
func (e *Entry) SetRunningUnsent(p backend.Pooled) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing || e.killed {
		return false
	}
	e.running = p
	return true
}

// Running returns the connection that SetRunning was called with last, if TakeRunning was not called since. It is the session's.
func (e *Entry) Running() backend.Pooled { return e.running }

// TakeRunning ends what SetRunning began and reports whether a KILL was sent to the connection meanwhile: it may still be on its way, so the
// connection must not go to anybody else.
func (e *Entry) TakeRunning() (killed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = backend.Pooled{}
	return e.killed
}

// TryTake is TakeRunning and Unpublish for an event loop. A KILL holds the lock until the servers have heard of it, for which a loop cannot
// wait: ok is false then, and nothing has changed.
func (e *Entry) TryTake() (killed, ok bool) {
	if !e.mu.TryLock() {
		return false, false
	}
	defer e.mu.Unlock()
	e.running = backend.Pooled{}
	if e.several != nil {
		e.several.unpublish()
	}
	return e.killed, true
}

// TryCover is TryTake, which is false after a KILL has been told to a server, too.
func (e *Entry) TryCover() bool {
	killed, ok := e.TryTake()
	return ok && !killed
}

// Interrupt ends the statement that the session runs, on its servers too; with connection the session as well. It returns when the servers
// have been told. False says that another process has the session.
func (e *Entry) Interrupt(connection bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.moved {
		return false
	}
	if e.busy {
		e.killLocked()
	}
	if connection {
		e.closeLocked(EndKilled)
	}
	return true
}

// killLocked ends the statement under way.
func (e *Entry) killLocked() {
	e.interruptLocked()
	e.killed = true
	e.killRunning()
}

// InterruptAgain tells the servers of a statement that goes on once more what a KILL, if there was one, told them.
func (e *Entry) InterruptAgain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.killed {
		e.killRunning()
	}
}

// abandon ends a session whose client vanished.
func (e *Entry) abandon() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return
	}
	e.killed = true
	e.closeLocked(EndClientGone)
	e.killRunning()
}

// killRunning ends the statement on its servers. The caller holds the lock until they have answered: no connection can pass
// on to another session meanwhile.
func (e *Entry) killRunning() {
	if e.running.Pooled != nil {
		e.killOn(e.running)
	}
	for _, p := range e.several.published() {
		if p.Pooled != e.running.Pooled { // a second one would end the next statement
			e.killOn(p)
		}
	}
}

// KillOn ends the statement that runs on a connection, as a KILL QUERY of the session does.
func (e *Entry) KillOn(p backend.Pooled) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.killOn(p)
}

func (e *Entry) killOn(p backend.Pooled) {
	if err := p.Instance.Kill(p.Conn, false, time.Now().Add(KillTimeout)); err != nil {
		e.log.Warn("KILL QUERY failed", "conn", e.id, "instance", p.Instance.Addr, "error", err)
		p.Conn.Close()
	}
}
