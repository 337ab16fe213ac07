package roles

import (
	"slices"
	"time"
)

// Heartbeat is the row of a server in the table of heartbeats. The server has it changed while it is the primary, and only then.
type Heartbeat struct {
	Counter uint64 // grows by one with each change
	Writer  string // the proxy that made the last one
}

// beatsMax is how many counters are remembered.
const beatsMax = 512

// Heartbeats are when a primary was seen to have which counter, by the clock of who saw it. No clock of a server plays a part.
type Heartbeats struct {
	server string
	seen   []beat // ascending
}

type beat struct {
	counter uint64
	at      time.Time
}

// See notes that the primary, which is server, has a counter.
func (h *Heartbeats) See(server string, counter uint64, at time.Time) {
	if n := len(h.seen); n > 0 && (server != h.server || counter < h.seen[n-1].counter) { // another table, too
		h.seen = nil
	} else if n > 0 && counter == h.seen[n-1].counter {
		return
	}
	if h.server = server; len(h.seen) == beatsMax {
		h.thin()
	}
	h.seen = append(h.seen, beat{counter, at})
}

// thin forgets what is between two that are not further apart than a thirtieth of their age: the longer ago, the less a second matters. The first stays, and with
// it is known what there was before.
func (h *Heartbeats) thin() {
	newest := h.seen[len(h.seen)-1]
	kept := newest
	var few []beat // from the newest on
	for _, b := range slices.Backward(h.seen) {
		if kept.at.Sub(b.at) >= newest.at.Sub(kept.at)/30 {
			few, kept = append(few, b), b
		}
	}
	if few[len(few)-1] != h.seen[0] {
		few = append(few, h.seen[0])
	}
	slices.Reverse(few)
	if len(few) >= beatsMax {
		few = slices.Delete(few, 1, len(few)-beatsMax/2)
	}
	h.seen = few
}

// Last is when the counter was seen to grow last; the zero time if none was seen.
func (h *Heartbeats) Last() time.Time {
	if len(h.seen) == 0 {
		return time.Time{}
	}
	return h.seen[len(h.seen)-1].at
}

// Behind tells for how long a server had lacked a counter of the primary when it was seen to have counter itself, at that time: 0 if it lacked none. At least says
// that it may be longer, since the primary had others before it was seen for the first time.
func (h *Heartbeats) Behind(counter uint64, at time.Time) (behind time.Duration, atLeast bool) {
	next := slices.IndexFunc(h.seen, func(b beat) bool { return b.counter > counter })
	if next < 0 {
		return 0, false
	}
	return max(at.Sub(h.seen[next].at), 0), next == 0
}
