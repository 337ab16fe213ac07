package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"kingshard/mysql"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/login"
	"kingshard/proxy/admin/predecessor"
	"kingshard/proxy/admin/rest"
	"kingshard/proxy/kserror"
)

// bodyMax bounds the body of a request, in bytes.
const bodyMax = 1 << 20

// route is one call of REST.
type route struct {
	method, path string // the path with {parameters}
	about        string
	rights       account.Rights
	// body are the keys of the request's JSON object: name, type and meaning; none: there is no body.
	body []field
	// columns are those of the answer's rows, for calls that show a table.
	columns []column
	answer  string // what a call without columns answers
	handle  func(c *request) (any, error)
}

// field is a key of a request's body.
type field struct{ name, kind, about string }

// request is one call under way.
type request struct {
	a    *Admin
	who  change.Who
	http *http.Request
}

// Handler serves REST: /api/v1, the predecessor's, and /api/v2. It asks for a login by itself.
func (a *Admin) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range predecessor.Routes {
		mux.Handle(r.Method+" "+r.Path, a.serve(route{
			method: r.Method, path: r.Path, rights: r.Rights,
			handle: func(c *request) (any, error) { return r.Handle(a.predecessor, c.who, c.http) },
		}, predecessor.WriteError))
	}
	for _, r := range v2Routes() {
		mux.Handle(r.method+" "+r.path, a.serve(r, writeV2Error))
	}
	// A page of another site cannot make a browser that is logged in change anything.
	return http.NewCrossOriginProtection().Handler(unknownPath(mux))
}

// unknownPath answers in JSON what mux has no route for, where net/http would in plain text.
func unknownPath(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		if _, pattern := mux.Handler(h); pattern != "" {
			mux.ServeHTTP(w, h)
			return
		}
		fail := writeV2Error
		if strings.HasPrefix(h.URL.Path, predecessor.Root+"/") {
			fail = predecessor.WriteError
		}
		refused := &statusOnly{header: w.Header()}
		mux.ServeHTTP(refused, h)
		switch refused.status {
		case http.StatusMethodNotAllowed: // which has set the header Allow
			fail(w, refused.status, fmt.Errorf("%s does not take %s, but %s", h.URL.Path, h.Method, w.Header().Get("Allow")))
		default:
			fail(w, http.StatusNotFound, fmt.Errorf("there is no %s: %s/openapi.json lists the calls", h.URL.Path, v2))
		}
	})
}

// statusOnly keeps the status and the headers of an answer.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }

// serve makes the handler of a route.
func (a *Admin) serve(r route, fail func(w http.ResponseWriter, status int, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, h *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		h.Body = http.MaxBytesReader(w, h.Body, bodyMax)
		user, ok, err := a.Logins.Authenticate(h)
		switch {
		case errors.Is(err, login.ErrTooManyFailures):
			fail(w, http.StatusTooManyRequests, err)
			return
		case err != nil:
			fail(w, http.StatusForbidden, change.Failed("%v", err))
			return
		case !ok:
			w.Header().Set("WWW-Authenticate", `Basic realm="Restricted"`)
			fail(w, http.StatusUnauthorized, errors.New("Unauthorized"))
			return
		}
		by := change.Who{Name: user.Name, Rights: user.Rights, From: login.RemoteHost(h)}
		err = by.Need(r.rights, r.method+" "+r.path)
		var answer any
		if err == nil {
			answer, err = r.handle(&request{a: a, who: by, http: h})
		}
		if err != nil {
			fail(w, statusOf(err), err)
			return
		}
		rest.Write(w, http.StatusOK, answer)
	})
}

// statusOf gives the status of an error: what the caller may not, said wrongly, or what cannot be done now.
func statusOf(err error) int {
	if e, ok := errors.AsType[*mysql.SQLError](err); ok {
		switch e.Code {
		case kserror.NoRights:
			return http.StatusForbidden
		case kserror.AdminFailed:
			return http.StatusConflict
		}
	}
	return http.StatusBadRequest
}
