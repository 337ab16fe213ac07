package change

import (
	"slices"
	"sync"
	"time"
)

// eventsMax is how many events are kept; the oldest go.
const eventsMax = 1000

// eventTextMax bounds each text of an event, in bytes.
const eventTextMax = 1000

// Event is something that changed the proxy, or tried to.
type Event struct {
	ID      uint64 // from 1
	At      time.Time
	What    string // such as "node down"
	Who     string // a user, a token, or "kingshard" itself
	From    string // an address; "" of the proxy itself
	Detail  string
	Outcome string // "ok", or why not
}

// events are the latest ones, the oldest first.
type events struct {
	mu     sync.Mutex
	latest []Event
	last   uint64
}

func (l *events) add(e Event) {
	for _, text := range []*string{&e.Who, &e.From, &e.Detail, &e.Outcome} {
		if len(*text) > eventTextMax {
			*text = (*text)[:eventTextMax] + "..."
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	e.ID, e.At = l.last, time.Now()
	l.latest = append(l.latest[max(0, len(l.latest)+1-eventsMax):], e)
}

// list gives the events, the oldest first.
func (l *events) list() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.latest)
}
