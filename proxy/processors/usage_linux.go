package processors

import (
	"time"

	"golang.org/x/sys/unix"
)

// Time is the processor time that the process has used so far; 0 where the system does not tell.
func Time() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
