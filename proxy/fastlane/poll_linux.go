package fastlane

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// polling is how a loop looks for events before it waits for them. To be woken costs what the scheduler takes, and on a processor that
// sleeps meanwhile, in a virtual machine above all, what it takes to wake that; with few clients most of a statement's way is this.
type polling struct {
	vain   int          // times in a row that nothing came
	passed int          // occasions left out since that was vainMax
	polled atomic.Int64 // nanoseconds, by the clock
	used   atomic.Int64 // of them with the processor, which others may have meanwhile
}

// A loop that polled in vain vainMax times in a row leaves out the next restFor occasions: what it waits for takes longer than it may look.
// So does one that let others go first and had to wait for crowdedFor or more until they were done: programs that calculate. One that sleeps
// is before them when it is woken up.
const (
	vainMax    = 16
	restFor    = 256
	crowdedFor = time.Millisecond
)

// pays tells whether the loop is to poll now.
func (p *polling) pays() bool {
	if p.vain < vainMax {
		return true
	}
	if p.passed++; p.passed >= restFor {
		p.vain, p.passed = 0, 0
	}
	return false
}

// found notes whether a poll found something, and whether others had the processor for long meanwhile.
func (p *polling) found(something, crowded bool) {
	switch {
	case crowded:
		p.vain = vainMax
	case something:
		p.vain = 0
	default:
		p.vain++
	}
}

// poll looks for events again and again, for as long as the group says; 0 when none came. Threads that want this processor have it
// between two looks.
func (l *Loop) poll(list []unix.EpollEvent) (n int) {
	most := time.Duration(l.group.pollMost.Load())
	if most == 0 || !l.pays() {
		return 0
	}
	if n = l.nap(list, 0); n > 0 { // as under load: no clock is read for it
		l.found(true, false)
		return n
	}
	if l.ticks {
		most = min(most, time.Until(l.tickAt))
	}
	began, used := time.Now(), threadTime()
	var took, others time.Duration // others had the processor for so long
	for n == 0 && took < most {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		n = l.nap(list, 0)
		last := took
		if took = time.Since(began); took-last >= crowdedFor {
			others += took - last
		}
	}
	l.found(n > 0, others > 0)
	l.polled.Add(int64(took))
	l.used.Add(int64(min(max(0, threadTime()-used), took-others))) // the goroutine may be on another thread by now, or have shared its own
	return n
}

// threadTime is the processor time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano())
}
