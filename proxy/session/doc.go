// Package session is one client of the proxy, from its greeting to its end. [New] wraps an accepted connection,
// [Session.Serve] runs it on the caller's goroutine: read a command from the client, write it to a backend, read the
// backend, write the client.
//
// Start reading at serve.go; each family of COM_ commands has a file of its own. state.go and set.go say which session
// state the proxy keeps, route.go which instance a statement goes to, lease.go how long a backend connection is held.
package session
