package process

import "kingshard/backend"

// several is what an entry knows of a session that uses several connections at a time, or has done so: most never do.
type several struct {
	conns   []backend.Pooled // those of the statement under way
	rowWait *rowWait         // that of a statement that may wait for row locks on several nodes; else nil
	// others are those that the transaction kept reads from beside its first one.
	others []*backend.Instance
	goesOn bool // the statement does though the client has gone
	// whole are the connections of a transaction over several nodes that is open; gaveUp says that they were closed.
	whole  []backend.Pooled
	gaveUp bool
}

// severalLocked returns e's several, which it has from the first use on.
func (e *Entry) severalLocked() *several {
	if e.several == nil {
		e.several = new(several)
	}
	return e.several
}

// Publish lets KILL reach the connections of a statement on several shards, of which nothing has been sent yet. It is false when the session,
// or the statement, was ended before. conns is copied.
func (e *Entry) Publish(conns []backend.Pooled) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing || e.killed {
		return false
	}
	v := e.severalLocked()
	v.conns, v.goesOn = append(v.conns[:0], conns...), false
	return true
}

// Published reports whether there are connections that Publish was called with and Unpublish was not. It is the session's.
func (e *Entry) Published() bool { return len(e.several.published()) > 0 }

func (v *several) published() []backend.Pooled {
	if v == nil {
		return nil
	}
	return v.conns
}

// Unpublish ends what Publish and WatchRowLocks began and reports whether a KILL was sent.
func (e *Entry) Unpublish() (killed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.several != nil {
		e.several.unpublish()
	}
	return e.killed
}

func (v *several) unpublish() {
	clear(v.conns) // they are others' now
	v.conns = v.conns[:0]
	v.endRowWait()
}

// GoOn has the statement that was published go on to its end though the client may go.
func (e *Entry) GoOn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.severalLocked().goesOn = true
}

// keep notes what a transaction keeps: the instances of the connections beside its first one, and all connections of one over several nodes.
func (v *several) keep(beside map[string]backend.Pooled, whole []backend.Pooled) {
	clear(v.others)
	v.others = v.others[:0]
	for _, p := range beside {
		v.others = append(v.others, p.Instance)
	}
	clear(v.whole) // they may be others' now
	v.whole = append(v.whole[:0], whole...)
	v.gaveUp = v.gaveUp && len(whole) > 0
}

// giveUp closes the connections of a transaction over several nodes, if one is open, so that their servers roll it back. It reports whether it did.
func (v *several) giveUp() bool {
	if len(v.whole) == 0 || v.gaveUp {
		return false
	}
	for _, p := range v.whole {
		p.Conn.Close()
	}
	v.gaveUp = true
	return true
}

// GaveUp reports whether the session's transaction over several nodes was ended as it idled: its connections are closed. It is the session's.
func (e *Entry) GaveUp() bool {
	if e.several == nil { // which it has from its own commands on
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.several.gaveUp
}
