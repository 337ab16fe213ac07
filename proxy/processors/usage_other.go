//go:build !linux

package processors

import (
	"syscall"
	"time"
)

// processorTime is what the process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// waitingTime is not known here.
func waitingTime() time.Duration { return 0 }

// idleTime is not known here.
func idleTime() time.Duration { return 0 }
