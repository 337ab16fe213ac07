package login

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"time"
)

// ErrTooManyFailures says that a request's password or token was not looked at.
var ErrTooManyFailures = errors.New("too many logins from this address failed: try again later")

// Guess bounds how fast passwords and tokens of HTTP requests can be tried, together with those of MySQL clients: check, which looks at
// the request's, waits for its turn where many of its address failed, and the answer to a failure is delayed. user is the name whose password
// that is, "" for a token: who has a token may try others, so that it makes no failure forgotten. An error says that the request is refused.
func (l *Logins) Guess(h *http.Request, user string, check func() bool) (ok bool, err error) {
	f, most := l.failures, l.cfg().MaxLoginDelay.Duration()
	addr := remoteAddr(h)
	name := "\x00" + user // which is no MySQL user's
	wait, ok := f.Turn(addr, name, most)
	if !ok || !sleep(h.Context(), wait) {
		return false, ErrTooManyFailures
	}
	if check() {
		if user != "" {
			f.Good(addr, name)
		}
		return true, nil
	}
	delay := f.Failed(addr, name, most)
	if delay > 0 && f.Hold() {
		defer f.Release()
		sleep(h.Context(), delay)
	}
	return false, nil
}

// LogDenied puts a line into the log that a login over HTTP failed, unless there are too many.
func (l *Logins) LogDenied(h *http.Request, what string) {
	if omitted, ok := l.failures.Log(remoteAddr(h)); ok {
		l.log.Warn(what, "from", RemoteHost(h), "lines_omitted", omitted)
	}
}

// remoteAddr is the address that a request came from; invalid where it has none.
func remoteAddr(h *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(h.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr()
}

// sleep waits; false when the request ended before.
func sleep(c context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-end.C:
		return true
	case <-c.Done():
		return false
	}
}
