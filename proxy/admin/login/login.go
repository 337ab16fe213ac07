// Package login checks who sends a request over HTTP: the passwords and tokens of the configuration, how fast they can be tried, and the
// rights they give.
package login

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"kingshard/config"
	"kingshard/proxy/account"
)

// ErrClosed says that nobody can log in, as the configuration names neither a web user nor a token.
var ErrClosed = errors.New("administration over HTTP is closed: set web_user and web_password, or web_tokens")

// Login is somebody who has shown a password or a token.
type Login struct {
	Name   string
	Rights account.Rights
	// secret is the hash of what was shown, by which a change of the configuration is noticed; token says what it was.
	secret [sha256.Size]byte
	token  bool
}

// Logins checks the passwords and tokens of HTTP requests. Any goroutine may use it.
type Logins struct {
	cfg      func() *config.Config
	failures *account.Failures
	log      *slog.Logger
}

// New returns what checks logins by the configuration that cfg returns; those that fail count among failures.
func New(cfg func() *config.Config, failures *account.Failures, log *slog.Logger) *Logins {
	return &Logins{cfg: cfg, failures: failures, log: log}
}

// Login checks web_user and web_password.
func (l *Logins) Login(user, password string) (Login, bool) {
	return l.Current(Login{Name: user, secret: sha256.Sum256([]byte(password))})
}

// LoginToken checks a token of web_tokens.
func (l *Logins) LoginToken(token string) (who Login, ok bool) {
	for _, t := range l.cfg().WebTokens {
		if t.Token != "" && same(token, t.Token.Reveal()) {
			who = Login{Name: t.Name, Rights: account.ParseRights(t.Rights), secret: sha256.Sum256([]byte(token)), token: true}
			ok = true
		}
	}
	return who, ok
}

// Current gives a login with the rights of the configuration in force; false if its password or token is no longer good.
func (l *Logins) Current(who Login) (Login, bool) {
	cfg := l.cfg()
	if who.token {
		for _, t := range cfg.WebTokens {
			if t.Name == who.Name && t.Token != "" && sameHash(who.secret, t.Token.Reveal()) {
				who.Rights = account.ParseRights(t.Rights)
				return who, true
			}
		}
		return Login{}, false
	}
	nameOK, passwordOK := same(who.Name, cfg.WebUser), sameHash(who.secret, cfg.WebPassword.Reveal())
	if cfg.WebUser == "" || !nameOK || !passwordOK {
		return Login{}, false
	}
	who.Rights = account.Admin
	return who, true
}

// Closed  whether nobody can log in.
func (l *Logins) Closed() bool {
	cfg := l.cfg()
	return cfg.WebUser == "" && len(cfg.WebTokens) == 0
}

type loginKey struct{}

// WithLogin gives a request's context by which REST takes it as sent by l. The caller has checked that it is.
func WithLogin(ctx context.Context, l Login) context.Context {
	return context.WithValue(ctx, loginKey{}, l)
}

// Authenticate finds out who sends a request: somebody logged in elsewhere, the web user, or the bearer of a token. An error says that
// the request is refused.
func (l *Logins) Authenticate(h *http.Request) (who Login, ok bool, err error) {
	if l.Closed() {
		return Login{}, false, ErrClosed
	}
	who, ok = h.Context().Value(loginKey{}).(Login)
	if !ok {
		if token, is := bearer(h); is {
			ok, err = l.Guess(h, "", func() bool { who, ok = l.LoginToken(token); return ok })
		} else if user, password, is := h.BasicAuth(); is {
			ok, err = l.Guess(h, user, func() bool { who, ok = l.Login(user, password); return ok })
		}
	}
	if !ok && h.Header.Get("Authorization") != "" {
		l.LogDenied(h, "login of the HTTP administration denied")
	}
	return who, ok, err
}

// RemoteHost is the address without port that a request came from.
func RemoteHost(h *http.Request) string {
	if host, _, err := net.SplitHostPort(h.RemoteAddr); err == nil {
		return host
	}
	return h.RemoteAddr
}
