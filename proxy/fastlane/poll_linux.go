package fastlane

import (
	"sync/atomic"
	"time"

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
const (
	vainMax = 16
	restFor = 256
)

// pays tells whether the loop is to poll now.
func (p *polling) pays() bool {
	if p.vain < vainMax {
		return true
	}
	if p.passed++; p.passed > restFor {
		p.vain, p.passed = 0, 0
	}
	return false
}

// found notes whether a poll found something.
func (p *polling) found(something bool) {
	if p.vain++; something {
		p.vain = 0
	}
}

// poll looks for events again and again, for as long as the group says; 0 when none came. Threads that want this processor have it
// between two looks.
func (l *Loop) poll(list []unix.EpollEvent) (n int) {
	most := time.Duration(l.group.pollMost.Load())
	if most == 0 || !l.pays() {
		return 0
	}
	began, used := time.Now(), threadTime()
	took := time.Duration(0)
	for n == 0 && took < most {
		if n = l.nap(list, 0); n == 0 {
			_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		}
		took = time.Since(began)
	}
	l.found(n > 0)
	l.polled.Add(int64(took))
	l.used.Add(int64(min(max(0, threadTime()-used), took))) // the goroutine may be on another thread by now
	return n
}

// threadTime is the processor time of the calling thread.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
