// Package fastlane runs connections in event loops, each on an epoll instance of its own: [Open] starts the loops,
// [Group.Adopt] takes a network connection out of the Go runtime's poller into one of them.
//
// A [Conn] is a net.Conn for goroutines, whose reads and writes wait for the loop to see readiness. Between uses its owner
// may park it: then no goroutine and no buffer is bound to it, and its loop calls a [Handler] when something arrives. A
// handler runs to its end on the loop and so must not wait for anything: what would, it hands to a goroutine.
//
// A connection has one owner at a time: a goroutine, or the loop while the connection is parked and in the handler that
// follows. Only Close and SetDeadline may be called by others.
//
//	         Park                     something to read
//	owner ----------> parked ---------------------------------> handler on the loop, the owner
//	  ^                                                            |
//	  +------------------- handed to a goroutine ------------------+
package fastlane

import "time"

// Handler is what a parked connection waits for.
type Handler interface {
	// Ready is called on the connection's loop, which owns the connection from here on: there is something to read, the
	// peer has closed, or the connection was closed here. It may be called when there is nothing of that after all.
	Ready(l *Loop, c *Conn)
}

// Ticker is what a loop's user keeps beside the connections.
type Ticker interface {
	// Tick is called on the loop, at the time asked for by Loop.After and after Loop.TickNow.
	Tick(l *Loop)
	// Round is called on the loop at the end of a round in which Loop.AtRoundEnd was called, when all that had come at its
	// beginning has been handled, and a tick if its time had come. It does itself what it would ask for with another call.
	Round(l *Loop)
	// Stop is called on the loop as the last thing.
	Stop(l *Loop)
}

// Sender has given bytes to Loop.Gather.
type Sender interface {
	// Sent tells that the first n bytes were sent, one at least.
	Sent(n int)
}

// tickMin is the resolution of Loop.After.
const tickMin = time.Millisecond
