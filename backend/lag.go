package backend

import "time"

// Lag is how far a replica is behind its source.
type Lag struct {
	// Behind is valid if Known. It is what heartbeats tell, else what the server says, in seconds; of a replica that lost its source, how far it may be at most.
	Behind time.Duration
	// Known is false when nothing tells: the server gets no heartbeats and does not say, since replication is not configured or stopped, or the account may not ask.
	Known bool
}

// The values of Instance.lag that are no lag.
const (
	lagUnknown = -1
	lagUnasked = -2 // no probe has asked yet
)

// SetLag stores what a probe found, whether reads are to pass the replica over, and whether they may go there all the same while the
// primary is down. Only the instance's one watcher calls it.
func (i *Instance) SetLag(l Lag, passOver, lastResort bool) {
	value := int64(lagUnknown)
	if l.Known {
		value = int64(l.Behind)
	}
	i.lastResort.Store(lastResort)
	i.passedOver.Store(passOver)
	i.lag.Store(value)
}

// Lag is what a probe found last; asked is false when none has asked yet. The server of the primary is never behind.
func (i *Instance) Lag() (l Lag, asked bool) {
	if i.IsSource {
		return Lag{Known: true}, true
	}
	switch v := i.lag.Load(); v {
	case lagUnasked:
		return Lag{}, false
	case lagUnknown:
		return Lag{}, true
	default:
		return Lag{Behind: time.Duration(v), Known: true}, true
	}
}

// PassedOver tells whether reads go elsewhere because the replica is too far behind, or may be.
func (i *Instance) PassedOver() bool { return i.passedOver.Load() }

// succeedLag takes over what is known of the same server.
func (i *Instance) succeedLag(before *Instance) {
	if before.Role != Replica || i.Role != Replica || i.IsSource || before.IsSource {
		return
	}
	i.lag.Store(before.lag.Load())
	if i.lagMax > 0 && before.lagMax > 0 {
		i.passedOver.Store(before.passedOver.Load())
		i.lastResort.Store(before.lastResort.Load())
	}
}
