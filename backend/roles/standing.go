package roles

import (
	"strings"

	"kingshard/backend/gtid"
)

// Standing is what is known of a node between two looks at its servers. Zero is a node whose servers have not been asked.
type Standing struct {
	// Primary is the address of the server that has the role.
	Primary string
	// Settled says that it was found to have the role, by its servers or by an operator; before, it is only what the configuration says.
	Settled bool
	// Epoch is the highest that any server of the node has told.
	Epoch uint64
	// had is what the primary was seen to have when it was asked last but one, and now that of the last time: a server that
	// acknowledges late may tell of some transactions that no client has heard of.
	had, now holding
}

// holding are the transactions of a server, some of which are heartbeats of its own.
type holding struct {
	gtids      *gtid.Set
	server     string
	heartbeats uint64
}

// Verdict is what follows from observations.
type Verdict struct {
	// Primary is the address of the server that is to have the role.
	Primary string
	// Moves says that Primary is another server than the one that had the role when it was judged.
	Moves bool
	// Held says that nothing may be sent to a primary: it is not known which it is.
	Held bool
	// Serves says that Primary was found to do as one in the node's last epoch, and not in a group all of whose members take writes: heartbeats are to be
	// written there.
	Serves bool
	// Diverged says that Primary lacks transactions that the one before was seen to have.
	Diverged bool
	// Retired are addresses of servers that nothing may be sent to: they take writes though another one became the primary since they were it, or are
	// outside of the group that others are in, and nothing tells how old their rows are.
	Retired []string
	// Reason says why another server has the role than before, or why none can be followed though the primary does not do; "" where all is well.
	Reason string
}

// Note adds to what is known.
func (s *Standing) Note(o *Observation) {
	if !o.Told || o.Failures > 0 {
		return
	}
	s.Epoch = max(s.Epoch, o.Epoch.Number)
	if o.Addr == s.Primary && o.GTIDs != nil && !o.Unsure {
		s.had, s.now = s.now, holding{o.GTIDs, o.Server, o.Heartbeats[o.Server].Counter}
	}
}

// Become notes that a server has the role from now on.
func (s *Standing) Become(addr string) {
	if s.Primary != addr {
		s.had, s.now = holding{}, holding{}
	}
	s.Primary, s.Settled = addr, true
}

// Judge decides by the observations of all servers of the node, each of which has been noted. serveDiverged has it follow a server that lacks
// transactions of the primary.
func (s *Standing) Judge(all []Observation, serveDiverged bool) Verdict {
	v := Verdict{Primary: s.Primary}
	current := at(all, s.Primary)
	if current == nil {
		return v
	}
	if !s.Settled {
		for k := range all {
			if o := &all[k]; !o.Told && !o.Refused && !o.gone() {
				v.Held, v.Reason = true, o.Addr+" has not been asked yet whether it is the primary"
				return v
			}
		}
	}
	addrs := all
	all = distinct(all, current)
	best, several := s.best(all)
	leaves := current.mayBeLeft(all)
	switch {
	case several && (leaves || !s.Settled):
		v.Held = !s.Settled // else it is down, or read from
		v.Reason = "several servers take writes, " + writers(all) + ", and nothing tells which of them is the primary"
	case best != nil && best.Addr != current.Addr && (leaves || best.Epoch.Number > current.Epoch.Number && current.takesWrites(all)):
		s.follow(&v, current, best, all, serveDiverged)
	}
	v.Serves = s.Settled && v.Primary == s.Primary && current.takesWrites(all) && current.Member != Multi && current.Epoch.Number >= s.Epoch
	primary := at(addrs, v.Primary)
	for k := range addrs {
		o := &addrs[k]
		old := o.promoted(addrs) && o.Member == Single && o.Epoch.Number < s.Epoch
		outside := o.answers() && grouped(addrs) && o.astray(addrs) && !o.follows(addrs)
		if o != primary && !o.is(primary) && (old || outside) {
			v.Retired = append(v.Retired, o.Addr)
		}
	}
	return v
}

// distinct leaves out servers that answer at another address, too: they are listed once, where the primary is listed as the primary.
func distinct(all []Observation, primary *Observation) []Observation {
	list := make([]Observation, 0, len(all))
	for k := range all {
		o := &all[k]
		twice := o != primary && primary.is(o)
		for j := range list {
			twice = twice || list[j].is(o)
		}
		if !twice {
			list = append(list, *o)
		}
	}
	return list
}

// mayBeLeft reports whether it is certain enough that the server does not do as a primary. One that does not tell may be one.
func (o *Observation) mayBeLeft(all []Observation) bool {
	return o.gone() || o.Failures == 0 && o.Told && !o.takesWrites(all)
}

// best gives the server that has been promoted in the node's epoch. Of several it is the one that the epoch names, and of a group all of whose members
// take writes the primary that there is, or else the first; otherwise several says that nothing tells one from the others.
func (s *Standing) best(all []Observation) (best *Observation, several bool) {
	for k := range all {
		o := &all[k]
		switch {
		case !o.promoted(all) || o.Epoch.Number < s.Epoch:
		case best == nil, o.named(), o.Member == Multi && o.Addr == s.Primary:
			best, several = o, false
		case best.named(), o.Member == Multi:
		default:
			several = true
		}
	}
	if several {
		return nil, true
	}
	return best, false
}

// named reports whether the server's epoch is its own.
func (o *Observation) named() bool { return o.Epoch.Number > 0 && o.Epoch.Server == o.Server }

// follow gives the role to another server.
func (s *Standing) follow(v *Verdict, current, to *Observation, all []Observation, serveDiverged bool) {
	fine := current.takesWrites(all)
	why := "it takes no writes"
	switch {
	case fine:
		why = "the other one has a later epoch"
	case current.gone():
		why = "it does not answer"
	case current.astray(all):
		why = "it is not in its group"
	case current.follows(all):
		why = "it is a replica"
	}
	if v.Diverged = to.Member == Single && s.had.lostBy(to); v.Diverged && !serveDiverged {
		v.Held = fine
		v.Reason = to.Addr + " takes writes, but lacks transactions that " + current.Addr + " had: not all of " + s.had.gtids.String() + " is in " + to.GTIDs.String()
		return
	}
	v.Primary, v.Moves, v.Reason = to.Addr, true, current.Addr+" is not the primary any more: "+why
}

// lostBy reports whether a server lacks more of what was had than heartbeats. Each of these is one transaction, which its counter tells.
func (h holding) lostBy(to *Observation) bool {
	if h.gtids == nil || to.GTIDs == nil || h.gtids.In(to.GTIDs) {
		return false
	}
	there, ok := to.Heartbeats[h.server]
	return !ok || h.heartbeats < there.Counter || h.gtids.Missing(to.GTIDs) != h.heartbeats-there.Counter
}

func at(all []Observation, addr string) *Observation {
	for k := range all {
		if all[k].Addr == addr {
			return &all[k]
		}
	}
	return nil
}

// writers names the servers that take writes.
func writers(all []Observation) string {
	var list []string
	for k := range all {
		if all[k].promoted(all) {
			list = append(list, all[k].Addr)
		}
	}
	return strings.Join(list, " and ")
}
