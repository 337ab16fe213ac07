//go:build !linux

package sockopt

import (
	"syscall"
	"time"
)

func userTimeout(syscall.RawConn, time.Duration) {}

func sinceReceived(syscall.RawConn) (time.Duration, bool) { return 0, false }
