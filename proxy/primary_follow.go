package proxy

import (
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/backend/health"
	"kingshard/backend/roles"
	"kingshard/config"
	"kingshard/proxy/querylog"
)

const (
	// followAgain is after how long a primary is followed once more that could not be.
	followAgain = time.Second
	// epochTimeout is for writing an epoch on a new primary, and epochTries how often that is tried, each time after epochAgain.
	epochTimeout = 5 * time.Second
	epochTries   = 5
	epochAgain   = time.Second
)

// primaries are what is under way where servers say that another one is a node's primary.
type primaries struct {
	mu sync.Mutex
	// begun says that the server serves: while it is built nothing may change what it is built from.
	begun bool
	// following has the nodes whose new primary is being followed, and until when it is not tried again.
	following map[string]time.Time
	// told are the reasons of the last verdicts on nodes, by name.
	told map[string]string
	// found are the replicas that have been discovered, each by its node and address, refused those that could not come or go, and until when that is not tried
	// again, and discovering the nodes that some come to or go from now.
	found       map[[2]string]bool
	refused     map[[2]string]time.Time
	discovering map[string]bool
}

// begin has primaries followed from the next verdict on.
func (p *primaries) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = true
}

// judged follows another primary, and puts what hinders that into the log and the list of events. It waits for nothing.
func (p *primaries) judged(s *Server, n *backend.Node, v roles.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told == nil {
		p.told, p.following = make(map[string]string), make(map[string]time.Time)
	}
	if !v.Moves && p.told[n.Name] != v.Reason {
		if p.told[n.Name] = v.Reason; v.Reason != "" {
			s.log.Error("no primary can be followed", "node", n.Name, "primary", n.Primary.Addr, "held", v.Held, "reason", v.Reason)
			s.admin.Trail.Note("primary in doubt", n.Name, v.Reason)
		}
	}
	if !v.Moves || !p.begun || time.Now().Before(p.following[n.Name]) {
		return
	}
	p.following[n.Name] = time.Now().Add(time.Hour)
	s.serving.Lock()
	defer s.serving.Unlock()
	if s.stopping() {
		return
	}
	s.running.Go(func() { p.follow(s, n, v) })
}

// follow has the node go on with another primary, unless it has another one since the verdict.
func (p *primaries) follow(s *Server, n *backend.Node, v roles.Verdict) {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.following[n.Name] = time.Now().Add(followAgain)
	}()
	if now := s.shared.Snapshot.Load().Nodes[n.Name]; now == nil || now.Primary.Addr != n.Primary.Addr {
		return
	}
	why := v.Reason
	if v.Diverged {
		why += "; it lacks transactions that were there"
	}
	err := s.admin.Configuration.Follow(n.Name, v.Primary, why)
	if err != nil {
		s.log.Error("the new primary could not be followed", "node", n.Name, "primary", v.Primary, "error", err)
	} else if seen, _ := n.Roles.Seen(n.Primary.Addr); seen.Failures > 0 { // nobody knows what is under way there
		ended := n.Primary.EndConns()
		s.log.Warn("connections to what was the primary are ended", "node", n.Name, "instance", n.Primary.Addr, "connections", ended)
	}
}

// ChangeNode changes one node; others go on undisturbed. Where the servers have said themselves what is to change, unasked brings it into force without
// another look at them.
func (s *Server) ChangeNode(by querylog.By, node string, unasked bool, change func(n *config.Node) error) error {
	return s.change(by, reloading{keepBlacklist: true, only: node, anyPrimary: unasked}, func(now *config.Config) (*config.Config, error) {
		cfg := now.Clone()
		if n := cfg.Node(node); n != nil {
			return cfg, change(n)
		}
		return cfg, nil
	})
}

// startEpoch has the epoch of a node's new primary written. Members of a group need none: the group knows its primary.
func (p *primaries) startEpoch(s *Server, n *backend.Node) {
	if seen, _ := n.Roles.Seen(n.Primary.Addr); seen.Member != roles.Single {
		return
	}
	s.serving.Lock()
	defer s.serving.Unlock()
	if s.stopping() {
		return
	}
	s.running.Go(func() {
		for try := 1; ; try++ {
			if now := s.shared.Snapshot.Load().Nodes[n.Name]; now == nil || now.Primary.Addr != n.Primary.Addr {
				return
			}
			err := health.BeginEpoch(n.Primary, n.Roles.Epoch()+1, time.Now().Add(epochTimeout))
			if err == nil {
				return
			}
			if try == epochTries {
				s.log.Warn("the epoch of a new primary could not be written: after a restart of the proxy nothing tells it from the old one, if that takes writes", "node", n.Name, "primary", n.Primary.Addr, "error", err)
				return
			}
			select {
			case <-s.stop:
				return
			case <-time.After(epochAgain):
			}
		}
	})
}
