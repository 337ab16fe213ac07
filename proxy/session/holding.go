package session

import (
	"slices"
	"time"

	"kingshard/backend"
)

// Holding is what a session holds of servers' connections and what it waits for.
type Holding struct {
	ID             uint32
	User, Host, DB string
	// Seconds since the command began, or since the session idles.
	Seconds int
	// Wants is the instance that it waits for a connection to; nil: it waits for none. HeldUp says that it waits for the end of a
	// pause.
	Wants  *backend.Instance
	HeldUp bool
	// Keeps are the instances of the connections that it keeps beyond a statement, Uses those that its statement has; one for each
	// connection.
	Keeps, Uses []*backend.Instance
	// InTransaction and Pins are why it keeps them.
	InTransaction bool
	Pins          string
}

// Holdings lists the sessions that hold connections or wait, by id.
func (sh *Shared) Holdings() (list []Holding) {
	waits := sh.holdWaits.holds()
	for _, s := range sh.Sessions.All() {
		h := s.holdingNow()
		if holds, waiting := waits[h.ID]; waiting && h.Wants != nil {
			// The detector of deadlocks knows of loans that are not complete yet.
			for _, i := range h.Keeps {
				if k := slices.Index(holds, i); k >= 0 {
					holds = slices.Delete(holds, k, k+1)
				}
			}
			h.Uses = holds
		}
		if h.Wants != nil || h.HeldUp || len(h.Keeps) > 0 || len(h.Uses) > 0 {
			list = append(list, h)
		}
	}
	return list
}

// holdingNow tells what others may know of it: what it keeps is that of the last moment between two commands.
func (s *Session) holdingNow() Holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := Holding{
		ID: s.id, User: s.user, Host: s.host(), DB: s.db, Seconds: int(time.Since(s.since).Seconds()),
		Wants: s.wants.Load(), HeldUp: s.heldUp, Pins: s.keeps.String(),
	}
	if s.kept != nil {
		h.Keeps = append([]*backend.Instance{s.kept}, s.keptOthers...)
		h.InTransaction = s.inTx
	}
	use := func(i *backend.Instance) {
		if !slices.Contains(h.Keeps, i) {
			h.Uses = append(h.Uses, i)
		}
	}
	if s.running.Pooled != nil {
		use(s.running.Instance)
	}
	for _, l := range s.parallel {
		use(l.Instance)
	}
	return h
}

// holds gives the connections of the sessions that hold some and have waited for a further one for some time, by session.
func (h *holdWaits) holds() map[uint32][]*backend.Instance {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[uint32][]*backend.Instance, len(h.list))
	for w := range h.list {
		all[w.session] = slices.Clone(w.holds)
	}
	return all
}
