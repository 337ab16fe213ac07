package login

import (
	"errors"
	"net/http"

	"kingshard/proxy/account"
)

// Guard lets the requests pass that come with web_user's password or a token with the rights. Where the configuration names neither,
// which only a loopback address may do, all pass.
func (l *Logins) Guard(rights account.Rights, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		if l.Closed() {
			next.ServeHTTP(w, h)
			return
		}
		who, ok, err := l.Authenticate(h)
		switch {
		case errors.Is(err, ErrTooManyFailures):
			http.Error(w, err.Error(), http.StatusTooManyRequests)
		case err != nil:
			http.Error(w, err.Error(), http.StatusForbidden)
		case !ok:
			w.Header().Set("WWW-Authenticate", `Basic realm="kingshard"`)
			http.Error(w, "log in as web_user, or with a token of web_tokens, of the configuration", http.StatusUnauthorized)
		case who.Rights < rights:
			http.Error(w, "no rights: this needs "+rights.String(), http.StatusForbidden)
		default:
			next.ServeHTTP(w, h)
		}
	})
}
