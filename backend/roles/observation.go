package roles

import (
	"slices"
	"strings"

	"kingshard/backend/gtid"
)

// goneAfter is how many questions in a row a server must have left without an answer until another one may take its place.
const goneAfter = 2

// Observation is what one server said when it was asked last.
type Observation struct {
	Addr string
	// Failures counts the questions since, which had no answer.
	Failures int
	// Told says that it has answered; until then, and where the account may not ask (Refused), nothing is known of its role.
	Told, Refused bool
	// Server tells it from all others at whichever address it is, across restarts: MySQL's server_uuid, MariaDB's server_id, host name and port.
	Server string
	// ReadOnly says that it takes no writes of clients.
	ReadOnly bool
	// Sources are those that it is configured to replicate from, whether that runs or not.
	Sources []Source
	// Epoch is what its copy of the table of epochs says.
	Epoch Epoch
	// GTIDs are the transactions that it has; nil where it keeps no account of them.
	GTIDs *gtid.Set
	// Heartbeats are the rows of servers that it has, by Observation.Server. Its own does not go with GTIDs where Unsure: one was being written then.
	Heartbeats map[string]Heartbeat
	Unsure     bool
	// Member is what a server of a group (Group Replication, Galera) says of its membership.
	Member Member
}

// Source is a server that another one replicates from.
type Source struct {
	Addr   string // host:port as configured there
	Server string // MySQL's UUID or MariaDB's server_id of it; "" if the replica does not say
}

// Epoch counts the changes of a node's primary. Each is written on the new one, and comes to the others by replication.
type Epoch struct {
	Number uint64 // 0: none has been written
	Server string // the primary since, as Observation.Server
}

// Member is the state of a server in a group of servers.
type Member uint8

// The states of members.
const (
	Single   Member = iota // of no group
	Online                 // of a group that has one primary at a time
	Multi                  // of a group all of whose members take writes
	Departed               // it does not take part in its group now
)

// gone reports whether the server has not answered for long enough to be replaced.
func (o *Observation) gone() bool { return o.Failures >= goneAfter }

// is reports whether both are answers of one server, at two addresses.
func (o *Observation) is(other *Observation) bool {
	return o.answers() && other.answers() && o.Server != "" && o.Server == other.Server
}

func (o *Observation) answers() bool { return o.Told && o.Failures == 0 }

// follows reports whether the server is configured to replicate from one of others.
func (o *Observation) follows(others []Observation) bool {
	for _, s := range o.Sources {
		for k := range others {
			if others[k].Addr != o.Addr && s.is(&others[k]) {
				return true
			}
		}
	}
	return false
}

// is reports whether the source is the server, by its address or by what it calls itself.
func (s Source) is(o *Observation) bool {
	return s.Addr == o.Addr || o.Calls(s.Server)
}

// Calls reports whether the server calls itself so: server is MySQL's UUID or MariaDB's server_id; "" is nobody.
func (o *Observation) Calls(server string) bool {
	return server != "" && (strings.EqualFold(o.Server, server) || strings.HasPrefix(o.Server, server+"@"))
}

// ReplicaOf reports whether a server is configured to replicate from another one, by what that calls itself.
func (o *Observation) ReplicaOf(source *Observation) bool {
	return slices.ContainsFunc(o.Sources, func(s Source) bool { return source.Calls(s.Server) })
}

// astray reports whether the server is in no group, or has left it, though others of the node are in one.
func (o *Observation) astray(all []Observation) bool {
	return o.Member == Departed || o.Member == Single && grouped(all)
}

// InGroup reports whether the server is in a group, and in step with it.
func (o *Observation) InGroup() bool { return o.Member == Online || o.Member == Multi }

// grouped reports whether one of the servers is in a group.
func grouped(all []Observation) bool {
	return slices.ContainsFunc(all, func(o Observation) bool { return o.InGroup() })
}

// takesWrites reports whether the server answers and is no replica of a server of the node.
func (o *Observation) takesWrites(all []Observation) bool {
	return o.answers() && !o.ReadOnly && !o.astray(all) && !o.follows(all)
}

// promoted reports whether the server answers, takes writes and replicates from nobody: somebody made it a primary, or nothing else.
func (o *Observation) promoted(all []Observation) bool {
	return o.takesWrites(all) && len(o.Sources) == 0
}
