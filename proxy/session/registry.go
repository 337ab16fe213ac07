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

// place gives a session that comes from another process the id that it had there; false if that is another session's by now.
func (r *Registry) place(s *Session, id uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[uint32]*Session)
		r.nextID = firstID
	}
	if r.byID[id] != nil {
		return false
	}
	s.id = id
	r.byID[id] = s
	return true
}

// NextID is the id that the next session gets at the least.
func (r *Registry) NextID() uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(r.nextID, firstID)
}

// GoOnFrom makes id the next one, before the first session.
func (r *Registry) GoOnFrom(id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[uint32]*Session)
	}
	r.nextID = id
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

// AppendTo appends the sessions to list, in no order.
func (r *Registry) AppendTo(list []*Session) []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	list = slices.Grow(list, len(r.byID))
	for _, s := range r.byID {
		list = append(list, s)
	}
	return list
}

// All lists the sessions by id.
func (r *Registry) All() []*Session {
	all := r.AppendTo(nil)
	slices.SortFunc(all, func(a, b *Session) int { return int(int64(a.id) - int64(b.id)) })
	return all
}
