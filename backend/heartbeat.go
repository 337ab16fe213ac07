package backend

import (
	"time"

	"kingshard/backend/roles"
)

const (
	// HeartbeatInterval is how often a heartbeat is written on a primary.
	HeartbeatInterval = 500 * time.Millisecond
	// heartbeatTakeover is after how long without one another proxy writes them.
	heartbeatTakeover = 3 * HeartbeatInterval
	// heartbeatsTell is for how long heartbeats, and what a replica was seen to have of them, tell how far it is behind.
	heartbeatsTell = 6 * HeartbeatInterval
)

// Heartbeat is one that is to be written.
type Heartbeat struct {
	Server string // that it is written on, as roles.Observation.Server
	Epoch  uint64
	Writer string
}

// HeartbeatDue returns the heartbeat that this proxy is to write on the node's primary now. Of several proxies it is the one that wrote the last, as long as it does.
func (n *Node) HeartbeatDue(now time.Time) (h Heartbeat, due bool) {
	r := n.Roles
	r.mu.Lock()
	defer r.mu.Unlock()
	primary := r.at(n.Primary.Addr)
	if !r.verdict.Serves || n.Primary.Addr != r.standing.Primary || primary == nil || primary.Server == "" || now.Sub(primary.at) > heartbeatTakeover {
		return h, false
	}
	row, some := primary.Heartbeats[primary.Server]
	due = !some || row.Writer == r.proxy || now.Sub(r.beats.Last()) > heartbeatTakeover
	return Heartbeat{Server: primary.Server, Epoch: r.standing.Epoch, Writer: r.proxy}, due
}

// WriteHeartbeat has write called unless the node's primary is withheld or down. Whoever withholds it may wait until [Roles.Beating] is false: from then on
// no heartbeat is under way.
func (n *Node) WriteHeartbeat(write func() error) error {
	n.Roles.beating.Store(true)
	defer n.Roles.beating.Store(false)
	if n.Primary.State() == Down {
		return nil
	}
	return write()
}

// Beating reports whether a heartbeat is being written.
func (r *Roles) Beating() bool { return r != nil && r.beating.Load() }

// Behind is how far heartbeats say that a replica is behind.
type Behind struct {
	Lag
	// AtLeast says that it may be more: it lacks some that were there before this proxy looked.
	AtLeast bool
}

// Behind returns how far heartbeats say that the server at the address is behind the primary: for how long it has lacked one. It is not known where none are
// written now, or the server does not get them.
func (r *Roles) Behind(addr string, now time.Time) (b Behind) {
	if r == nil {
		return b
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	primary, seen := r.at(r.standing.Primary), r.at(addr)
	if primary == nil || seen == nil || !seen.Told || now.Sub(seen.at) > heartbeatsTell || now.Sub(r.beats.Last()) > heartbeatsTell {
		return b
	}
	var row roles.Heartbeat
	if row, b.Known = seen.Heartbeats[primary.Server]; b.Known {
		b.Behind, b.AtLeast = r.beats.Behind(row.Counter, seen.at)
		b.Behind = b.Behind.Round(time.Millisecond)
	}
	return b
}
