// Package pool keeps connections open between their uses. It has a hard ceiling, remembers which setting each
// connection carries so that the next borrower with the same setting needs no round trip, and lets those who find
// nothing wait in one queue, each with a deadline: goroutines in [Pool.Get], the borrowers of event loops in a [Place].
// Start with [Open]; [Pool.Get] borrows, [Pool.Put] or [Pool.Taint] ends the loan.
//
// All state is under one mutex, which is never held while a connection is dialled, checked or closed. Two sentences
// keep it right, and every change of state ends by making them true again before the mutex is released:
//
//   - each connection holds one slot from before it is dialled until after it is closed, and there are never more
//     slots taken than the ceiling (but for connections that were there before the ceiling was lowered);
//   - while somebody waits nothing is idle, and no connection could be dialled, unless as many are lent as may be, by a limit below the ceiling.
//
// So a waiter is never forgotten: whoever gives something back finds the first waiter under the same mutex under which
// that waiter looked and queued. The only timer that anybody depends on is the end of a back-off, which is itself a
// point in time.
package pool
