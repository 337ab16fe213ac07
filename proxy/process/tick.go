package process

import "time"

// RateMin is what a client must take of its answer in bytes per second, over the time of a stall. One that takes a byte now and then holds a
// server's connection as one does that takes none.
const RateMin = 128

// stall watches a client that does not read, or sends nothing of its file: what its connection had moved so many seconds ago.
type stall struct{ at, seconds uint32 }

// SetWaitTimeout notes how many seconds the client itself wants to be allowed to idle; 0: as long as all.
func (e *Entry) SetWaitTimeout(seconds uint32) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waitTimeout = seconds
}

// Limits are for how long clients may do nothing.
type Limits struct {
	Idle        time.Duration // without a command; 0: for ever
	Transaction time.Duration // likewise, with a transaction over several nodes open
	Stall       time.Duration // without taking anything of an answer, or sending anything of a file
}

// Tick is called every second: it ends a session that idles for longer than it may, or whose client takes less of its answer than RateMin, or
// sends nothing of its file, and one whose client vanished during a statement of a transaction or over several shards. A transaction over
// several nodes that idles it ends on the servers, and the session hears so from GaveUp. What has to wait for a server it has run by spawn,
// which does not wait.
func (e *Entry) Tick(limits Limits, spawn func(func())) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing && e.busy && e.killed {
		spawn(e.InterruptAgain) // a statement over several shards sends many to the servers
	}
	if e.closing || !e.loggedIn {
		return
	}
	if !e.busy {
		e.stall.seconds = 0
		idle := limits.Idle
		if own := time.Duration(e.waitTimeout) * time.Second; own > 0 && (idle <= 0 || own < idle) {
			idle = own
		}
		if idle > 0 && time.Since(e.since) > idle {
			e.closeLocked(EndIdle)
		} else if e.several != nil && limits.Transaction > 0 && time.Since(e.since) > limits.Transaction && e.several.giveUp() {
			e.kept.inTx = false // nothing that a drain waits for
			e.log.Warn("a transaction over several nodes idled for too long, and is rolled back", "conn", e.id, "user", e.user, "after", limits.Transaction)
		}
		return
	}
	if e.killed {
		// The server may not have begun the statement when it was told to end it: KILL QUERY does nothing to a connection
		// that waits for a command.
		spawn(e.InterruptAgain)
	}
	if (e.kept.inTx || len(e.several.published()) > 0 && !e.several.goesOn) && e.client.PeerGone() {
		// What the statement does would be rolled back in the end; until then its transaction keeps locks from others. A
		// statement of its own goes on to its end, as on a server; not one over several shards, which no server has.
		spawn(e.abandon)
		return
	}
	enough := uint64(RateMin * limits.Stall / time.Second)
	if e.uploading {
		enough = 1
	}
	moved, writing := e.client.Progress()
	if uint64(moved-e.stall.at) >= enough || !writing && !e.uploading {
		e.stall.at, e.stall.seconds = moved, 0
		return
	}
	if e.stall.seconds++; time.Duration(e.stall.seconds)*time.Second > limits.Stall {
		e.closeLocked(EndStalled)
	}
}
