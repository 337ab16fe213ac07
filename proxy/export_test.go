package proxy

import (
	"context"

	"kingshard/backend"
	"kingshard/proxy/account"
	"kingshard/proxy/observe"
	"kingshard/proxy/placement"
	"kingshard/proxy/process"
	"kingshard/proxy/querylog"
)

// Nodes are the nodes in force, for tests that look into their pools.
func (s *Server) Nodes() map[string]*backend.Node { return s.shared.Snapshot.Load().Nodes }

// Clients is the number of client connections, those logging in included.
func (s *Server) Clients() int { return s.shared.Sessions.Len() }

// Sessions are the clients' entries in the process list.
func (s *Server) Sessions() *process.List { return &s.shared.Sessions }

// TellOfReplicas looks at the servers anew, as a start does.
func (s *Server) TellOfReplicas(ctx context.Context) (complete bool) {
	return s.tellOfReplicas(ctx, &replicasSeen{told: map[string]bool{}})
}

// TellOfKeys looks at the keys of text anew, as a start does.
func (s *Server) TellOfKeys(ctx context.Context) (complete bool) {
	return s.tellOfKeys(ctx, map[placement.Finding]bool{})
}

// Queries is what takes the statements.
func (s *Server) Queries() *querylog.Log { return &s.shared.Queries }

// Totals are what the sessions have counted.
func (s *Server) Totals() observe.Totals { return s.shared.Stats.Totals() }

// PinTotals are how often sessions came to keep a connection, by why.
func (s *Server) PinTotals() map[string]uint64 { return s.shared.Pins.Totals() }

// PacketBytes is what clients' long packets and parameters take.
func (s *Server) PacketBytes() int64 { return s.shared.Packets.Used() }

// StatementBytes is what the prepared statements of clients take.
func (s *Server) StatementBytes() int64 { return s.shared.Statements.Used() }

// Failures are the logins that failed.
func (s *Server) Failures() *account.Failures { return &s.shared.Failures }

// UseProcessors sets how many processors the proxy runs on, from 1 to ProcessorsMax.
func (s *Server) UseProcessors(n int) { s.useProcessors(n) }

// ProcessorsMax is how many there may be.
var ProcessorsMax = processorsMax
