package fastlane

import (
	"os"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A loop that makes so many rounds in busyTime or less is busy, until it takes idleTime or more, or waits.
const (
	countedRounds = 256
	busyTime      = 100 * time.Millisecond
	idleTime      = 200 * time.Millisecond
)

// activity tells whether a loop is busy. The zero value is that of a loop that is not.
type activity struct {
	busy   bool
	rounds int
	since  time.Time
}

// round counts a round; true when the activity has changed.
func (a *activity) round() bool {
	if a.rounds++; a.rounds < countedRounds {
		return false
	}
	now := time.Now()
	took := now.Sub(a.since)
	a.rounds, a.since = 0, now
	if a.busy && took >= idleTime || !a.busy && took <= busyTime {
		a.busy = !a.busy
		return true
	}
	return false
}

// rest ends the activity; true when it has changed.
func (a *activity) rest() bool {
	was := a.busy
	*a = activity{}
	return was
}

// policy has all threads scheduled as SCHED_BATCH, see sched(7), while a loop is busy: what an event wakes up does not push
// client or server off the processor in the middle of a statement, but waits for them to pause, and finds more events then.
// Else threads are scheduled as any, for with little to do latency counts. It is about all threads, not those that loops
// run on, as a loop is not bound to one: each change of goroutines would cost two of threads then.
type policy struct {
	mu   sync.Mutex
	keep bool // the process was started as SCHED_FIFO, SCHED_IDLE or such, or may not change it
	busy int  // loops
}

// begin looks at what the process was started with. A busy process starts a successor as SCHED_BATCH, which
// SCHED_RESET_ON_FORK does not prevent.
func (p *policy) begin() {
	now := scheduled(0)
	p.keep = now != unix.SCHED_NORMAL && now != unix.SCHED_BATCH
	if schedule(0, now) != 0 {
		p.keep = true // a filter forbids it: better known now than under load
	}
	p.set(unix.SCHED_NORMAL)
}

// change counts a loop as busy, or no longer.
func (p *policy) change(busy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case busy:
		if p.busy++; p.busy == 1 {
			p.set(unix.SCHED_BATCH)
		}
	default:
		if p.busy--; p.busy == 0 {
			p.set(unix.SCHED_NORMAL)
		}
	}
}

// set changes the policy of all threads. Those that start later inherit that of the thread that starts them, and so may those
// that start meanwhile: it looks again.
func (p *policy) set(policy int) {
	for range setsMax {
		if p.keep || !p.pass(policy) {
			return
		}
	}
}

// setsMax is how often set looks for threads.
const setsMax = 3

// pass tells whether a thread had another policy. Without a free descriptor it finds none, and the next change is the one
// that counts.
func (p *policy) pass(policy int) (changed bool) {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		thread, _ := strconv.Atoi(t.Name())
		if scheduled(thread) == policy {
			continue
		}
		switch schedule(thread, policy) {
		case 0:
			changed = true
		case unix.ESRCH: // it has ended
		default:
			p.keep = true
			return false
		}
	}
	return changed
}

// scheduled gives a thread's policy, of the calling one for 0; negative if it cannot be told.
func scheduled(thread int) int {
	policy, _, errno := unix.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(thread), 0, 0)
	if errno != 0 {
		return -1
	}
	return int(policy)
}

// schedule sets a thread's policy and leaves its nice value. Filters of system calls may forbid it.
func schedule(thread, policy int) unix.Errno {
	var priority int32 // 0, the only one of these policies
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, uintptr(thread), uintptr(policy), uintptr(unsafe.Pointer(&priority)))
	return errno
}
