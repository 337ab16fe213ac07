package proxy

import (
	"slices"
	"time"

	"kingshard/backend"
)

// discoverAgain is after how long a replica is tried again that could not come to its node, or go.
const discoverAgain = time.Minute

// discovered has replicas come to a node, and go that came so. It waits for nothing.
func (p *primaries) discovered(s *Server, n *backend.Node, come, gone []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found == nil {
		p.found, p.refused, p.discovering = make(map[[2]string]bool), make(map[[2]string]time.Time), make(map[string]bool)
	}
	refused := func(addr string) bool { return time.Now().Before(p.refused[[2]string{n.Name, addr}]) }
	come = slices.DeleteFunc(come, refused)
	gone = slices.DeleteFunc(gone, func(addr string) bool { return !p.found[[2]string{n.Name, addr}] || refused(addr) })
	if !p.begun || p.discovering[n.Name] || len(come)+len(gone) == 0 {
		return
	}
	s.serving.Lock()
	defer s.serving.Unlock()
	if s.stopping() {
		return
	}
	p.discovering[n.Name] = true
	s.running.Go(func() {
		p.changeReplicas(s, n.Name, come, gone)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.discovering, n.Name)
	})
}

// changeReplicas changes the replicas of a node, in one reload if that is possible: one that is not fit does not keep others away.
func (p *primaries) changeReplicas(s *Server, node string, come, gone []string) {
	err := s.admin.Configuration.Discovered(node, come, gone)
	if err != nil && len(come)+len(gone) > 1 {
		for _, addr := range come {
			p.changeReplicas(s, node, []string{addr}, nil)
		}
		for _, addr := range gone {
			p.changeReplicas(s, node, nil, []string{addr})
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, addr := range slices.Concat(come, gone) {
		key := [2]string{node, addr}
		switch {
		case err != nil:
			s.log.Error("a replica that was discovered could not come to its node, or go", "node", node, "instance", addr, "error", err)
			p.refused[key] = time.Now().Add(discoverAgain)
		case slices.Contains(come, addr):
			p.found[key] = true
		default:
			delete(p.found, key)
		}
	}
}
