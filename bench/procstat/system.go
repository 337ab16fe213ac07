package procstat

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// System is the use of all processors together since the machine's start.
type System struct {
	Busy  time.Duration // user, system, interrupts; what was stolen is not in it
	Idle  time.Duration // idle and waiting for disks
	Steal time.Duration // taken away by the hypervisor
}

// Sub is the use since an earlier reading.
func (s System) Sub(earlier System) System {
	return System{Busy: s.Busy - earlier.Busy, Idle: s.Idle - earlier.Idle, Steal: s.Steal - earlier.Steal}
}

// All is the time of all processors together.
func (s System) All() time.Duration { return s.Busy + s.Idle + s.Steal }

// ReadSystem reads /proc/stat.
func ReadSystem() (System, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return System{}, err
	}
	return parseSystem(string(text))
}

// parseSystem reads the first line: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice.
func parseSystem(text string) (System, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return System{}, fmt.Errorf("unknown form of /proc/stat: %.80q", line)
	}
	var v [8]time.Duration
	for i := range v {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return System{}, fmt.Errorf("unknown form of /proc/stat: %.80q", line)
		}
		v[i] = time.Duration(n) * tick
	}
	return System{Busy: v[0] + v[1] + v[2] + v[5] + v[6], Idle: v[3] + v[4], Steal: v[7]}, nil
}

// ReadLoad reads the load average of the last minute: tasks that ran or wanted to.
func ReadLoad() (float64, error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0, fmt.Errorf("unknown form of /proc/loadavg: %.40q", text)
	}
	return load, nil
}
