package procstat

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that a process has used since its start, its ended threads included.
type CPU struct {
	User, System time.Duration
}

// Total is user and system together.
func (c CPU) Total() time.Duration { return c.User + c.System }

// Sub is the time used since an earlier reading.
func (c CPU) Sub(earlier CPU) CPU {
	return CPU{User: c.User - earlier.User, System: c.System - earlier.System}
}

// Add is the time of two processes together.
func (c CPU) Add(other CPU) CPU {
	return CPU{User: c.User + other.User, System: c.System + other.System}
}

// tick is the unit of /proc/PID/stat: USER_HZ is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// ReadCPU reads a process's CPU time. The total is the scheduler's, exact to the nanosecond; /proc/PID/stat, which has
// hundredths of a second, only says how it divides into user and system.
func ReadCPU(pid int) (CPU, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return CPU{}, err
	}
	divided, err := parseStat(string(text))
	if err != nil {
		return CPU{}, err
	}
	total, err := cpuClock(pid)
	if err != nil {
		return CPU{}, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	return scale(divided, total), nil
}

// scale divides a total in the proportion of c.
func scale(c CPU, total time.Duration) CPU {
	if c.Total() == 0 {
		return CPU{User: total}
	}
	user := time.Duration(float64(total) * (float64(c.User) / float64(c.Total())))
	return CPU{User: user, System: total - user}
}

// parseStat reads utime and stime of /proc/PID/stat. The name of the command, in parentheses, may hold anything.
func parseStat(text string) (CPU, error) {
	_, rest, ok := cutLast(text, ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return CPU{}, fmt.Errorf("unknown form of /proc/PID/stat: %.80q", text)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	if err1 != nil || err2 != nil {
		return CPU{}, fmt.Errorf("unknown form of /proc/PID/stat: %.80q", text)
	}
	return CPU{User: time.Duration(user) * tick, System: time.Duration(system) * tick}, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
