package session

import (
	"slices"
	"sync"
)

// firstID is the first connection id given out; the predecessor began there too.
const firstID = 10001

// Registry knows the sessions by connection id. Used when sessions begin, end, are listed or killed, never by a query.
type Registry struct {
	mu     sync.Mutex
	byID   map[uint32]*Session
	nextID uint32
}

// add gives the session its id: ids run on and are not used again while their session lives.
func (r *Registry) add(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[uint32]*Session)
		r.nextID = firstID
	}
	for r.byID[r.nextID] != nil || r.nextID == 0 {
		r.nextID++
	}
	s.id = r.nextID
	r.byID[s.id] = s
	r.nextID++
}

func (r *Registry) remove(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, s.id)
}

// Get finds a session; nil if there is none with that id.
func (r *Registry) Get(id uint32) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

// Len is the number of sessions, those still logging in included.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID)
}

// All lists the sessions by id.
func (r *Registry) All() []*Session {
	r.mu.Lock()
	all := make([]*Session, 0, len(r.byID))
	for _, s := range r.byID {
		all = append(all, s)
	}
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *Session) int { return int(int64(a.id) - int64(b.id)) })
	return all
}
