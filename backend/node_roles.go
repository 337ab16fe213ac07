package backend

import (
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend/roles"
)

// unsettled is why a primary is withheld at the beginning.
const unsettled = "its servers have not been asked yet which of them is the primary"

// Roles are what the servers of a node were seen to be, across reloads. Any goroutine may use it.
type Roles struct {
	mu       sync.Mutex
	standing roles.Standing
	seen     []seenRole // by address
	verdict  roles.Verdict
	// proxy tells this one from the others that may write heartbeats.
	proxy string
	beats roles.Heartbeats // of the primary
	// beating says that a heartbeat is being written.
	beating atomic.Bool
}

// seenRole is what a server was seen to be last.
type seenRole struct {
	roles.Observation
	asked uint64    // how often it has been asked
	at    time.Time // of its last answer
}

// NewRoles returns those of a node whose servers have not been asked, with the configured primary.
func NewRoles(primary string) *Roles {
	return &Roles{standing: roles.Standing{Primary: primary}, proxy: rand.Text()}
}

// Note takes an observation of a server, and judges by those of all servers at the addresses. The observation lasts until the next one.
func (r *Roles) Note(o roles.Observation, addrs []string, serveDiverged bool) roles.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.at(o.Addr)
	if seen == nil {
		r.seen = append(r.seen, seenRole{})
		seen = &r.seen[len(r.seen)-1]
		seen.Addr = o.Addr
	}
	seen.asked++
	if o.Failures > 0 {
		seen.Failures = o.Failures // what it was is not forgotten
	} else {
		seen.Observation, seen.at = o, time.Now()
	}
	r.standing.Note(&o)
	if row, ok := o.Heartbeats[o.Server]; ok && o.Addr == r.standing.Primary {
		r.beats.See(o.Server, row.Counter, seen.at)
	}
	all := make([]roles.Observation, 0, len(addrs))
	for _, addr := range addrs {
		if seen := r.at(addr); seen != nil {
			all = append(all, seen.Observation)
		} else {
			all = append(all, roles.Observation{Addr: addr})
		}
	}
	r.verdict = r.standing.Judge(all, serveDiverged)
	return r.verdict
}

// Become notes that the server at the address has the role.
func (r *Roles) Become(addr string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.standing.Primary != addr {
		for k := range r.seen {
			r.seen[k].Told = false // what it was before says nothing of what it is now
		}
		r.beats = roles.Heartbeats{}
	}
	r.standing.Become(addr)
	r.verdict = roles.Verdict{Primary: addr}
}

// Verdict is the last one.
func (r *Roles) Verdict() roles.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verdict
}

// at gives what the server at the address was seen to be; nil if it has not been asked.
func (r *Roles) at(addr string) *seenRole {
	for k := range r.seen {
		if r.seen[k].Addr == addr {
			return &r.seen[k]
		}
	}
	return nil
}

// Seen returns what the server at the address was last seen to be, and how often it has been asked; 0: never.
func (r *Roles) Seen(addr string) (o roles.Observation, asked uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seen := r.at(addr); seen != nil {
		return seen.Observation, seen.asked
	}
	return o, 0
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
		n.Withhold(Unsettled, "")
	}
}
