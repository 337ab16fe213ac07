package proxy

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// httpConnsMax bounds the connections of one HTTP listener.
	httpConnsMax = 256
	// httpHeaderMax bounds the header of a request, in bytes; net/http reads up to 4 KB more.
	httpHeaderMax = 16 << 10
	// httpBodyMax is how long a request's body may take, httpReadMax what is only read, from the request on, and httpWorkMax what
	// does something first: samples, a reload, an upgrade.
	httpBodyMax = 10 * time.Second
	httpReadMax = 2 * time.Minute
	httpWorkMax = time.Hour
)

// httpConns are the connections of an HTTP listener. When there are too many, the one that has been without a request for the
// longest makes room: somebody who sends half a header or nothing at all keeps nobody else out.
type httpConns struct {
	mu    sync.Mutex
	conns []*httpConn // the oldest first
}

// httpConn is a connection of an HTTP listener, with the number of requests that run on it.
type httpConn struct {
	net.Conn
	serving int // requests under way; guarded by the mu of httpConns
}

// limit bounds what clients of an HTTP server may hold.
func (l *httpConns) limit(s *http.Server) {
	s.MaxHeaderBytes = httpHeaderMax
	s.ReadHeaderTimeout, s.IdleTimeout = 5*time.Second, time.Minute
	s.ConnContext = func(c context.Context, nc net.Conn) context.Context {
		return context.WithValue(c, httpConnKey{}, l.add(nc))
	}
	s.ConnState = func(nc net.Conn, st http.ConnState) {
		if st == http.StateClosed || st == http.StateHijacked {
			l.remove(nc)
		}
	}
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		most := httpReadMax
		if r.Method != http.MethodGet || strings.HasPrefix(r.URL.Path, "/debug/pprof/") || strings.HasSuffix(r.URL.Path, "/profile") {
			most = httpWorkMax
		}
		_ = control.SetWriteDeadline(time.Now().Add(most))
		if r.Body != http.NoBody {
			_ = control.SetReadDeadline(time.Now().Add(httpBodyMax))
			r.Body = &timedBody{r.Body, control}
		}
		if c, ok := r.Context().Value(httpConnKey{}).(*httpConn); ok {
			l.serve(c, 1)
			defer l.serve(c, -1)
		}
		next.ServeHTTP(w, r)
	})
}

type httpConnKey struct{}

// add notes a connection, and closes one if that makes too many.
func (l *httpConns) add(nc net.Conn) *httpConn {
	c := &httpConn{Conn: nc}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= httpConnsMax {
		k := slices.IndexFunc(l.conns, func(c *httpConn) bool { return c.serving == 0 })
		if k < 0 {
			_ = nc.Close()
			return c
		}
		_ = l.conns[k].Close()
		l.conns = slices.Delete(l.conns, k, k+1)
	}
	l.conns = append(l.conns, c)
	return c
}

// remove forgets a connection that was closed.
func (l *httpConns) remove(nc net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = slices.DeleteFunc(l.conns, func(c *httpConn) bool { return c.Conn == nc })
}

// serve counts a request that begins or ends. A connection whose request ended counts as new.
func (l *httpConns) serve(c *httpConn, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.serving += n
	if k := slices.Index(l.conns, c); n < 0 && k >= 0 {
		l.conns = append(slices.Delete(l.conns, k, k+1), c)
	}
}

// timedBody is a request's body that has a deadline.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read lifts the deadline at the end: from there on net/http reads to see whether the client leaves.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// httpErrors takes what net/http says of connections: not every stranger who does not speak TLS is a line of the log.
type httpErrors struct{ log *slog.Logger }

func (e httpErrors) Write(p []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.Contains(p, []byte("TLS handshake error")) {
		level = slog.LevelDebug
	}
	e.log.Log(context.Background(), level, strings.TrimSpace(string(p)))
	return len(p), nil
}
