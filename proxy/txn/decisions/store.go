package decisions

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"kingshard/backend"
)

// Store knows which servers have been made ready. Its methods may be called from any goroutine.
type Store struct {
	log    *slog.Logger
	unsafe bool

	mu      sync.Mutex
	ready   map[string]bool   // by address of primaries
	servers map[string]Server // by address, those that were asked
	told    map[string]bool   // what was logged
	key     Key
	known   bool // key is
	// making has a token for who makes servers ready: the others wait, and find it done.
	making chan struct{}
}

// NewStore makes one that knows of no server. Where it cannot be silent about a server it says so in the log, once; nil is no log. With unsafe it takes servers
// that may break their word when they crash; see [Unsafe].
func NewStore(log *slog.Logger, unsafe bool) *Store {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Store{log: log, unsafe: unsafe, ready: map[string]bool{}, servers: map[string]Server{}, told: map[string]bool{}, making: make(chan struct{}, 1)}
}

// Ready sees to it that the primaries of nodes have all that a transaction over them needs, and returns the key: at once where that is known, or else by
// the deadline, asking the servers and making what is missing. nodes are all of the configuration's that transactions may be over, as
// the key is that of all. An error says which node is not fit, or what it lacks, and what to do.
func (s *Store) Ready(nodes []*backend.Node, deadline time.Time) (Key, error) {
	if key, ok := s.have(nodes); ok {
		return key, nil
	}
	wait := time.NewTimer(time.Until(deadline))
	defer wait.Stop()
	select {
	case s.making <- struct{}{}:
		defer func() { <-s.making }()
	case <-wait.C:
		return Key{}, fmt.Errorf("%s of %d nodes was not made ready in time", schema, len(nodes))
	}
	if key, ok := s.have(nodes); ok {
		return key, nil
	}
	addresses := make([]string, len(nodes))
	for k, n := range nodes {
		addresses[k] = n.Primary.Addr
		if err := s.fit(n, deadline); err != nil {
			return Key{}, err
		}
	}
	key, err := Agree(nodes, deadline)
	if err != nil {
		return Key{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known && s.key != key {
		s.ready = map[string]bool{} // somebody has taken the key away: servers of other nodes may have the one before
	}
	s.key, s.known = key, true
	for _, addr := range addresses {
		s.ready[addr] = true
	}
	return key, nil
}

// have gives the key if all nodes are ready.
func (s *Store) have(nodes []*backend.Node) (Key, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range nodes {
		if !s.ready[n.Primary.Addr] {
			return Key{}, false
		}
	}
	return s.key, s.known
}

// Server returns what is known of the server at an address, which Ready has seen.
func (s *Store) Server(addr string) Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers[addr]
}

// Forget has Ready look at a node's primary anew: it was said to lack something, or to be another server than before.
func (s *Store) Forget(n *backend.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ready, n.Primary.Addr)
}

// fit makes sure that a server qualifies and has everything.
func (s *Store) fit(n *backend.Node, deadline time.Time) error {
	i := n.Primary
	server, err := AskNode(n, deadline)
	if err != nil {
		return place(i, err)
	}
	s.mu.Lock()
	s.servers[i.Addr] = server
	s.mu.Unlock()
	v := Judge(server)
	if v.Fitness == No || v.Fitness == Unsafe && !s.unsafe {
		return place(i, fmt.Errorf("no transactions over several nodes there: %s", v))
	} else if v.Fitness == Unsafe {
		s.tell(i, "transactions over several nodes may come apart when a server crashes", strings.Join(v.Reasons, "; "))
	}
	if v.Loses != "" {
		s.tell(i, "transactions over several nodes may come apart in a fail-over", v.Loses)
	}
	f, made, err := Make(i, deadline)
	if err != nil {
		return err
	}
	if len(made) > 0 {
		s.log.Info("made what transactions over several nodes need", "node", i.Node, "address", i.Addr, "made", strings.Join(made, ", "))
	}
	if open := f.Warning(); open != "" {
		s.tell(i, "outcomes of transactions over several nodes are open to clients' account", open)
	}
	return nil
}

// tell logs a warning once for each server.
func (s *Store) tell(i *backend.Instance, message, detail string) {
	s.mu.Lock()
	told := s.told[i.Addr+message]
	s.told[i.Addr+message] = true
	s.mu.Unlock()
	if !told {
		s.log.Warn(message, "node", i.Node, "address", i.Addr, "detail", detail)
	}
}
