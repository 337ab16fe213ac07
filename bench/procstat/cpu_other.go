//go:build !linux

package procstat

import (
	"errors"
	"time"
)

func cpuClock(int) (time.Duration, error) { return 0, errors.ErrUnsupported }
