package admin

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"

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

// Login checks web_user and web_password.
func (a *Admin) Login(user, password string) (Login, bool) {
	l := Login{Name: user, secret: sha256.Sum256([]byte(password))}
	return a.Current(l)
}

// LoginToken checks a token of web_tokens.
func (a *Admin) LoginToken(token string) (l Login, ok bool) {
	for _, t := range a.shared.Snapshot.Load().Config.WebTokens {
		if t.Token != "" && same(token, t.Token.Reveal()) {
			l = Login{Name: t.Name, Rights: account.ParseRights(t.Rights), secret: sha256.Sum256([]byte(token)), token: true}
			ok = true
		}
	}
	return l, ok
}

// Current gives a login with the rights of the configuration in force; false if its password or token is no longer good.
func (a *Admin) Current(l Login) (Login, bool) {
	cfg := a.shared.Snapshot.Load().Config
	if l.token {
		for _, t := range cfg.WebTokens {
			if t.Name == l.Name && t.Token != "" && sameHash(l.secret, t.Token.Reveal()) {
				l.Rights = account.ParseRights(t.Rights)
				return l, true
			}
		}
		return Login{}, false
	}
	nameOK, passwordOK := same(l.Name, cfg.WebUser), sameHash(l.secret, cfg.WebPassword.Reveal())
	if cfg.WebUser == "" || !nameOK || !passwordOK {
		return Login{}, false
	}
	l.Rights = account.Admin
	return l, true
}

// Closed tells whether nobody can log in.
func (a *Admin) Closed() bool {
	cfg := a.shared.Snapshot.Load().Config
	return cfg.WebUser == "" && len(cfg.WebTokens) == 0
}

type loginKey struct{}

// WithLogin gives a request's context by which REST takes it as sent by l. The caller has checked that it is.
func WithLogin(ctx context.Context, l Login) context.Context {
	return context.WithValue(ctx, loginKey{}, l)
}

// authenticate finds out who sends a request: somebody logged in elsewhere, the web user, or the bearer of a token.
func (a *Admin) authenticate(h *http.Request) (by who, ok bool, err error) {
	if a.Closed() {
		return by, false, failed("%s", ErrClosed.Error())
	}
	l, ok := h.Context().Value(loginKey{}).(Login)
	if !ok {
		if token, is := bearer(h); is {
			ok, err = a.Guess(h, "", func() bool { l, ok = a.LoginToken(token); return ok })
		} else if user, password, is := h.BasicAuth(); is {
			ok, err = a.Guess(h, user, func() bool { l, ok = a.Login(user, password); return ok })
		}
	}
	by.name, by.rights, by.from = l.Name, l.Rights, RemoteHost(h)
	if !ok && h.Header.Get("Authorization") != "" {
		a.LogDenied(h, "login of the HTTP administration denied")
	}
	return by, ok, err
}

// RemoteHost is the address without port that a request came from.
func RemoteHost(h *http.Request) string {
	if host, _, err := net.SplitHostPort(h.RemoteAddr); err == nil {
		return host
	}
	return h.RemoteAddr
}
