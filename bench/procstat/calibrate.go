package procstat

import (
	"os"
	"runtime"
	"time"
)

// Calibration is what a fixed piece of work took.
type Calibration struct {
	CPU  time.Duration // grows when the processor is slower, or its caches are shared
	Wall time.Duration // beyond CPU: the time that others had the processor
}

// calibrationSteps take about 10 ms of a processor of these years.
const calibrationSteps = 4 << 20

// Calibrate runs the fixed work on one thread. Two runs may be compared when their calibrations agree.
func Calibrate() (Calibration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, err := ReadCPU(os.Getpid())
	if err != nil {
		return Calibration{}, err
	}
	began := time.Now()
	x := uint64(88172645463325252)
	for range calibrationSteps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	wall := time.Since(began)
	end, err := ReadCPU(os.Getpid())
	runtime.KeepAlive(x)
	if err != nil {
		return Calibration{}, err
	}
	return Calibration{CPU: end.Total() - start.Total(), Wall: wall}, nil
}
