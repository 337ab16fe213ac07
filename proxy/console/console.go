package console

import (
	"embed"
	"encoding/json"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"kingshard/proxy/account"
	"kingshard/proxy/admin/login"
)

//go:embed static
var static embed.FS

// csrfHeader carries the session's token. The page sends it with every request, so it also tells the page from other programs.
const csrfHeader = "X-KS-CSRF"

// bodyMax bounds the body of a login, in bytes, and loginTimeout the time that it may take to arrive.
const (
	bodyMax      = 16 << 10
	loginTimeout = 3 * time.Second
)

// contentSecurity lets the page load its own files and nothing else, and run no script that is not in one of them.
const contentSecurity = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Console serves the page. Any goroutine may use it.
type Console struct {
	logins   *login.Logins
	log      *slog.Logger
	sessions sessions
}

// New returns a console that those log in to whom logins lets in.
func New(logins *login.Logins, log *slog.Logger) *Console { return &Console{logins: logins, log: log} }

// Handler serves the page at /, its files and its logins at /console/. None of the files tells anything of the proxy.
func (c *Console) Handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the files are part of the program
	}
	mux := http.NewServeMux()
	serve := http.StripPrefix("/console/", http.FileServerFS(files))
	mux.HandleFunc("GET /console/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") { // no lists of files
			http.NotFound(w, r)
			return
		}
		serve.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "page.html") })
	mux.HandleFunc("POST /console/login", c.login)
	mux.HandleFunc("POST /console/logout", c.logout)
	mux.HandleFunc("GET /console/session", c.session)
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentSecurity)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		guarded.ServeHTTP(w, r)
	})
}

// Guard lets requests of the page through to REST as sent by who has logged in. Those without a cookie of ours, or with
// credentials of their own, are REST's to judge.
func (c *Console) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			next.ServeHTTP(w, r)
			return
		}
		who, csrf, ok := c.current(r)
		token := r.Header.Get(csrfHeader)
		switch {
		case !ok && token == "":
			next.ServeHTTP(w, r)
		case !ok:
			// Not by REST: its answer would make the browser ask for a password by itself.
			refuse(w, http.StatusUnauthorized, "the session has ended: log in again")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !same(token, csrf):
			refuse(w, http.StatusForbidden, "a change needs the session's token in "+csrfHeader)
		default:
			next.ServeHTTP(w, r.WithContext(login.WithLogin(r.Context(), who)))
		}
	})
}

// current gives the session that a request's cookie names, with the rights of the configuration in force.
func (c *Console) current(r *http.Request) (who login.Login, csrf string, ok bool) {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return who, "", false
	}
	if who, csrf, ok = c.sessions.find(cookie.Value); !ok {
		return who, "", false
	}
	if who, ok = c.logins.Current(who); !ok {
		c.sessions.end(cookie.Value)
	}
	return who, csrf, ok
}

// cookieName has under TLS the prefix by which browsers keep other hosts and plain HTTP from setting it.
func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return "__Host-kingshard"
	}
	return "kingshard"
}

func setCookie(w http.ResponseWriter, r *http.Request, id string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: id, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// login takes {"user","password"} or {"token"}.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	var body struct{ User, Password, Token string }
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "a login is JSON")
		return
	}
	// Nobody knows yet who sends: the body must not take forever. Errors do not matter, as a next request has a deadline of its own.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(loginTimeout))
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyMax)).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "a login is a JSON object with user and password, or token")
		return
	}
	from := login.RemoteHost(r)
	var who login.Login
	if c.logins.Closed() {
		refuse(w, http.StatusForbidden, login.ErrClosed.Error())
		return
	}
	if body.Token != "" {
		body.User = ""
	}
	ok, err := c.logins.Guess(r, body.User, func() (ok bool) {
		if body.Token != "" {
			who, ok = c.logins.LoginToken(body.Token)
		} else {
			who, ok = c.logins.Login(body.User, body.Password)
		}
		return ok
	})
	if err != nil {
		refuse(w, http.StatusTooManyRequests, err.Error())
		return
	}
	if !ok {
		c.logins.LogDenied(r, "login of the console denied")
		refuse(w, http.StatusUnauthorized, "wrong user, password or token")
		return
	}
	if who.Rights < account.Read {
		refuse(w, http.StatusForbidden, "no rights: the console needs read")
		return
	}
	if old, err := r.Cookie(cookieName(r)); err == nil {
		c.sessions.end(old.Value)
	}
	id, csrf := c.sessions.begin(who)
	c.log.Info("login of the console", "audit", true, "user", who.Name, "from", from)
	setCookie(w, r, id, int(lifetime.Seconds()))
	answer(w, who, csrf)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	who, csrf, ok := c.current(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, "nobody is logged in")
		return
	}
	if !same(r.Header.Get(csrfHeader), csrf) {
		refuse(w, http.StatusForbidden, "a change needs the session's token in "+csrfHeader)
		return
	}
	if cookie, err := r.Cookie(cookieName(r)); err == nil {
		c.sessions.end(cookie.Value)
	}
	c.log.Info("logout of the console", "audit", true, "user", who.Name, "from", login.RemoteHost(r))
	setCookie(w, r, "", -1)
	writeJSON(w, http.StatusOK, struct{}{})
}

// session says who is logged in, and gives the token for changes.
func (c *Console) session(w http.ResponseWriter, r *http.Request) {
	who, csrf, ok := c.current(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, "nobody is logged in")
		return
	}
	answer(w, who, csrf)
}

func answer(w http.ResponseWriter, who login.Login, csrf string) {
	writeJSON(w, http.StatusOK, map[string]string{"name": who.Name, "rights": who.Rights.String(), "csrf": csrf})
}

// refuse answers in the form of REST's errors.
func refuse(w http.ResponseWriter, status int, reason string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"code": 0, "reason": reason}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
