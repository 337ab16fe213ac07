package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"kingshard/proxy/console"
	"kingshard/proxy/metrics"
)

// listenHTTP opens the administrative HTTP listeners that are configured: none by default.
func (s *Server) listenHTTP() error {
	s.metrics = metrics.New(&s.shared, &s.subTables)
	if s.cfg.PrometheusAddr != "" {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", s.metrics.Handler())
		s.addHealth(mux)
		if err := s.addHTTP("prometheus_addr", s.cfg.PrometheusAddr, nil, mux); err != nil {
			return err
		}
	}
	if s.cfg.WebAddr == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", s.admin.ServeProfile(pprof.Profile))
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	open := http.NewServeMux()
	s.addHealth(open)
	page := console.New(s.admin, s.log)
	open.Handle("/api/", page.Guard(s.admin.Handler()))
	open.Handle("/metrics", s.basicAuth(mux))
	open.Handle("/debug/pprof/", s.basicAuth(mux))
	open.Handle("/", page.Handler())
	secure, err := s.cfg.WebTLS(func(err error) { s.log.Error("the old certificate of web_addr is shown", "error", err) })
	if err != nil {
		return fmt.Errorf("web_tls_cert: %w", err)
	}
	return s.addHTTP("web_addr", s.cfg.WebAddr, secure, open)
}

// webServer is an HTTP server and what it listens on.
type webServer struct {
	*http.Server
	listener net.Listener
}

// addHTTP opens a listener, with TLS unless secure is nil, for serveHTTP.
func (s *Server) addHTTP(field, addr string, secure *tls.Config, h http.Handler) error {
	l, err := s.open(field, "tcp", addr)
	if err != nil {
		return err
	}
	s.http = append(s.http, webServer{listener: l, Server: &http.Server{
		Handler: h, TLSConfig: secure, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}})
	if field == "web_addr" {
		s.webAddr = l.Addr()
	}
	s.log.Info("listening", field, l.Addr().String())
	return nil
}

// serveHTTP serves requests until Shutdown.
func (s *Server) serveHTTP() {
	for _, h := range s.http {
		s.running.Go(func() {
			serve := h.Serve
			if h.TLSConfig != nil {
				serve = func(l net.Listener) error { return h.ServeTLS(l, "", "") }
			}
			if err := serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("http server stopped", "addr", h.listener.Addr().String(), "error", err)
			}
		})
	}
}

// basicAuth asks for web_user and web_password where they are configured.
func (s *Server) basicAuth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cfg := s.shared.Snapshot.Load().Config
		if cfg.WebUser != "" || cfg.WebPassword != "" {
			user, password, _ := r.BasicAuth()
			check := func() bool { return equalBoth(user, cfg.WebUser, password, cfg.WebPassword.Reveal()) }
			var ok bool
			var err error
			if r.Header.Get("Authorization") != "" { // else nobody guesses
				ok, err = s.admin.Guess(r, user, check)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusTooManyRequests)
				return
			}
			if !ok {
				w.Header().Set("WWW-Authenticate", `Basic realm="kingshard"`)
				http.Error(w, "user and password are web_user and web_password of the configuration", http.StatusUnauthorized)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// equalBoth compares a user and a password. Both are compared, and as hashes of one length, so that the time taken tells nothing.
func equalBoth(user, ofUser, password, ofPassword string) bool {
	u, p := equal(user, ofUser), equal(password, ofPassword)
	return u && p
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
