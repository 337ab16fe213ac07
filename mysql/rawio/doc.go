// Package rawio reads and writes sockets that do not block, by system calls of which the scheduler of goroutines is not told.
//
// Such a call comes back at once, so the scheduler has nothing to do for it. Told of it, it takes the processor away from a
// goroutine that the kernel interrupted during the call, starts another thread in its place, and goes on looking for such calls
// up to 50,000 times a second: on busy processors a fifth of a proxy's processor time.
// A call moves at most Step bytes, that of a [Batch] as much for each of its writes, as it holds up collections of garbage while it lasts.
package rawio

// Step is the most that one call moves, in bytes: some 50 us of copying.
const Step = 256 << 10
