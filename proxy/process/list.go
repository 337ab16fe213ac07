package process

import (
	"cmp"
	"slices"
	"sync"

	"kingshard/backend"
)

// firstID is the first connection id given out; the predecessor began there too.
const firstID = 10001

// List knows the sessions' entries by connection id. It is used when sessions begin, end, are listed or killed, never by a query. Zero is
// empty; any goroutine may use it.
type List struct {
	mu     sync.Mutex
	byID   map[uint32]*Entry
	nextID uint32
}

// Add puts an entry in and gives it its id: ids run on and are not used again while their session lives.
func (l *List) Add(e *Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = make(map[uint32]*Entry)
		l.nextID = firstID
	}
	for l.byID[l.nextID] != nil || l.nextID == 0 {
		l.nextID++
	}
	e.id = l.nextID
	l.byID[e.id] = e
	l.nextID++
}

// Place puts in the entry of a session that comes from another process, by the id that it had there. It is false if that is another
// session's by now.
func (l *List) Place(e *Entry, id uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = make(map[uint32]*Entry)
		l.nextID = firstID
	}
	if l.byID[id] != nil {
		return false
	}
	e.id = id
	l.byID[id] = e
	return true
}

// NextID is the id that the next session gets at the least.
func (l *List) NextID() uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.nextID, firstID)
}

// GoOnFrom makes id the next one, before the first session.
func (l *List) GoOnFrom(id uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID == nil {
		l.byID = make(map[uint32]*Entry)
	}
	l.nextID = id
}

// Remove takes an entry out.
func (l *List) Remove(e *Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, e.id)
}

// Get returns the entry with an id; nil if there is none.
func (l *List) Get(id uint32) *Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// Len is the number of sessions, those still logging in included.
func (l *List) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byID)
}

// AppendTo appends the entries to list, in no order.
func (l *List) AppendTo(list []*Entry) []*Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	list = slices.Grow(list, len(l.byID))
	for _, e := range l.byID {
		list = append(list, e)
	}
	return list
}

// All lists the entries by id.
func (l *List) All() []*Entry {
	all := l.AppendTo(nil)
	slices.SortFunc(all, func(a, b *Entry) int { return cmp.Compare(a.id, b.id) })
	return all
}

// Holdings lists the sessions that hold connections or wait, by id. waits are those that hold some and have waited for a further one for some
// time, with the instances of what they hold, one for each connection: it is written to. What a statement has before it is published only they
// tell.
func (l *List) Holdings(waits map[uint32][]*backend.Instance) (list []Holding) {
	for _, e := range l.All() {
		h := e.holding()
		if holds, waiting := waits[h.ID]; waiting && h.Wants != nil {
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
