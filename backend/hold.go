package backend

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
	"time"

	"kingshard/backend/pool"
	"kingshard/mysql"
)

// Hold makes statements wait that have not been sent while their node has no primary: it is down, cannot be reached, or another server takes
// its place; and while an operator has paused the node. Who waits is let go in the order of coming, one at first and then two for each that
// found a connection, so that a server that has just come is not overrun. Instances of a node share one, across reloads. Any goroutine may use it.
type Hold struct {
	mu      sync.Mutex
	timeout time.Duration // of the wait of one statement, from when it came; 0: none waits
	// later is by how much that time ends behind the one that the statement has for a connection; negative where it ends before.
	later   time.Duration
	most    int       // statements at the same time
	waiting list.List // of chan struct{}, to which something is sent to let go; the Value is nil then
	stats   HoldStats
}

// HoldStats is what a Hold does now and has done.
type HoldStats struct {
	Waiting int // statements
	// Served waited and found a primary, Expired waited in vain, Refused came when there were too many.
	Served, Expired, Refused uint64
}

// ErrHeld says that a statement waited for a primary in vain.
var ErrHeld = errors.New("waited for a primary")

// newHold has statements wait for timeout, of which they may wait for a connection for forConn, and most at the same time.
func newHold(timeout, forConn time.Duration, most int) *Hold {
	return &Hold{timeout: timeout, later: timeout - forConn, most: most}
}

// configure changes the bounds to those of another one for those who begin to wait from now on.
func (h *Hold) configure(as *Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timeout, h.later, h.most = as.timeout, as.later, as.most
}

// Stats tells what there is.
func (h *Hold) Stats() HoldStats {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.stats
	s.Waiting = h.waiting.Len()
	return s
}

// wake lets the first go: there may be a primary.
func (h *Hold) wake() { h.release(1) }

func (h *Hold) release(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.releaseLocked(n)
}

func (h *Hold) releaseLocked(n int) {
	for ; n > 0 && h.waiting.Len() > 0; n-- {
		place := h.waiting.Front()
		let := h.waiting.Remove(place).(chan struct{})
		place.Value = nil
		let <- struct{}{} // which has room for one from each Hold
	}
}

// held is the wait of one statement.
type held struct {
	// holds are those of the nodes of which any may have a primary; the first has the wait in its counts.
	holds []*Hold
	since time.Time // zero: it has not waited
	until time.Time // zero: as long as a statement that has come just now
}

// wait waits until there may be a primary. cause is why there is none; err is what becomes of the statement if it is not to try again.
func (w *held) wait(cause error, cancel <-chan struct{}) (err error) {
	let := make(chan struct{}, len(w.holds))
	places, err := w.line(let, cause)
	if err != nil {
		return err
	}
	late := time.NewTimer(time.Until(w.until))
	defer late.Stop()
	select {
	case <-let:
		w.leave(places, true)
		return nil
	case <-cancel:
		w.leave(places, false)
		return pool.ErrCancelled
	case <-late.C:
	}
	if w.leave(places, true) {
		return nil
	}
	h := w.holds[0]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Expired++
	return fmt.Errorf("%w; %w for %v", cause, ErrHeld, h.timeout)
}

// line takes a place in each Hold: the last, or the first one behind a wait that was in vain.
func (w *held) line(let chan struct{}, cause error) (places []*list.Element, err error) {
	first := w.since.IsZero()
	for _, h := range w.holds {
		h.mu.Lock()
		switch {
		case h.timeout == 0:
			err = cause
		case first && h.waiting.Len() >= h.most:
			h.stats.Refused++
			err = fmt.Errorf("%w; %d statements wait for a primary of the node already", cause, h.most)
		case first:
			places = append(places, h.waiting.PushBack(let))
		default:
			places = append(places, h.waiting.PushFront(let))
		}
		timeout := h.timeout
		h.mu.Unlock()
		if err != nil {
			w.leave(places, false)
			return nil, err
		}
		if w.since.IsZero() {
			w.since = time.Now()
			if w.until.IsZero() {
				w.until = w.since.Add(timeout)
			}
		}
	}
	return places, nil
}

// leave gives the places up. It reports whether one of them was let go; if there is no use for that, or for a second one, the next has it.
func (w *held) leave(places []*list.Element, use bool) (let bool) {
	for k, place := range places {
		h := w.holds[k]
		h.mu.Lock()
		switch {
		case place.Value != nil:
			h.waiting.Remove(place)
		case use && !let:
			let = true
		default:
			h.releaseLocked(1)
		}
		h.mu.Unlock()
	}
	return let
}

// until is until when a statement waits whose time for a connection ends at a deadline.
func (h *Hold) until(deadline time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return deadline.Add(h.later)
}

// await calls get again and again until there is a primary; err is why there is none now. The deadline is put off for as long as that takes.
func await(i *Instance, err error, deadline time.Time, cancel <-chan struct{}, get func(deadline time.Time) (Pooled, error)) (p Pooled, _ error) {
	w := held{holds: []*Hold{i.Hold}, until: i.Hold.until(deadline)}
	for lacksPrimary(i, err) {
		if err := w.wait(err, cancel); err != nil {
			return Pooled{}, err
		}
		p, err = get(deadline.Add(w.waited()))
	}
	w.over(err)
	return p, err
}

// AwaitWrites waits until another server than the one at addr is the node's primary, or that one takes writes again, which it has refused with the
// error cause. It ends with an error after the time that statements wait for a primary, or when cancel is closed.
func (n *Node) AwaitWrites(addr string, cause error, cancel <-chan struct{}) error {
	w := held{holds: []*Hold{n.hold}}
	_, before := n.Roles.Seen(addr)
	for {
		if err := w.wait(cause, cancel); err != nil {
			return err
		}
		now := n.Primary
		for next := now.successor.Load(); next != nil; next = now.successor.Load() {
			now = next
		}
		// The question of before may have been under way when the server refused the change.
		if seen, asked := n.Roles.Seen(addr); now.Addr != addr || asked > before+1 && seen.Told && !seen.ReadOnly {
			w.over(nil)
			return nil
		}
	}
}

// over notes that the statement has a connection, or is refused for another reason than that there is no primary.
func (w *held) over(err error) {
	if w.since.IsZero() {
		return
	}
	for k, h := range w.holds {
		h.mu.Lock()
		if err == nil && k == 0 {
			h.stats.Served++
		}
		h.releaseLocked(2)
		h.mu.Unlock()
	}
}

// waited is for how long the statement has been held.
func (w *held) waited() time.Duration {
	if w.since.IsZero() {
		return 0
	}
	return time.Since(w.since)
}

// lacksPrimary reports whether a connection to the instance could not be had because there is no primary that takes it, or its node is paused. What a
// server says is no such reason, nor an operator who took it down.
func lacksPrimary(i *Instance, err error) bool {
	var dial *pool.DialError
	var told *mysql.SQLError
	switch {
	case errors.Is(err, ErrPaused):
		return true
	case i.Role != Primary || errors.Is(err, ErrHeldDown):
		return false
	case errors.Is(err, ErrDown):
		return true
	}
	return errors.As(err, &dial) && !errors.As(err, &told)
}
