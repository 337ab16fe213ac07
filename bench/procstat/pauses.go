package procstat

import (
	"runtime"
	"sync"
	"time"
)

// pause is how long a program that wants a processor has to be without it for a pause: more than interrupts take.
const pause = time.Millisecond

// Pauses are the times at which processors did nothing for programs that wanted them. On a machine with nothing else to do they are the
// machine's own: a hypervisor gave the processor to others. Latencies of a high quantile are no smaller than they, whatever is measured.
type Pauses struct {
	Share   float64       // of the time, 0 to 1
	Longest time.Duration // 0: there was none of a millisecond
}

// WatchPauses keeps all processors busy for so long and looks for pauses of a millisecond or more.
func WatchPauses(d time.Duration) Pauses {
	found := make([]Pauses, runtime.GOMAXPROCS(0))
	var threads sync.WaitGroup
	for k := range found {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			found[k] = watch(d, time.Now)
		})
	}
	threads.Wait()
	var all Pauses
	for _, p := range found {
		all.Share += p.Share / float64(len(found))
		all.Longest = max(all.Longest, p.Longest)
	}
	return all
}

// watch looks at the clock again and again.
func watch(d time.Duration, now func() time.Time) Pauses {
	var p Pauses
	var sum time.Duration
	began := now()
	for last := began; ; {
		next := now()
		if gap := next.Sub(last); gap >= pause {
			sum += gap
			p.Longest = max(p.Longest, gap)
		}
		if last = next; last.Sub(began) >= d {
			p.Share = sum.Seconds() / last.Sub(began).Seconds()
			return p
		}
	}
}
