package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"kingshard/backend"
)

// addHealth adds the endpoints that supervisors and load balancers ask. They tell no secret and need no login.
func (s *Server) addHealth(mux *http.ServeMux) {
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if reason := s.notReady(); reason != "" {
			http.Error(w, reason, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}

// notReady says why new clients should go to another proxy: this one drains, an operator took it out of
// service, or it reaches no primary. One primary among
// several that is down is down for all proxies, so it does not count.
func (s *Server) notReady() string {
	if s.shared.Draining.Load() {
		return "draining"
	}
	if s.admin.Offline() {
		return "an operator said offline"
	}
	nodes := s.shared.Snapshot.Load().Nodes
	var down []string
	for _, n := range nodes {
		if n.Primary.State() != backend.Up && !n.Primary.Duty.Paused() {
			down = append(down, n.Name)
		}
	}
	if len(nodes) > len(down) {
		return ""
	}
	slices.Sort(down)
	return "no primary is up: " + strings.Join(down, ", ")
}
