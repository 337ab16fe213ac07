package proxy

import (
	"kingshard/backend"
	"kingshard/proxy/querylog"
)

// Nodes are the nodes in force, for tests that look into their pools.
func (s *Server) Nodes() map[string]*backend.Node { return s.shared.Snapshot.Load().Nodes }

// Clients is the number of client connections, those logging in included.
func (s *Server) Clients() int { return s.shared.Sessions.Len() }

// Queries is what takes the statements.
func (s *Server) Queries() *querylog.Log { return &s.shared.Queries }
