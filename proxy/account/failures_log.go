package account

import (
	"net/netip"
	"time"
)

const (
	// linesSpan is the time in which so many lines of the log may tell of logins that failed: those of one address, and all.
	linesSpan      = 10 * time.Second
	linesOfAddress = 5
	linesOfAll     = 50
)

// lines counts lines of the log.
type lines struct {
	since   time.Time
	written int
	omitted int // since the last that was written
}

// take counts a line; false says that there were too many within linesSpan.
func (l *lines) take(now time.Time, most int) bool {
	if now.Sub(l.since) >= linesSpan {
		l.since, l.written = now, 0
	}
	if l.written >= most {
		return false
	}
	l.written++
	return true
}

// Log tells whether a line of the log may say that a login from addr failed, and how many lines were left out since the last one: who
// tries passwords does not fill the disk.
func (f *Failures) Log(addr netip.Addr) (omitted int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.time()
	ok = true
	if p, known := prefix(addr); known && f.sources[p] != nil {
		ok = f.sources[p].lines.take(now, linesOfAddress)
	}
	if !ok || !f.lines.take(now, linesOfAll) {
		f.lines.omitted++
		return 0, false
	}
	omitted, f.lines.omitted = f.lines.omitted, 0
	return omitted, true
}
