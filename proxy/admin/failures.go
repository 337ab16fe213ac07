package admin

import (
	"errors"
	"net/http"
	"net/netip"
	"time"
)

// ErrTooManyFailures says that a request's password or token was not looked at.
var ErrTooManyFailures = errors.New("too many logins from this address failed: try again later")

// Guess bounds how fast passwords and tokens of HTTP requests can be tried, together with those of MySQL clients: check, which looks at
// the request's, is not called where too many of its address failed, and the answer to a failure is delayed. user is the name whose password
// that is, "" for a token: who has a token may try others, so that it makes no failure forgotten. An error says that the request is refused.
func (a *Admin) Guess(h *http.Request, user string, check func() bool) (ok bool, err error) {
	f, most := &a.shared.Failures, a.shared.Snapshot.Load().Config.MaxLoginDelay.Duration()
	var addr netip.Addr
	if from, err := netip.ParseAddrPort(h.RemoteAddr); err == nil {
		addr = from.Addr()
	}
	if f.Blocked(addr, most) {
		return false, ErrTooManyFailures
	}
	name := "\x00" + user // which is no MySQL user's
	if check() {
		if user != "" {
			f.Good(addr, name)
		}
		return true, nil
	}
	delay := f.Failed(addr, name, most)
	if delay > 0 && f.Hold() {
		defer f.Release()
		end := time.NewTimer(delay)
		defer end.Stop()
		select {
		case <-end.C:
		case <-h.Context().Done():
		}
	}
	return false, nil
}
