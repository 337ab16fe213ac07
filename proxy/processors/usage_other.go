//go:build !linux

package processors

import (
	"syscall"
	"time"
)

// Time is the processor time that the process has used so far; 0 where the system does not tell.
func Time() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
