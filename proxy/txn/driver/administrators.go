package driver

import (
	"errors"
	"slices"
	"sync"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn/twophase"
)

// administrators are connections of the proxy's own account to primaries, opened when they are asked for. One goroutine uses them.
type administrators struct {
	d      *Driver
	admins map[string]*administrator // by the address of the primary
	silent *silent
	// refused says that a server would have no connection more.
	refused bool
}

func newAdministrators(d *Driver, s *silent) administrators {
	return administrators{d: d, admins: map[string]*administrator{}, silent: s}
}

func (r *administrators) close() {
	for _, a := range r.admins {
		a.conn.Close()
	}
}

// admin returns a connection to a node's primary, nil if there is none now.
func (r *administrators) admin(n *backend.Node) *administrator {
	addr := n.Primary.Addr
	if a := r.admins[addr]; a != nil {
		return a
	}
	if r.silent.has(addr) {
		return nil
	}
	a, err := administer(n, time.Now().Add(adminTimeout))
	if err != nil {
		if _, r.refused = errors.AsType[*mysql.SQLError](err); !r.refused {
			r.silent.add(addr)
		}
		return nil
	}
	r.admins[addr] = a
	return a
}

// leave closes connections to what servers were before a reload: each keeps all instances that have been at its address since then, and may be of an
// account, or to a server, that is not in the configuration any more.
func (r *administrators) leave() {
	nodes := r.d.sorted()
	for addr, a := range r.admins {
		if !slices.ContainsFunc(nodes, func(n *backend.Node) bool { return n.Primary == a.instance }) {
			a.conn.Close()
			delete(r.admins, addr)
		}
	}
}

// lost closes a connection that is out of step.
func (r *administrators) lost(n *backend.Node) {
	if a := r.admins[n.Primary.Addr]; a != nil {
		a.conn.Close()
		delete(r.admins, n.Primary.Addr)
	}
}

// do carries an action out; on the node's primary.
func (r *administrators) do(a twophase.Action) twophase.Answer {
	answer := twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key, Result: twophase.NoAnswer}
	n := r.d.node(a.Node)
	if n == nil {
		return answer
	}
	admin := r.admin(n)
	if admin == nil {
		return answer
	}
	deadline := time.Now().Add(adminTimeout)
	if answer = admin.do(a, deadline); answer.Result == twophase.NoAnswer {
		r.lost(n)
		if time.Now().After(deadline) {
			r.silent.add(n.Primary.Addr)
		}
	}
	return answer
}

// silent are the addresses of primaries that did not answer: nobody tries to connect to them again before the next look, as each try may take all of adminTimeout, and so may each
// question to a server that lets clients log in and writes nothing.
type silent struct {
	mu    sync.Mutex
	addrs map[string]bool
}

func (s *silent) has(addr string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addrs[addr]
}

func (s *silent) add(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.addrs == nil {
		s.addrs = map[string]bool{}
	}
	s.addrs[addr] = true
}

func (s *silent) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.addrs)
}
