package procstat

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock reads a process's CPU clock, which the C library names by clock_getcpuclockid.
func cpuClock(pid int) (time.Duration, error) {
	const schedClock = 2 // CPUCLOCK_SCHED of the kernel
	var ts unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|schedClock, &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}
