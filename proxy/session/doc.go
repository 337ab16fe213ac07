// Package session is one client of the proxy, from its greeting to its end. [New] wraps an accepted connection,
// [Session.Serve] runs it on the caller's goroutine, until it waits in an event loop: read a command from the client, write it to a backend, read the
// backend, write the client.
//
// Start reading at serve.go, dispatch; docs/ARCHITECTURE.md lists the parts that a session is made of. Package state says which session state
// the proxy keeps, route.go which instance a statement goes to, lease.go how long a backend connection is held.
package session
