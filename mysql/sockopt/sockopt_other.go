//go:build !linux

package sockopt

import (
	"syscall"
	"time"
)

func userTimeout(syscall.RawConn, time.Duration) {}

func delivered(syscall.RawConn) (d Delivery, ok bool) { return d, false }

func sinceReceived(syscall.RawConn) (time.Duration, bool) { return 0, false }
