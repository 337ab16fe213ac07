package backend

import (
	"slices"
	"sync"

	"kingshard/backend/roles"
)

// unsettled is why a primary is withheld at the beginning.
const unsettled = "its servers have not been asked yet which of them is the primary"

// Roles are what the servers of a node were seen to be, across reloads. Any goroutine may use it.
type Roles struct {
	mu       sync.Mutex
	standing roles.Standing
	seen     []roles.Observation // by address
	verdict  roles.Verdict
}

// NewRoles returns those of a node whose servers have not been asked, with the configured primary.
func NewRoles(primary string) *Roles {
	return &Roles{standing: roles.Standing{Primary: primary}}
}

// Note takes an observation of a server, and judges by those of all servers at the addresses. The observation lasts until the next one.
func (r *Roles) Note(o roles.Observation, addrs []string, serveDiverged bool) roles.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := slices.IndexFunc(r.seen, func(one roles.Observation) bool { return one.Addr == o.Addr })
	switch {
	case k < 0:
		r.seen = append(r.seen, o)
	case o.Failures > 0: // what it was is not forgotten
		r.seen[k].Failures = o.Failures
	default:
		r.seen[k] = o
	}
	r.standing.Note(&o)
	all := make([]roles.Observation, 0, len(addrs))
	for _, addr := range addrs {
		one := roles.Observation{Addr: addr}
		if k := slices.IndexFunc(r.seen, func(one roles.Observation) bool { return one.Addr == addr }); k >= 0 {
			one = r.seen[k]
		}
		all = append(all, one)
	}
	r.verdict = r.standing.Judge(all, serveDiverged)
	return r.verdict
}

// Become notes that the server at the address has the role.
func (r *Roles) Become(addr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.standing.Become(addr)
	r.verdict = roles.Verdict{Primary: addr}
}

// Verdict is the last one.
func (r *Roles) Verdict() roles.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verdict
}

// Seen returns what the server at the address was last seen to be.
func (r *Roles) Seen(addr string) (o roles.Observation, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := slices.IndexFunc(r.seen, func(one roles.Observation) bool { return one.Addr == addr }); k >= 0 {
		return r.seen[k], true
	}
	return o, false
}

// Epoch is the highest that was seen.
func (r *Roles) Epoch() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.standing.Epoch
}

// Settled reports whether it is known which server is the primary.
func (r *Roles) Settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.standing.Settled
}

// succeedRoles goes on with what is known. A node that has served is settled, and so is a primary that another configuration names.
func (n *Node) succeedRoles(old *Node) {
	if n.Roles == nil {
		return
	}
	served := true
	if old.Roles != nil {
		n.Roles, served = old.Roles, old.Roles.Settled()
	}
	if served || n.Primary.Addr != old.Primary.Addr {
		n.Roles.Become(n.Primary.Addr)
		n.Withhold("")
	}
}
