package session

import (
	"net"
	"net/netip"

	"kingshard/proxy/process"
)

// preAuthCap bounds every packet before the login is complete, in bytes.
const preAuthCap = 64 << 10

// Session is one client. Its goroutine, or loop, owns all fields but the client's entry.
type Session struct {
	// LoggedIn, if set before Serve, is called once: when the login succeeded or the session ended without one.
	LoggedIn func()

	client    client
	effects   effects
	leases    leases
	routing   routing
	exchanges exchanges
	rights    rights
	stmts     stmts
	lane      laned
}

// assemble returns a session whose parts know each other.
func assemble() *Session {
	s := new(Session)
	s.effects.client = &s.client
	s.leases.client = &s.client
	s.routing.client, s.routing.effects = &s.client, &s.effects
	s.exchanges = exchanges{client: &s.client, effects: &s.effects, leases: &s.leases, routing: &s.routing}
	s.rights.client, s.rights.leases, s.rights.routing, s.rights.exchanges = &s.client, &s.leases, &s.routing, &s.exchanges
	s.stmts = stmts{client: &s.client, routing: &s.routing, exchanges: &s.exchanges, rights: &s.rights}
	s.lane.Session = s
	return s
}

// settings returns the part for statements about the session itself.
func (s *Session) settings() settings {
	return settings{&s.client, &s.leases, &s.routing, &s.exchanges}
}

// login returns the part that lets the client in.
func (s *Session) login() login { return login{&s.client, s.settings()} }

// kills returns the part for KILL.
func (s *Session) kills() kills { return kills{&s.client, &s.leases, &s.routing} }

// ours returns the part for statements of the proxy's own.
func (s *Session) ours() ours { return ours{&s.client} }

// New wraps an accepted connection, which the session owns from here on. With adminOnly it is a session of the admin port: it has no schema
// and no backend, and takes the proxy's own statements only.
func New(nc net.Conn, shared *Shared, adminOnly bool) *Session {
	s := assemble()
	s.client.init(nc, shared)
	if a, ok := nc.RemoteAddr().(*net.TCPAddr); ok {
		from := a.AddrPort()
		s.client.comesFrom(netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
	s.client.entry.Connect((*clientConn)(s.client.conn), process.Who{Host: hostOf(s.client.addr), Admin: adminOnly}, shared.Log)
	shared.Sessions.Add(&s.client.entry)
	s.client.identify(s.client.entry.ID())
	return s
}

// loginOver tells the owner that the login succeeded or will not any more.
func (s *Session) loginOver() {
	if s.LoggedIn != nil {
		s.LoggedIn()
		s.LoggedIn = nil
	}
}
