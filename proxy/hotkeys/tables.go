package hotkeys

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Every is of how many statements one is looked at, by chance.
const Every = 64

// Sampled reports whether a statement is to be looked at. It takes no lock.
func Sampled() bool { return rand.Uint32()%Every == 0 }

// Tables are the sketches of all tables. The zero Tables is ready, and any goroutine may use it.
type Tables struct {
	mu sync.RWMutex
	by map[name]*Sketch
}

type name struct{ db, table string }

// Of returns the sketch of a table, a new one for a table that had none. A table that was renamed has a new one.
func (t *Tables) Of(db, table string) *Sketch {
	if s := t.known(db, table); s != nil {
		return s
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.by[name{db, table}]
	if s == nil {
		s = new(Sketch)
		if t.by == nil {
			t.by = map[name]*Sketch{}
		}
		t.by[name{db, table}] = s
	}
	return s
}

func (t *Tables) known(db, table string) *Sketch {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.by[name{db, table}]
}

// Counts returns the keys of a table with what is certain of their counts, the greatest first.
func (t *Tables) Counts(db, table string, now time.Time) []Count {
	s := t.known(db, table)
	if s == nil {
		return nil
	}
	return s.Counts(now)
}

// Reset forgets all keys.
func (t *Tables) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.by = nil
}
