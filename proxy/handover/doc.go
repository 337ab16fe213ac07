// Package handover is how a process of the proxy gives its listeners and its clients' connections to the process of a new
// binary: over a pair of unix sockets that has no name, so that nobody but the two can speak on it.
//
// The old process starts the new one with [Start] and the new one finds its end with [Inherited]. What they say, in frames
// of a kind, a length and at most one descriptor:
//
//	old                                  new
//	 | hello, a listener each  ---------> |  reads its configuration, builds the server
//	 | <------------ ready, or refused    |
//	 | (stops accepting)                  |
//	 | serve                   ---------> |  accepts clients
//	 | <-------------------------- serving|
//	 | session, its connection ---------> |  once for each, when it is idle
//	 | <--------------- taken, or declined|
//	 | (ends; the socket closes)          |
//
// Up to serving the old process can go on as if nothing had happened. docs/design/hand-over.md tells more.
package handover

// Version counts the forms that the frames have had, and what is in them, the description of a session included. Two processes whose
// versions differ do not hand over: the one started refuses, and the old one goes on.
const Version = 1
