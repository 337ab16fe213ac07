package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/pprof"

	"kingshard/proxy/account"
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
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	profiles.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	profiles.HandleFunc("/debug/pprof/profile", s.admin.ServeProfile(pprof.Profile))
	profiles.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	profiles.HandleFunc("/debug/pprof/trace", pprof.Trace)
	open := http.NewServeMux()
	s.addHealth(open)
	page := console.New(s.admin.Logins, s.log)
	open.Handle("/api/", page.Guard(s.admin.Handler()))
	open.Handle("GET /metrics", s.admin.Logins.Guard(account.Read, s.metrics.Handler()))
	open.Handle("/debug/pprof/", s.admin.Logins.Guard(account.Admin, profiles))
	open.Handle("/", page.Handler())
	secure, err := s.cfg.WebTLS(func(err error) { s.log.Error("the old certificate of web_addr is shown", "error", err) })
	if err != nil {
		return fmt.Errorf("web_tls_cert: %w", err)
	}
	return s.addHTTP("web_addr", s.cfg.WebAddr, secure, open)
}

// addHTTP opens a listener, with TLS unless secure is nil, for serveHTTP.
func (s *Server) addHTTP(field, addr string, secure *tls.Config, h http.Handler) error {
	l, err := s.listeners.open(s.predecessor, field, "tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, TLSConfig: secure, ErrorLog: log.New(httpErrors{s.log}, "", 0)}
	new(httpConns).limit(server)
	s.listeners.http = append(s.listeners.http, webServer{listener: l, Server: server})
	if field == "web_addr" {
		s.listeners.web = l.Addr()
	}
	s.log.Info("listening", field, l.Addr().String())
	return nil
}

// serveHTTP serves requests until Shutdown.
func (s *Server) serveHTTP() {
	for _, h := range s.listeners.http {
		s.running.Go(func() {
			serve := h.Serve
			if h.TLSConfig != nil {
				serve = func(l net.Listener) error { return h.ServeTLS(l, "", "") }
			}
			if err := serve(gatedListener{h.listener, &s.listeners.gate, s.stop}); !errors.Is(err, http.ErrServerClosed) && !s.stopping() {
				s.log.Error("http server stopped", "addr", h.listener.Addr().String(), "error", err)
			}
		})
	}
}
